package seqs

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync"

	"orcomgo/bins/record"
	"orcomgo/compress/basemodel"
	"orcomgo/compress/overlap"
	rc "orcomgo/compress/rangecoder"
)

// The streams of a slice, in their order.
const (
	streamExceptions = iota
	streamPlaces
	streamMismatches
	streamLiterals
	streams
)

// slice codes the reads of one slice against the pseudogenome.
type slice struct {
	layout *overlap.Layout  // encoding
	genome basemodel.Source // the bases of the pseudogenome
	// model waits for the model of the pseudogenome's first segment; it is cloned and not changed.
	model        func() (*basemodel.Model, error)
	sorted       bool
	limit        uint64 // bases of the pseudogenome
	releaseWhile func(wait func())
}

// letters are the bases by their codes.
const letters = "ACGT"

// toLetters replaces the codes of bases, which are below 4, by their letters.
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

// nonACGT finds the bases of reads that are not A, C, G or T in either case, from the exceptions of a column. They have
// no code of their own.
type nonACGT struct {
	rest record.ExceptionCursor
	next record.Exception
	left bool // there is a next one
	skip []bool
}

// nonACGTOf returns those of a list.
func nonACGTOf(list *record.ExceptionList) (o nonACGT) {
	o.rest = list.From(0)
	o.next, o.left = o.rest.Next()
	return o
}

// of returns which of the n bases of read i are not A, C, G or T; nil if all are. i must be greater than in the call before.
func (o *nonACGT) of(i, n int) []bool {
	for o.left && int(o.next.Read) < i {
		o.next, o.left = o.rest.Next()
	}
	found := false
	for ; o.left && int(o.next.Read) == i; o.next, o.left = o.rest.Next() {
		x := o.next
		if x.Byte == record.Lower {
			continue
		}
		if !found {
			found = true
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
	if !found {
		return nil
	}
	return o.skip
}

// reverseComplement replaces bases by their reverse complement.
func reverseComplement(b []byte) {
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

// reference returns the n bases of the pseudogenome that a read is aligned to, in the read's orientation, in the memory of dst.
func (s *slice) reference(dst []byte, pos uint32, rev bool, n int) []byte {
	dst = s.genome(dst[:0], int(pos), n)
	if rev {
		reverseComplement(dst)
	}
	return dst
}

// columnReads are the reads of a slice's columns.
type columnReads struct {
	cols       []*Column
	where      []*places
	exceptions []*record.ExceptionList
}

// forEach calls f for each read i of column k that has a place, or for each that has none, with its
// qualities (nil if there are none) and the bases that are not A, C, G or T (nil if all are).
func (r *columnReads) forEach(placed bool, f func(k, i int, quals []byte, skip []bool)) {
	cols := r.cols
	nonACGT := make([]nonACGT, len(cols))
	at := make([]int, len(cols))
	for k := range cols {
		nonACGT[k] = nonACGTOf(r.exceptions[k])
	}
	for i := 0; i < cols[0].Records; i++ {
		for k, col := range cols {
			n := col.Lengths.Of(i)
			q := col.Quals
			if q != nil {
				q = q[at[k] : at[k]+n]
				at[k] += n
			}
			if (r.where[k].pos[i] != unplaced) == placed {
				f(k, i, q, nonACGT[k].of(i, n))
			}
		}
	}
}

// unplacedBases returns how many bases the reads without a place have.
func (r *columnReads) unplacedBases() int {
	sum := 0
	for k, col := range r.cols {
		for i, p := range r.where[k].pos {
			if p == unplaced {
				sum += col.Lengths.Of(i)
			}
		}
	}
	return sum
}

// readBuffer returns where read i of column k is encoded from or decoded to, one base a byte.
type readBuffer func(k, i int) []byte

// codeMismatches codes the reads that have a place.
func (s *slice) codeMismatches(c *rc.Coder, r *columnReads, read readBuffer) {
	models := make([]*mismatches, len(r.cols))
	for k := range r.cols {
		models[k] = newMismatches(r.cols[0].Quals != nil, s.limit)
	}
	var ref []byte
	r.forEach(true, func(k, i int, quals []byte, skip []bool) {
		w := alignment{uint64(r.where[k].pos[i]), r.where[k].rev[i], r.cols[k].Lengths.Of(i)}
		ref = s.reference(ref, r.where[k].pos[i], w.rev, w.n)
		models[k].code(c, w, ref, read(k, i), skip, quals)
	})
}

// codeLiterals codes the reads that have no place.
func (s *slice) codeLiterals(c *rc.Coder, r *columnReads, read readBuffer) error {
	bases := r.unplacedBases()
	if bases == 0 {
		return nil
	}
	m, err := s.model()
	if err != nil {
		return err
	}
	m = m.Clone(bases)
	r.forEach(false, func(k, i int, quals []byte, skip []bool) {
		b := read(k, i)[:r.cols[k].Lengths.Of(i)]
		for j, v := range b {
			if skip != nil && skip[j] {
				continue
			}
			if quals != nil {
				m.SetQuality(quals[j])
			}
			b[j] = m.Code(c, v)
		}
	})
	return nil
}

// codeReads codes the reads without a place side by side with the others. newBuffer is called once for each kind.
func (s *slice) codeReads(mismatches, literals *rc.Coder, r *columnReads, newBuffer func() readBuffer) (err error) {
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		err = s.codeLiterals(literals, r, newBuffer())
	}()
	s.codeMismatches(mismatches, r, newBuffer())
	if r.unplacedBases() > 0 {
		s.releaseWhile(func() { s.model() }) // for which codeLiterals waits
	}
	wg.Wait()
	return err
}

// newPlaces returns places of n reads, to be set.
func newPlaces(n int) *places { return &places{make([]uint32, n), make([]bool, n)} }

// mates returns the places of the second column, nil if there is one column.
func (r *columnReads) mates() *places {
	if len(r.cols) < 2 {
		return nil
	}
	return r.where[1]
}

// encode returns the streams of a slice; records gives each column's records inside the part.
func (s *slice) encode(tree *positions, cols []*Column, records [][]uint32) [streams][]byte {
	var out [streams][]byte
	r := &columnReads{cols: cols}
	x := encodeTo(nil)
	for k, col := range cols {
		newExceptionCoder().code(x, col)
		r.exceptions = append(r.exceptions, &col.Exceptions)
		p := newPlaces(col.Records)
		for i, rec := range records[k] {
			p.pos[i], p.rev[i] = s.layout.Place(rec)
		}
		r.where = append(r.where, p)
	}
	out[streamExceptions] = x.Enc.Finish()
	c := encodeTo(nil)
	newPlaceModel(tree, s.sorted).code(c, r.where[0], r.mates(), cols[0].Records, s.limit)
	out[streamPlaces] = c.Enc.Finish()

	newBuffer := func() readBuffer {
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
	s.codeReads(m, l, r, newBuffer) // no error: the encoder's model is always there
	out[streamMismatches], out[streamLiterals] = m.Enc.Finish(), l.Enc.Finish()
	return out
}

// decode returns the letters of each column's reads, end to end. wait waits for the first n bases of the pseudogenome.
func (s *slice) decode(tree *positions, cols []*Column, in [streams][]byte, wait func(n int) error) ([][]byte, error) {
	r := &columnReads{cols: cols}
	x := decodeFrom(in[streamExceptions])
	for _, col := range cols {
		list, ok := newExceptionCoder().code(x, col)
		if !ok {
			return nil, fmt.Errorf("%w: an exception is outside of its read", ErrCorrupt)
		}
		r.exceptions = append(r.exceptions, &list)
		r.where = append(r.where, newPlaces(col.Records))
	}
	if !newPlaceModel(tree, s.sorted).code(decodeFrom(in[streamPlaces]), r.where[0], r.mates(), cols[0].Records, s.limit) {
		return nil, fmt.Errorf("%w: a read has a place outside of the pseudogenome", ErrCorrupt)
	}
	end := uint64(0) // of the last bases that are needed
	for k, col := range cols {
		for i, p := range r.where[k].pos {
			if p != unplaced {
				end = max(end, uint64(p)+uint64(col.Lengths.Of(i)))
			}
		}
	}
	if end > s.limit {
		return nil, fmt.Errorf("%w: a read ends after the pseudogenome", ErrCorrupt)
	}
	var err error
	if s.releaseWhile(func() { err = wait(int(end)) }); err != nil {
		return nil, err
	}
	seqs, read := readsOf(cols)
	newBuffer := func() readBuffer { return read }
	if err = s.codeReads(decodeFrom(in[streamMismatches]), decodeFrom(in[streamLiterals]), r, newBuffer); err != nil {
		return nil, err
	}
	for k := range cols {
		toLetters(seqs[k])
		for x := range r.exceptions[k].All {
			applyException(read(k, int(x.Read)), x)
		}
	}
	return seqs, nil
}

// readsOf returns memory for the reads of each column, end to end, and where in it each read is.
func readsOf(cols []*Column) ([][]byte, readBuffer) {
	seqs := make([][]byte, len(cols))
	starts := make([][]uint64, len(cols)) // of reads; nil where all have one length
	for k, col := range cols {
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
	return seqs, func(k, i int) []byte {
		if starts[k] == nil {
			n := uint64(cols[k].Lengths.Fixed)
			return seqs[k][uint64(i)*n : (uint64(i)+1)*n]
		}
		return seqs[k][starts[k][i]:][:cols[k].Lengths.Each[i]]
	}
}
