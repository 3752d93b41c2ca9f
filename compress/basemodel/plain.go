package basemodel

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// A chunk may be stored plainly, two bits a base: then its bases are entered in the histories, where they can be matched, but no model
// predicts or learns them. Where the model saves nothing, as on random bases, this is several times as fast.
const (
	// plainWindow is over how many chunks that were coded under the model it is judged.
	plainWindow = 16
	// A model that saves less than 1/plainGain of two bits a base does not pay.
	plainGain = 512
	// After plainRun chunks that were stored plainly one is coded under the model, to judge it anew.
	plainRun = 15
	// A chunk in which a k-mer recurs with at most plainMisses differences in 32 bases is not stored plainly. On random bases that
	// happens in one chunk of 500.
	plainMisses = 4
)

// plainFlag marks the number of bases of a section that has chunks stored plainly.
const plainFlag = 1 << 33

// plainChoice chooses which chunks of a coder are stored plainly.
type plainChoice struct {
	bases, bytes [plainWindow]int // of the last chunks that were coded under the model
	coded        int              // how many chunks were
	run          int              // how many chunks were stored plainly since
}

// next reports whether the next chunk is stored plainly: the bases from the model's place on.
func (p *plainChoice) next(m *Model, bases []byte) bool {
	if p.coded < plainWindow || p.run == plainRun {
		p.run = 0
		return false
	}
	n, size := 0, 0
	for i := range p.bases {
		n, size = n+p.bases[i], size+p.bytes[i]
	}
	if size*4*plainGain < n*(plainGain-1) || m.recurs(bases) {
		return false
	}
	p.run++
	return true
}

// note notes that a chunk took so many bytes under the model.
func (p *plainChoice) note(bases, bytes int) {
	i := p.coded % plainWindow
	p.bases[i], p.bytes[i] = bases, bytes
	p.coded++
}

// recurs reports whether a k-mer of the bases, which would be coded next, has been entered before and the 32 bases that end with it are
// about the same there. Two neighbouring k-mers of eight are looked up, since every second one is entered.
func (m *Model) recurs(bases []byte) bool {
	const batch = 64
	var slots [batch]candidate
	var at [batch]int
	var h, r [batch]uint64
	var f, g uint64
	k := 0
	for i, b := range bases {
		f = f<<2 | uint64(b)
		g = g>>2 | uint64(3-b)<<(2*(registerBases-1))
		if i >= registerBases-1 && i&7 < 2 {
			c := m.match.candidate(f, g)
			c.old = m.match.slots[c.slot] // this and what follows take long, but the reads of a batch are made side by side
			slots[k], at[k], h[k], r[k] = c, i, f, g
			k++
		}
		if k < batch && i < len(bases)-1 {
			continue
		}
		for j, c := range slots[:k] {
			if c.old != 0 && m.hist.differences(int(c.old>>1), c.old&1 != c.reverse, h[j], r[j], m.at) <= plainMisses {
				return true
			}
		}
		k = 0
	}
	return false
}

// differences returns how many of the last 32 bases, h, whose reverse complement is r, differ from those that end with a k-mer at place
// old of a history of t bases, on the other strand if reverse is set. It returns 32 where not all are there.
func (x *history) differences(old int, reverse bool, h, r uint64, t int) int {
	var d uint64
	if reverse {
		q := old - matchLen + 1
		if q < 0 || q+registerBases > t {
			return registerBases
		}
		d = bits.Reverse64(x.from(q) ^ ^h)
	} else {
		if old < registerBases-1 {
			return registerBases
		}
		d = x.from(old-registerBases+1) ^ ^r
	}
	return bits.OnesCount64((d | d>>1) & everyBase)
}

// enter enters bases that are stored plainly at the model's place.
func (m *Model) enter(bases []byte) {
	m.appendPeer(m.at, bases)
	m.moveTo(m.at, true)
}

// appendPlain appends bases, one a byte, to packed ones that end with a byte. The last byte is filled with zeros.
func appendPlain(packed, bases []byte) []byte {
	at := len(packed)
	packed = append(packed, make([]byte, (len(bases)+3)/4)...)
	pack(packed[at:], bases)
	return packed
}

// unpackPlain sets bases to those that appendPlain packed, and returns how many bytes they took.
func unpackPlain(bases, packed []byte) int {
	i := 0
	for ; i+4 <= len(bases); i += 4 {
		binary.LittleEndian.PutUint32(bases[i:], fourBases[packed[i>>2]])
	}
	for ; i < len(bases); i++ {
		bases[i] = packed[i>>2] >> (2 * (i & 3)) & 3
	}
	return (len(bases) + 3) / 4
}

// appendRuns appends which chunks are stored plainly: the lengths of runs of equal elements, the first of false ones.
func appendRuns(dst []byte, plain []bool) []byte {
	for value := false; len(plain) > 0; value = !value {
		n := 0
		for n < len(plain) && plain[n] == value {
			n++
		}
		dst = binary.AppendUvarint(dst, uint64(n))
		plain = plain[n:]
	}
	return dst
}

// parseRuns takes n elements off data that appendRuns appended.
func parseRuns(data []byte, n int) (plain []bool, rest []byte, err error) {
	plain = make([]bool, n)
	at := 0
	for value, first := false, true; at < n; value, first = !value, false {
		run, k := binary.Uvarint(data)
		if k <= 0 || run > uint64(n-at) || run == 0 && !first {
			return nil, nil, fmt.Errorf("%w: no plausible list of the chunks stored plainly", ErrCorrupt)
		}
		for range run {
			plain[at] = value
			at++
		}
		data = data[k:]
	}
	return plain, data, nil
}
