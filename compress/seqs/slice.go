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
	streamPieces         // only of a slice with flagPieces
	streamMateExceptions // this and the next ones only of a slice with flagApart
	streamMateMismatches
	streamMateLiterals
	streams
)

// streamsWith returns which streams a slice with these flags has, in their order.
func streamsWith(flags byte) []int {
	list := []int{streamExceptions, streamPlaces, streamMismatches, streamLiterals}
	if flags&flagPieces != 0 {
		list = append(list, streamPieces)
	}
	if flags&flagApart != 0 {
		list = append(list, streamMateExceptions, streamMateMismatches, streamMateLiterals)
	}
	return list
}

// slice codes the reads of one slice against the pseudogenome.
type slice struct {
	layout *overlap.Layout                          // encoding
	genome func(pos, n int) (packed []byte, at int) // see stretch; it returns bases of the pseudogenome
	// model waits for the model of the pseudogenome's first segment; it is cloned and not changed.
	model        func() (*basemodel.Model, error)
	sorted       bool
	inPieces     bool   // long reads may be aligned in pieces
	mayBeApart   bool   // encoding: the members may have streams of their own
	apart        bool   // the members have streams of their own; see docs/FORMAT.md, flag 16
	byQual       bool   // the reads are given their qualities
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

// forEach calls f for each read i of column k, for the columns in ks, that has a place, or for each that has none, with its
// qualities (nil if there are none) and the bases that are not A, C, G or T (nil if all are). It goes record by record.
func (r *columnReads) forEach(ks []int, placed bool, f func(k, i int, quals []byte, skip []bool)) {
	cols := r.cols
	nonACGT := make([]nonACGT, len(cols))
	at := make([]int, len(cols))
	for _, k := range ks {
		nonACGT[k] = nonACGTOf(r.exceptions[k])
	}
	untold := 0 // bases coded since the last call of Progress
	for i := 0; i < cols[0].decoded(); i++ {
		for _, k := range ks {
			col := cols[k]
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

// literalBases returns how many bases the reads of the columns in ks that have no place have outside of pieces.
func (r *columnReads) literalBases(ks []int) int {
	sum := 0
	for _, k := range ks {
		for i, p := range r.where[k].pos {
			if p == unplaced {
				r.literals(k, i, func(from, to int) { sum += to - from })
			}
		}
	}
	return sum
}

// needModel reports whether some of the reads that are coded of the columns in ks have no place.
func (r *columnReads) needModel(ks []int) bool {
	if r.cols[0].withoutLiterals() {
		return false
	}
	for _, k := range ks {
		col := r.cols[k]
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

// covered returns the range of the pseudogenome, without its end, in which all placed reads of column k that are coded lie; 0 and 0 if
// there are none.
func (r *columnReads) covered(k int) (from uint32, to uint64) {
	from = unplaced
	for i, p := range r.where[k].pos[:r.cols[k].decoded()] {
		if p != unplaced {
			from, to = min(from, p), max(to, uint64(p)+uint64(r.cols[k].Lengths.Of(i)))
		}
	}
	if from == unplaced {
		from = 0
	}
	return from, to
}

// codeMismatches codes the reads of the columns in ks that have a place. read, which is nil when decoding, returns the packed bases of a
// read on the pseudogenome's strand; text, which is nil when encoding, where its letters go.
func (s *slice) codeMismatches(c *rc.Coder, r *columnReads, ks []int, read func(k, i int) []uint64, text func(k, i int) []byte) {
	models, first := make([]*mismatches, len(r.cols)), make([]uint32, len(r.cols))
	for _, k := range ks {
		from, to := r.covered(k)
		first[k], models[k] = from, newMismatches(s.byQual, to-uint64(from))
	}
	r.forEach(ks, true, func(k, i int, quals []byte, skip []bool) {
		pos := r.where[k].pos[i]
		w := alignment{uint64(pos - first[k]), r.where[k].rev[i], r.cols[k].Lengths.Of(i)}
		var ref stretch
		ref.packed, ref.at = s.genome(int(pos), w.n)
		if c.Decoding() {
			models[k].code(c, w, ref, nil, text(k, i), skip, quals)
		} else {
			models[k].code(c, w, ref, read(k, i), nil, skip, quals)
		}
	})
}

// codeLiterals codes the reads of the columns in ks that have no place. read returns the bases of a read, one a byte; decoding, where
// its letters go.
func (s *slice) codeLiterals(c *rc.Coder, r *columnReads, ks []int, read func(k, i int) []byte) error {
	if !r.needModel(ks) {
		return nil
	}
	bases := r.literalBases(ks)
	m, err := s.model()
	if err != nil {
		return err
	}
	m = m.Clone(bases)
	r.forEach(ks, false, func(k, i int, quals []byte, skip []bool) {
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

// codeReads codes the reads of the columns in ks that have no place, by literals, side by side with the others: placed are functions
// that code those.
func (s *slice) codeReads(r *columnReads, ks []int, literals func() error, placed []func()) (err error) {
	var wg sync.WaitGroup
	wg.Go(func() { err = literals() })
	for _, f := range placed[min(1, len(placed)):] {
		wg.Go(f)
	}
	if len(placed) > 0 {
		placed[0]()
	}
	if r.needModel(ks) {
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

// A group is columns whose exceptions, mismatches and literals are in one stream each.
type group struct {
	columns                          []int
	exceptions, mismatches, literals int // the streams
}

// groups returns the groups of a slice of n columns.
func (s *slice) groups(n int) []group {
	first := group{[]int{0}, streamExceptions, streamMismatches, streamLiterals}
	switch {
	case n == 1:
		return []group{first}
	case s.apart:
		return []group{first, {[]int{1}, streamMateExceptions, streamMateMismatches, streamMateLiterals}}
	}
	first.columns = []int{0, 1}
	return []group{first}
}

// wanted returns the groups of which reads are decoded, and their columns.
func (s *slice) wanted(cols []*Column) (groups []group, ks []int) {
	for _, g := range s.groups(len(cols)) {
		if !s.apart || !cols[g.columns[0]].Skip {
			groups, ks = append(groups, g), append(ks, g.columns...)
		}
	}
	return groups, ks
}

// literalShare: mates have streams of their own if one in so many bases at most is a literal. The literals of each are coded without
// having seen those of the other then, which takes more bytes where there are many. A variable so that tests can change it.
var literalShare uint64 = 50

// encode returns the streams of a slice; records gives each column's records inside the part. It sets apart.
func (s *slice) encode(tree *positions, cols []*Column, records [][]uint32) [streams][]byte {
	var out [streams][]byte
	r := &columnReads{cols: cols}
	all, bases := []int{}, uint64(0)
	for k, col := range cols {
		r.exceptions = append(r.exceptions, &col.Exceptions)
		p := newPlaces(col.Records)
		for i, rec := range records[k] {
			p.pos[i], p.rev[i] = s.layout.Place(rec)
		}
		r.where = append(r.where, p)
		all, bases = append(all, k), bases+col.bases()
	}
	s.apart = s.mayBeApart && len(cols) == 2 && !s.inPieces && uint64(r.literalBases(all))*literalShare <= bases
	groups := s.groups(len(cols))
	for _, g := range groups {
		x := encodeTo(nil)
		for _, k := range g.columns {
			newExceptionCoder().code(x, cols[k])
		}
		out[g.exceptions] = x.Enc.Finish()
	}
	c := encodeTo(nil)
	newPlaceModel(tree, s.sorted).code(c, r.where[0], r.mates(), cols[0].Records, s.limit)
	out[streamPlaces] = c.Enc.Finish()

	if s.inPieces {
		r.setSpans()
		out[streamPieces] = s.encodePieces(r, s.align(records, r))
	}
	oriented := s.orientedReads(records, r.where)
	var placed []func()
	for _, g := range groups {
		placed = append(placed, func() {
			m := encodeTo(nil)
			s.codeMismatches(m, r, g.columns, oriented.read, nil)
			out[g.mismatches] = m.Enc.Finish()
		})
	}
	literals := func() error {
		var buf []byte
		for _, g := range groups {
			l := encodeTo(nil)
			err := s.codeLiterals(l, r, g.columns, func(k, i int) []byte {
				buf = s.layout.Bases(buf[:0], records[k][i])
				return buf
			})
			if err != nil {
				return err
			}
			out[g.literals] = l.Enc.Finish()
		}
		return nil
	}
	s.codeReads(r, all, literals, placed) // There is no error: the encoder's model is always there.
	return out
}

// decode returns the letters of each column's reads, end to end; nil of columns with Skip. wait waits for the first n bases of the
// pseudogenome.
func (s *slice) decode(tree *positions, cols []*Column, in [streams][]byte, wait func(n int) error) ([][]byte, error) {
	r := &columnReads{cols: cols}
	groups, ks := s.wanted(cols)
	for _, col := range cols {
		r.exceptions = append(r.exceptions, new(record.ExceptionList))
		r.where = append(r.where, newPlaces(col.Records))
	}
	for _, g := range groups {
		x := decodeFrom(in[g.exceptions])
		for _, k := range g.columns {
			list, ok := newExceptionCoder().code(x, cols[k])
			if !ok {
				return nil, fmt.Errorf("%w: an exception is outside of its read", ErrCorrupt)
			}
			r.exceptions[k] = &list
		}
	}
	if !newPlaceModel(tree, s.sorted).code(decodeFrom(in[streamPlaces]), r.where[0], r.mates(), cols[0].Records, s.limit) {
		return nil, errOutside
	}
	end := uint64(0) // of the last bases that are needed
	for _, k := range ks {
		_, to := r.covered(k)
		end = max(end, to)
	}
	if end > s.limit {
		return nil, errEndsAfter
	}
	var err error
	seqs, text := readsOf(cols, ks)
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
	var placed []func()
	for _, g := range groups {
		if !cols[0].withoutPlaced() {
			placed = append(placed, func() { s.codeMismatches(decodeFrom(in[g.mismatches]), r, g.columns, nil, text) })
		}
	}
	literals := func() error {
		for _, g := range groups {
			if err := s.codeLiterals(decodeFrom(in[g.literals]), r, g.columns, text); err != nil {
				return err
			}
		}
		return nil
	}
	if err = s.codeReads(r, ks, literals, placed); err != nil {
		return nil, err
	}
	for _, k := range ks {
		if cols[k].Skip {
			seqs[k] = nil
			continue
		}
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

// readsOf returns memory for the reads of the columns in ks, end to end, and where in it each read is.
func readsOf(cols []*Column, ks []int) (letters [][]byte, text func(k, i int) []byte) {
	seqs := make([][]byte, len(cols))
	starts := make([][]uint64, len(cols)) // of reads; nil where all have one length
	for _, k := range ks {
		col := cols[k]
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
