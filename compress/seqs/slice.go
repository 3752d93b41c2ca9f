package seqs

import (
	"encoding/binary"
	"fmt"
	"sync"

	"orcomgo/bins/record"
	"orcomgo/compress/basemodel"
	"orcomgo/compress/edits"
	"orcomgo/compress/overlap"
	rc "orcomgo/compress/rangecoder"
)

// The streams of a slice, in their order.
const (
	streamExceptions = iota
	streamPlaces
	streamMismatches
	streamLiterals
	streamPieces // only of a slice with flagPieces
	streams
)

// slice codes the reads of one slice against the pseudogenome.
type slice struct {
	layout *overlap.Layout                          // encoding
	genome func(pos, n int) (packed []byte, at int) // see stretch; it returns bases of the pseudogenome
	// model waits for the model of the pseudogenome's first segment; it is cloned and not changed.
	model        func() (*basemodel.Model, error)
	sorted       bool
	inPieces     bool   // long reads may be aligned in pieces
	limit        uint64 // bases of the pseudogenome
	releaseWhile func(wait func())
	align        func(records [][]uint32, r *columnReads) [][][]edits.Piece // encoding: the pieces of long reads
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

// stretch is bases of the pseudogenome: base i is number at+i of packed ones, two bits each, which 16 unused bytes follow.
type stretch struct {
	packed []byte
	at     int
}

// word returns bases 32*k to 32*k+31, the first one in the lowest bits.
func (s stretch) word(k int) uint64 { return overlap.LoadWord(s.packed, s.at+overlap.WordBases*k) }

// base returns base i.
func (s stretch) base(i int) byte {
	i += s.at
	return s.packed[i>>2] >> (2 * (i & 3)) & 3
}

// lettersOfByte holds the letters of the four bases of a byte, the first one lowest.
var lettersOfByte = func() (t [256]uint32) {
	for b := range t {
		for i := range 4 {
			t[b] |= uint32(letters[b>>(2*i)&3]) << (8 * i)
		}
	}
	return
}()

// wordLetters writes the letters of the 32 bases of a word to dst.
func wordLetters(dst []byte, w uint64) {
	dst = dst[:overlap.WordBases]
	for i := 0; i < overlap.WordBases; i, w = i+8, w>>16 {
		binary.LittleEndian.PutUint64(dst[i:], uint64(lettersOfByte[byte(w)])|uint64(lettersOfByte[byte(w>>8)])<<32)
	}
}

// letters writes the letters of the first len(dst) bases to dst, reversed and complemented if reversed is set.
func (s stretch) letters(dst []byte, reversed bool) {
	for k := 0; len(dst) > 0; k++ {
		w := s.word(k)
		n := min(len(dst), overlap.WordBases)
		to := dst[:n]
		if reversed {
			w = overlap.ReverseComplementWord(w, n)
			to, dst = dst[len(dst)-n:], dst[:len(dst)-n]
		} else {
			dst = dst[n:]
		}
		if n == overlap.WordBases {
			wordLetters(to, w)
			continue
		}
		var part [overlap.WordBases]byte // what follows belongs to another read
		wordLetters(part[:], w)
		copy(to, part[:])
	}
}

// columnReads are the reads of a slice's columns.
type columnReads struct {
	cols       []*Column
	where      []*places
	exceptions []*record.ExceptionList
	// spans are, by column and read, the stretches of long reads that are no pieces; nil if no reads are aligned in pieces.
	spans [][][]edits.Span
}

// inPieces reports whether read i of column k may be aligned in pieces.
func (r *columnReads) inPieces(k, i int) bool {
	return r.spans != nil && r.where[k].pos[i] == unplaced && r.cols[k].Lengths.Of(i) >= minLongBases
}

// literals calls f with the stretches of a read without a place that are no piece.
func (r *columnReads) literals(k, i int, f func(from, to int)) {
	n := r.cols[k].Lengths.Of(i)
	if !r.inPieces(k, i) {
		f(0, n)
		return
	}
	for _, v := range r.spans[k][i] {
		f(int(v.Start), int(v.End))
	}
}

// setSpans makes room for the spans.
func (r *columnReads) setSpans() {
	for _, col := range r.cols {
		r.spans = append(r.spans, make([][]edits.Span, col.Records))
	}
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
	untold := 0 // bases coded since the last call of Progress
	for i := 0; i < cols[0].decoded(); i++ {
		for k, col := range cols {
			n := col.Lengths.Of(i)
			q := col.Quals
			if q != nil {
				q = q[at[k] : at[k]+n]
				at[k] += n
			}
			if (r.where[k].pos[i] != unplaced) == placed {
				f(k, i, q, nonACGT[k].of(i, n))
				untold += n
			}
		}
		if untold >= progressEvery && cols[0].Progress != nil {
			cols[0].Progress(untold)
			untold = 0
		}
	}
}

// literalBases returns how many bases the reads without a place have outside of pieces.
func (r *columnReads) literalBases() int {
	sum := 0
	for k := range r.cols {
		for i, p := range r.where[k].pos {
			if p == unplaced {
				r.literals(k, i, func(from, to int) { sum += to - from })
			}
		}
	}
	return sum
}

// needModel reports whether some of the reads that are coded have no place.
func (r *columnReads) needModel() bool {
	if r.cols[0].withoutLiterals() {
		return false
	}
	for k, col := range r.cols {
		for i, p := range r.where[k].pos[:col.decoded()] {
			if p != unplaced {
				continue
			}
			found := false
			r.literals(k, i, func(from, to int) { found = found || to > from })
			if found {
				return true
			}
		}
	}
	return false
}

// codeMismatches codes the reads that have a place. read, which is nil when decoding, returns the packed bases of a read on the
// pseudogenome's strand; text, which is nil when encoding, where its letters go.
func (s *slice) codeMismatches(c *rc.Coder, r *columnReads, read func(k, i int) []uint64, text func(k, i int) []byte) {
	models := make([]*mismatches, len(r.cols))
	for k := range r.cols {
		models[k] = newMismatches(r.cols[0].Quals != nil, s.limit)
	}
	r.forEach(true, func(k, i int, quals []byte, skip []bool) {
		w := alignment{uint64(r.where[k].pos[i]), r.where[k].rev[i], r.cols[k].Lengths.Of(i)}
		var ref stretch
		ref.packed, ref.at = s.genome(int(w.pos), w.n)
		if c.Decoding() {
			models[k].code(c, w, ref, nil, text(k, i), skip, quals)
		} else {
			models[k].code(c, w, ref, read(k, i), nil, skip, quals)
		}
	})
}

// codeLiterals codes the reads that have no place. read returns the bases of a read, one a byte; decoding, where its letters go.
func (s *slice) codeLiterals(c *rc.Coder, r *columnReads, read func(k, i int) []byte) error {
	if !r.needModel() {
		return nil
	}
	bases := r.literalBases()
	m, err := s.model()
	if err != nil {
		return err
	}
	m = m.Clone(bases)
	r.forEach(false, func(k, i int, quals []byte, skip []bool) {
		b := read(k, i)[:r.cols[k].Lengths.Of(i)]
		r.literals(k, i, func(from, to int) {
			for j := from; j < to; j++ {
				if skip != nil && skip[j] {
					continue
				}
				if quals != nil {
					m.SetQuality(quals[j])
				}
				b[j] = m.Code(c, b[j])
			}
			if c.Decoding() {
				toLetters(b[from:to])
			}
		})
	})
	return nil
}

// codeReads codes the reads without a place, by literals, side by side with the others.
func (s *slice) codeReads(r *columnReads, placed func(), literals func() error) (err error) {
	var wg sync.WaitGroup
	wg.Go(func() { err = literals() })
	placed()
	if r.needModel() {
		s.releaseWhile(func() { s.model() }) // for which codeLiterals waits
	}
	wg.Wait()
	return err
}

// orientedBatch is how many records of a column are loaded at once for encoding.
const orientedBatch = 64

// orientedReads returns the packed bases of placed reads on the pseudogenome's strand. Reads are asked for in ascending order.
type orientedReads struct {
	columns []*overlap.OrientedReads
	from    []int // the first read of each column's batch
	records [][]uint32
	where   []*places
}

func (s *slice) orientedReads(records [][]uint32, where []*places) *orientedReads {
	o := &orientedReads{records: records, where: where}
	for range records {
		o.columns, o.from = append(o.columns, s.layout.Oriented()), append(o.from, -orientedBatch)
	}
	return o
}

func (o *orientedReads) read(k, i int) []uint64 {
	if i >= o.from[k]+orientedBatch {
		end := min(i+orientedBatch, len(o.records[k]))
		o.columns[k].Load(o.records[k][i:end], o.where[k].rev[i:end])
		o.from[k] = i
	}
	return o.columns[k].Read(i - o.from[k])
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

	if s.inPieces {
		r.setSpans()
		out[streamPieces] = s.encodePieces(r, s.align(records, r))
	}
	m, l := encodeTo(nil), encodeTo(nil)
	oriented := s.orientedReads(records, r.where)
	var buf []byte
	// There is no error: the encoder's model is always there.
	s.codeReads(r, func() { s.codeMismatches(m, r, oriented.read, nil) }, func() error {
		return s.codeLiterals(l, r, func(k, i int) []byte {
			buf = s.layout.Bases(buf[:0], records[k][i])
			return buf
		})
	})
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
		return nil, errOutside
	}
	end := uint64(0) // of the last bases that are needed
	for k, col := range cols {
		for i, p := range r.where[k].pos[:col.decoded()] {
			if p != unplaced {
				end = max(end, uint64(p)+uint64(col.Lengths.Of(i)))
			}
		}
	}
	if end > s.limit {
		return nil, errEndsAfter
	}
	var err error
	seqs, text := readsOf(cols)
	switch {
	case s.inPieces:
		end = s.limit // pieces are all over it
	case cols[0].withoutPlaced():
		end = 0
	}
	if s.releaseWhile(func() { err = wait(int(end)) }); err != nil {
		return nil, err
	}
	if s.inPieces {
		r.setSpans()
		if err := s.decodePieces(in[streamPieces], r, text); err != nil {
			return nil, err
		}
	}
	placed := func() {
		if !cols[0].withoutPlaced() {
			s.codeMismatches(decodeFrom(in[streamMismatches]), r, nil, text)
		}
	}
	err = s.codeReads(r, placed,
		func() error { return s.codeLiterals(decodeFrom(in[streamLiterals]), r, text) })
	if err != nil {
		return nil, err
	}
	for k := range cols {
		for x := range r.exceptions[k].All {
			if int(x.Read) >= cols[k].decoded() {
				break
			}
			applyException(text(k, int(x.Read)), x)
		}
	}
	r.setLayouts()
	return seqs, nil
}

// readsOf returns memory for the reads of each column, end to end, and where in it each read is.
func readsOf(cols []*Column) (letters [][]byte, text func(k, i int) []byte) {
	seqs := make([][]byte, len(cols))
	starts := make([][]uint64, len(cols)) // of reads; nil where all have one length
	for k, col := range cols {
		seqs[k] = make([]byte, col.Lengths.Sum(0, col.decoded()))
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
