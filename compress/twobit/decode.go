package twobit

import (
	"fmt"

	"orcomgo/bases"
	"orcomgo/bins/entropy"
	"orcomgo/bins/parse"
	"orcomgo/bins/record"
	"orcomgo/internal/largepages"
)

// Decode is the inverse of Encode, given how many letters there are, which the caller has compared with the length of data: about a quarter
// as much memory is taken, of memory if that has it, else new. The error wraps ErrCorrupt.
func Decode(memory, data []byte, n int) (*Sequence, error) {
	c := parse.Cursor{Rest: data}
	literals := c.AtMost(uint64(n))
	var in [streams]parse.Cursor
	var sizes [streams]struct{ symbols, stored uint64 }
	for i := range sizes {
		sizes[i].symbols, sizes[i].stored = c.AtMost(1<<30-1), c.AtMost(uint64(len(data)))
	}
	var d entropy.Decoder
	for i, size := range sizes {
		stored := c.Bytes(size.stored)
		if c.Failed() {
			break
		}
		symbols, err := stream(&d, stored, size.symbols)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		in[i].Rest = symbols
	}
	packed := c.Bytes((literals + 3) / 4)
	if !c.Done() {
		return nil, fmt.Errorf("%w: %s", ErrCorrupt, "its streams have other lengths")
	}
	size := bases.PackedLen(n) + bases.Pad
	if cap(memory) < size {
		memory = largepages.Make[byte](size)
	}
	s := &Sequence{packed: memory[:size], n: n}
	if !s.copies(in[:streamGaps], packed, int(literals)) || !s.lists(in[streamGaps:]) {
		return nil, ErrCorrupt
	}
	return s, nil
}

// stream decodes a coded stream.
func stream(d *entropy.Decoder, stored []byte, symbols uint64) ([]byte, error) {
	if symbols == 0 && len(stored) == 0 {
		return nil, nil
	}
	// No other kind than Same has less than a bit a symbol.
	same := len(stored) > 0 && stored[0] == byte(entropy.Same)
	if same && symbols > mostSame || !same && symbols > 8*uint64(len(stored)) {
		return nil, ErrCorrupt
	}
	dst := make([]byte, symbols)
	return dst, d.Stream(dst, stored)
}

// copies fills in the bases. literals has so many.
func (s *Sequence) copies(in []parse.Cursor, literals []byte, left int) bool {
	var padded []byte // the last of the literals and more bytes, as words are read across their end
	at, from, to := 0, 0, len(in[streamKinds].Rest)
	literal := func(n int) bool {
		if n > left || n > s.n-at {
			return false
		}
		// Near the end of the literals there is a copy of them with more bytes.
		for n > 0 {
			if padded == nil {
				safe := 4*(len(literals)-bases.Pad) - from // bases that can be copied without reading beyond the end
				if m := min(n, safe); m > 0 {
					copyForward(s.packed, at, literals, from, m)
					at, from, n, left = at+m, from+m, n-m, left-m
					continue
				}
				begin := from / 4
				padded = append(append(make([]byte, 0, len(literals)-begin+2*bases.Pad), literals[begin:]...), make([]byte, 2*bases.Pad)...)
				from -= 4 * begin
			}
			copyForward(s.packed, at, padded, from, n)
			at, from, n, left = at+n, from+n, 0, left-n
		}
		return true
	}
	for range to {
		kind := in[streamKinds].ByteAtMost(kinds - 1)
		before := int(in[streamLiterals].AtMost(uint64(s.n)))
		n := int(in[streamLengths].AtMost(uint64(s.n))) + leastLength
		if !literal(before) || n > s.n-at {
			return false
		}
		switch kind {
		case kindFill:
			for to := at; to < at+n; to += bases.PerWord {
				put(s.packed, to, 0) // up to 31 bases after them get any value
			}
		case kindForward:
			x := at - leastDistance - int(in[streamShifts].AtMost(uint64(s.n)))
			if x < 0 {
				return false
			}
			copyForward(s.packed, at, s.packed, x, n)
		case kindReverse:
			x := at - int(in[streamShifts].AtMost(uint64(s.n)))
			if x < n {
				return false
			}
			copyReverse(s.packed, at, x, n)
		}
		at += n
	}
	for i := range in {
		if !in[i].Done() {
			return false
		}
	}
	return left == s.n-at && literal(left) && at == s.n
}

// lists fills in the runs.
func (s *Sequence) lists(in []parse.Cursor) bool {
	gaps, lengths, letters := &in[0], &in[1], &in[2]
	s.runs = make([]run, 0, len(letters.Rest))
	end := 0
	for range cap(s.runs) {
		start := end + int(gaps.AtMost(uint64(s.n-end)))
		if start >= s.n {
			return false
		}
		end = start + 1 + int(lengths.AtMost(uint64(s.n-start-1)))
		r := run{start, end, letters.Byte()}
		if !record.ExceptionByte(r.letter) {
			return false
		}
		s.runs = append(s.runs, r)
	}
	return gaps.Done() && lengths.Done() && letters.Done()
}
