//go:build cuda

package cudakern

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"sort"

	"orcomgo/internal/codectest"
)

// reference bins a text of plain four-line records as the kernels should, step by step.
func reference(text []byte) *Result {
	r := &Result{NoNewline: len(text) > 0 && text[len(text)-1] != '\n', TextSums: textSums(text)}
	type read struct {
		seq       []byte
		sig, pos  uint32
		reverse   bool
		at, bases uint32
	}
	var reads []read
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	if len(text) == 0 {
		lines = nil
	}
	var codes []byte
	r.MinLen = 1<<32 - 1
	for i := 0; i+4 <= len(lines); i += 4 {
		var code byte
		var l [4][]byte
		for k := range l {
			l[k] = lines[i+k]
			if bytes.HasSuffix(l[k], []byte("\r")) {
				l[k] = l[k][:len(l[k])-1]
				code |= 1 << k
			}
		}
		if len(l[2]) > 1 {
			code |= codeName
		}
		codes = append(codes, code)
		r.Names = append(append(r.Names, l[0][1:]...), '\n')
		r.Quals = append(r.Quals, l[3]...)
		n := uint32(len(l[1]))
		r.Lengths = append(r.Lengths, n)
		r.MinLen, r.MaxLen = min(r.MinLen, n), max(r.MaxLen, n)
		r.Bases += uint64(n)
		sig, pos, reverse := codectest.Signature(l[1])
		reads = append(reads, read{l[1], sig, pos, reverse, uint32(len(reads)), n})
		for j := 0; j < len(l[1]); {
			c := class(l[1][j])
			k := j + 1
			for k < len(l[1]) && class(l[1][k]) == c {
				k++
			}
			if c != 1 {
				r.Exceptions = append(r.Exceptions, Exception{uint32(len(reads) - 1), uint32(j), uint32(k - j), uint32(c)})
			}
			j = k
		}
	}
	r.Records = len(reads)
	if r.MinLen >= r.MaxLen {
		r.Lengths = nil
	}
	if len(codes) > 0 {
		for _, c := range codes {
			r.Code |= c
		}
		if slices.ContainsFunc(codes, func(c byte) bool { return c != codes[0] }) {
			r.Codes = codes
		}
	}
	sort.SliceStable(reads, func(i, j int) bool { return reads[i].sig < reads[j].sig })
	bases := uint32(0)
	for i, x := range reads {
		if i == 0 || x.sig != reads[i-1].sig {
			r.Bins = append(r.Bins, BinStart{x.sig, uint32(i), bases})
		}
		bases += x.bases
		r.Order = append(r.Order, x.at)
		place := x.pos << 1
		if x.reverse {
			place |= 1
		}
		r.Place = append(r.Place, place)
		packed := make([]byte, (len(x.seq)+3)/4)
		for j := range x.seq {
			c := x.seq[j]
			if x.reverse {
				c = x.seq[len(x.seq)-1-j]
			}
			v := bytes.IndexByte([]byte("ACGT"), c&^0x20)
			if v >= 0 && x.reverse {
				v = 3 - v
			}
			packed[j/4] |= byte(max(v, 0)) << (2 * (j % 4))
		}
		r.Packed = append(r.Packed, packed...)
	}
	return r
}

// class is 1 for a plain base, 0 for a lower-case base, or else the byte.
func class(c byte) byte {
	switch c {
	case 'A', 'C', 'G', 'T':
		return 1
	case 'a', 'c', 'g', 't':
		return 0
	}
	return c
}

// shape says what text to make.
type shape struct {
	records          int
	shortest, longer int // bases: shortest + 0..longer
	cr, crSome       bool
	plusName         int // out of 100 records
	nonACGT          int // letters out of 1000 that are N, lower case or IUPAC
	repeats          bool
	noNewline        bool
	emptyNames       bool
}

// fastq makes text of that shape.
func fastq(s shape, rng *rand.Rand) []byte {
	var b []byte
	for i := range s.records {
		name := []byte("run.1:")
		for range rng.IntN(40) {
			name = append(name, " !/:09AZaz~\t\r\x80\xff"[rng.IntN(15)])
		}
		name = bytes.TrimRight(name, "\r") // else it would be a line end's
		if s.emptyNames {
			name = nil
		}
		n := s.shortest + rng.IntN(s.longer+1)
		seq := make([]byte, n)
		qual := make([]byte, n)
		for j := range seq {
			seq[j] = "ACGT"[rng.IntN(4)]
			if s.repeats && j > 0 && rng.IntN(3) > 0 {
				seq[j] = seq[j-1]
			}
			if rng.IntN(1000) < s.nonACGT {
				seq[j] = "NNNnacgtRYkmT.-*"[rng.IntN(16)]
				for k := j; k > 0 && k > j-rng.IntN(6); k-- {
					seq[k-1] = seq[j]
				}
			}
			qual[j] = byte('!' + rng.IntN(94))
		}
		eol := func(k int) {
			if s.cr && (!s.crSome || rng.IntN(3) == 0) {
				b = append(b, '\r')
			}
			if k < 3 || i+1 < s.records || !s.noNewline {
				b = append(b, '\n')
			}
		}
		b = append(append(b, '@'), name...)
		eol(0)
		b = append(b, seq...)
		eol(1)
		b = append(b, '+')
		if rng.IntN(100) < s.plusName {
			b = append(b, name...)
		}
		eol(2)
		b = append(b, qual...)
		eol(3)
	}
	return b
}
