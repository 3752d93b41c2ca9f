package seqs

import (
	"encoding/binary"
	"math/bits"
	"sync"

	"orcomgo/bins/record"

	"orcomgo/compress/overlap"
)

// The streams of a slice, in the order in which they stand.
const (
	streamExceptions = iota
	streamPlaces
	streamMismatches
	streamLiterals
	streams
)

// slice codes the reads of one slice against the pseudogenome.
type slice struct {
	layout *overlap.Layout // encoding
	// stretch appends n bases of the pseudogenome, one a byte, from pos on.
	stretch func(dst []byte, pos, n int) []byte
	// model waits for the model that has seen the pseudogenome's first segment; it is cloned, never changed.
	model  func() (*model, error)
	sorted bool
	limit  uint64 // bases of the pseudogenome
	aside  func(wait func())
}

// letters are the bases by number.
const letters = "ACGT"

// toLetters replaces bases, which are below 4, by their letters.
func toLetters(b []byte) {
	const each = 0x0101010101010101
	for ; len(b) >= 8; b = b[8:] {
		x := binary.LittleEndian.Uint64(b)
		lo, hi := x&each, x>>1&each
		binary.LittleEndian.PutUint64(b, 'A'*each+lo*('C'-'A')+hi*('G'-'A')+lo&hi*('T'-'C'-'G'+'A'))
	}
	for i, v := range b {
		b[i] = letters[v&3]
	}
}

// applyException writes one exception over a read's letters.
func applyException(read []byte, x record.Exception) {
	run := read[x.Start : x.Start+x.Len]
	for i := range run {
		if x.Byte == record.Lower {
			run[i] |= 0x20
		} else {
			run[i] = x.Byte
		}
	}
}

// oddRuns walks the exceptions of a column's reads in step with the reads.
type oddRuns struct {
	list []record.Exception
	skip []bool
}

// of returns which bases of read i (n bases) have no value of their own, nil if all have one. Reads are asked for in order.
func (o *oddRuns) of(i, n int) []bool {
	for len(o.list) > 0 && int(o.list[0].Read) < i {
		o.list = o.list[1:]
	}
	odd := false
	for _, x := range o.list {
		if int(x.Read) != i {
			break
		}
		if x.Byte == record.Lower {
			continue
		}
		if !odd {
			odd = true
			if cap(o.skip) < n {
				o.skip = make([]bool, n)
			}
			o.skip = o.skip[:n]
			clear(o.skip)
		}
		for j := x.Start; j < x.Start+x.Len; j++ {
			o.skip[j] = true
		}
	}
	if !odd {
		return nil
	}
	return o.skip
}

// reverse turns bases into their reverse complement, in place.
func reverse(b []byte) {
	const three = 0x0303030303030303
	for len(b) >= 16 {
		tail := b[len(b)-8:]
		x, y := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(tail)
		binary.LittleEndian.PutUint64(b, bits.ReverseBytes64(y)^three)
		binary.LittleEndian.PutUint64(tail, bits.ReverseBytes64(x)^three)
		b = b[8 : len(b)-8]
	}
	for i, j := 0, len(b)-1; i <= j; i, j = i+1, j-1 {
		b[i], b[j] = 3-b[j], 3-b[i]
	}
}

// reference writes the n bases of the pseudogenome below a read, in the read's orientation, to dst.
func (s *slice) reference(dst []byte, pos uint32, rev bool, n int) []byte {
	dst = s.stretch(dst[:0], int(pos), n)
	if rev {
		reverse(dst)
	}
	return dst
}

// walk calls f for each read of the columns that has a place, or for each that has none, with its
// qualities (nil if there are none) and, as oddRuns.of has them, the bases without a value of their own.
func walk(cols []*Column, where []*places, odd [][]record.Exception, placed bool, f func(k, i int, quals []byte, skip []bool)) {
	runs := make([]oddRuns, len(cols))
	at := make([]int, len(cols))
	for k := range cols {
		runs[k].list = odd[k]
	}
	for i := 0; i < cols[0].Records; i++ {
		for k, col := range cols {
			n := col.Lengths.Of(i)
			q := col.Quals
			if q != nil {
				q = q[at[k] : at[k]+n]
				at[k] += n
			}
			if (where[k].pos[i] != unplaced) == placed {
				f(k, i, q, runs[k].of(i, n))
			}
		}
	}
}

// passMismatches codes the placed reads of the columns. get returns read i of column k to code
// from or to decode into.
func (s *slice) passMismatches(c *coder, cols []*Column, where []*places, odd [][]record.Exception, get func(k, i int) []byte) {
	models := make([]*mismatches, len(cols))
	for k := range cols {
		models[k] = newMismatches(cols[0].Quals != nil, s.limit)
	}
	var ref []byte
	walk(cols, where, odd, true, func(k, i int, quals []byte, skip []bool) {
		w := stand{uint64(where[k].pos[i]), where[k].rev[i], cols[k].Lengths.Of(i)}
		ref = s.reference(ref, where[k].pos[i], w.rev, w.n)
		models[k].code(c, w, ref, get(k, i), skip, quals)
	})
}

// passLiterals codes the reads that have no place.
func (s *slice) passLiterals(c *coder, cols []*Column, where []*places, odd [][]record.Exception, get func(k, i int) []byte) error {
	bases := unplacedBases(cols, where)
	if bases == 0 {
		return nil
	}
	m, err := s.model()
	if err != nil {
		return err
	}
	b := &baseCoder{c: c, m: m.clone(bases)}
	walk(cols, where, odd, false, func(k, i int, quals []byte, skip []bool) {
		read := get(k, i)[:cols[k].Lengths.Of(i)]
		for j, v := range read {
			if skip != nil && skip[j] {
				continue
			}
			if quals != nil {
				b.m.trust = trustOf(quals[j])
			}
			read[j] = b.base(v)
		}
	})
	return nil
}

// passReads codes the reads without a place beside the others. get is called once for each, and returns what they take.
func (s *slice) passReads(mismatches, literals *coder, cols []*Column, where []*places, odd [][]record.Exception, get func() func(k, i int) []byte) (err error) {
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		err = s.passLiterals(literals, cols, where, odd, get())
	}()
	s.passMismatches(mismatches, cols, where, odd, get())
	if unplacedBases(cols, where) > 0 {
		s.aside(func() { s.model() }) // as literals do
	}
	wg.Wait()
	return err
}

// unplacedBases returns how many bases the reads hold that have no place.
func unplacedBases(cols []*Column, where []*places) int {
	sum := 0
	for k, col := range cols {
		for i, p := range where[k].pos {
			if p == unplaced {
				sum += col.Lengths.Of(i)
			}
		}
	}
	return sum
}

// encode returns the streams of a slice; records gives each column's records inside the part.
func (s *slice) encode(tree *positions, cols []*Column, records [][]uint32) [streams][]byte {
	var out [streams][]byte
	where := make([]*places, len(cols))
	odd := make([][]record.Exception, len(cols))
	x := encodeTo(nil)
	for k, col := range cols {
		newExceptionCoder().code(x, col)
		odd[k] = col.Exceptions
		p := &places{make([]uint32, col.Records), make([]bool, col.Records)}
		for i, rec := range records[k] {
			p.pos[i], p.rev[i] = s.layout.Place(rec)
		}
		where[k] = p
	}
	out[streamExceptions] = x.e.Finish()
	c := encodeTo(nil)
	var mate *places
	if len(cols) > 1 {
		mate = where[1]
	}
	newPlaceModel(tree, s.sorted).code(c, where[0], mate, cols[0].Records, s.limit)
	out[streamPlaces] = c.e.Finish()

	reader := func() func(k, i int) []byte {
		var buf []byte
		lastK, lastI := -1, -1
		return func(k, i int) []byte {
			if k != lastK || i != lastI {
				buf = s.layout.Bases(buf[:0], records[k][i])
				lastK, lastI = k, i
			}
			return buf
		}
	}
	m, l := encodeTo(nil), encodeTo(nil)
	s.passReads(m, l, cols, where, odd, reader) // the model comes: no error
	out[streamMismatches], out[streamLiterals] = m.e.Finish(), l.e.Finish()
	return out
}

// decode returns the letters of each column's reads, end to end. ready
// waits for the first n bases of the pseudogenome.
func (s *slice) decode(tree *positions, cols []*Column, in [streams][]byte, ready func(n int) error) ([][]byte, error) {
	where := make([]*places, len(cols))
	odd := make([][]record.Exception, len(cols))
	seqs := make([][]byte, len(cols))
	starts := make([][]uint64, len(cols))
	x := decodeFrom(in[streamExceptions])
	for k, col := range cols {
		list, ok := newExceptionCoder().code(x, col)
		if !ok {
			return nil, ErrCorrupt
		}
		odd[k] = list
		where[k] = &places{make([]uint32, col.Records), make([]bool, col.Records)}
		seqs[k] = make([]byte, col.bases())
		if col.Lengths.Each != nil {
			starts[k] = make([]uint64, col.Records)
			at := uint64(0)
			for i, l := range col.Lengths.Each {
				starts[k][i] = at
				at += uint64(l)
			}
		}
	}
	var mate *places
	if len(cols) > 1 {
		mate = where[1]
	}
	if !newPlaceModel(tree, s.sorted).code(decodeFrom(in[streamPlaces]), where[0], mate, cols[0].Records, s.limit) {
		return nil, ErrCorrupt
	}
	last := uint64(0)
	for k, col := range cols {
		for i, p := range where[k].pos {
			if p != unplaced {
				last = max(last, uint64(p)+uint64(col.Lengths.Of(i)))
			}
		}
	}
	if last > s.limit {
		return nil, ErrCorrupt
	}
	var err error
	if s.aside(func() { err = ready(int(last)) }); err != nil {
		return nil, err
	}
	get := func(k, i int) []byte {
		if starts[k] == nil {
			n := uint64(cols[k].Lengths.Fixed)
			return seqs[k][uint64(i)*n : (uint64(i)+1)*n]
		}
		return seqs[k][starts[k][i]:][:cols[k].Lengths.Each[i]]
	}
	err = s.passReads(decodeFrom(in[streamMismatches]), decodeFrom(in[streamLiterals]), cols, where, odd, func() func(k, i int) []byte { return get })
	if err != nil {
		return nil, err
	}
	for k := range cols {
		toLetters(seqs[k])
		for _, x := range odd[k] {
			applyException(get(k, int(x.Read)), x)
		}
	}
	return seqs, nil
}
