package deflate

import "encoding/binary"

// Peek returns the bits from one on, 56 of them at least; zeros behind the end.
func Peek(in []byte, bit int) uint64 {
	i := bit >> 3
	if i+8 <= len(in) {
		return Load64(in, i) >> (bit & 7)
	}
	var b [8]byte
	if i < len(in) {
		copy(b[:], in[i:])
	}
	return binary.LittleEndian.Uint64(b[:]) >> (bit & 7)
}

// Bits reads from memory, the lowest bits of a byte first. Nothing is used up if it is not all there.
type Bits struct {
	In    []byte
	Bit   int  // where in In the next one is
	Short bool // more than there are were asked for
}

// Need reports whether n more bits are there.
func (r *Bits) Need(n int) bool {
	r.Short = r.Short || r.Bit+n > len(r.In)*8
	return !r.Short
}

// Take returns the next n bits, up to 56; 0 if they are not all there.
func (r *Bits) Take(n int) int {
	if !r.Need(n) {
		return 0
	}
	v := Peek(r.In, r.Bit) & (1<<n - 1)
	r.Bit += n
	return int(v)
}

// CodeLengths are the lengths of a dynamic block's codes: of literals, then of distances.
type CodeLengths [Literals + Dists]uint8

// CodeLengths reads the lengths of a dynamic block's codes, and how many of literals and of
// distances there are. It returns false if they are not all there or not allowed.
func (r *Bits) CodeLengths(lengths *CodeLengths) (lits, dists int, ok bool) {
	if !r.Need(14) {
		return 0, 0, false
	}
	lits = r.Take(5) + 257
	dists = r.Take(5) + 1
	coded := r.Take(4) + 4
	if lits > Literals || dists > Dists {
		return 0, 0, false
	}
	for i := range coded {
		lengths[LengthOrder[i]] = uint8(r.Take(3))
	}
	if r.Short {
		return 0, 0, false
	}
	var c Code
	if !c.InitBlock(lengths[:19]) {
		return 0, 0, false
	}
	var table [1 << 7]uint16
	c.Fill(table[:])
	clear(lengths[:19])
	for i, n := 0, lits+dists; i < n; {
		e := table[Peek(r.In, r.Bit)&127]
		k := int(e & 15)
		if !r.Need(max(k, c.Min)) || k == 0 {
			return 0, 0, false
		}
		r.Bit += k
		value, again := uint8(e>>4), 1
		if value >= 16 {
			run := Runs[value-16]
			again = run.Least + r.Take(run.Bits)
			if value > 16 {
				value = 0
			} else if i == 0 {
				return 0, 0, false
			} else {
				value = lengths[i-1]
			}
		}
		if r.Short || i+again > n {
			return 0, 0, false
		}
		for range again {
			lengths[i] = value
			i++
		}
	}
	return lits, dists, true
}
