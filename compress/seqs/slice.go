package seqs

import (
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
	modeled      <-chan struct{} // encoding: closed when there is the model
	sorted       bool
	inPieces     bool   // long reads may be aligned in pieces
	apart        bool   // the members have streams of their own; see docs/FORMAT.md, flag 16
	byQual       bool   // the reads are given their qualities
	limit        uint64 // bases of the pseudogenome
	releaseWhile func(wait func())
	align        func(records [][]uint32, r *columnReads) [][][]edits.Piece // encoding: the pieces of long reads
}

// codeMismatches codes the reads of the columns in ks that have a place. read, which is nil when decoding, returns the packed bases of a
// read on the pseudogenome's strand; text, which is nil when encoding, where its letters go.
func (s *slice) codeMismatches(c *rc.Coder, r *columnReads, ks []int, read func(k, i int) []uint64, text func(k, i int) []byte) {
	models, first := make([]*mismatches, len(r.cols)), make([]uint32, len(r.cols))
	for _, k := range ks {
		from, to := r.covered(k)
		first[k], models[k] = from, newMismatches(s.byQual, to-uint64(from))
		defer models[k].variants.release()
	}
	r.forEach(ks, true, func(k, i int, quals []byte, skip []bool) {
		if !s.sorted { // else the bases are near those of the read before
			s.prefetch(r, k, i+genomeAhead)
		}
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

// genomeAhead is how many reads before it is used a stretch of the pseudogenome is loaded into the cache.
const genomeAhead = 8

// prefetch begins to load the bases of the pseudogenome under read i of column k into the cache, if there is the read and it has a place.
func (s *slice) prefetch(r *columnReads, k, i int) {
	if i >= r.cols[k].decoded() || r.where[k].pos[i] == unplaced {
		return
	}
	n := r.cols[k].Lengths.Of(i)
	packed, at := s.genome(int(r.where[k].pos[i]), n)
	overlap.Prefetch(packed, at, n)
}

// codeReads codes the reads of the columns in ks that have no place, by literals, side by side with the others: placed are functions
// that code those.
func (s *slice) codeReads(r *columnReads, ks []int, literals func() error, placed []func()) (err error) {
	var wg sync.WaitGroup
	later := r.needModel(ks) && s.modelComes()
	if !later {
		wg.Go(func() { err = literals() })
	}
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
	if later {
		return literals()
	}
	return err
}

// modelComes reports whether a slice that is encoded will have to wait for the model. Many slices may wait for it: only as many of them as
// go on at a time should copy it then.
func (s *slice) modelComes() bool {
	if s.modeled == nil {
		return false
	}
	select {
	case <-s.modeled:
		return false
	default:
		return true
	}
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
		s.layout.Places(records[k], p.pos, p.rev)
		r.where = append(r.where, p)
		all, bases = append(all, k), bases+col.bases()
	}
	s.apart = len(cols) == 2 && !s.inPieces && uint64(r.literalBases(all))*literalShare <= bases
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
	if cols[0].withoutPlaced() {
		end = 0
	}
	if s.releaseWhile(func() { err = wait(int(end)) }); err != nil {
		return nil, err
	}
	if s.inPieces {
		r.setSpans()
		if err := s.decodePieces(in[streamPieces], r, text, wait); err != nil {
			return nil, err
		}
	}
	var placed []func()
	for _, g := range groups {
		if !cols[0].withoutPlaced() {
			placed = append(placed, func() { s.codeMismatches(decodeFrom(in[g.mismatches]), r, g.columns, nil, text) })
		}
	}
	var withLiterals []group
	var literalColumns []int
	for _, g := range groups {
		if s.inPieces || r.wantsLiterals(g.columns) {
			withLiterals, literalColumns = append(withLiterals, g), append(literalColumns, g.columns...)
		}
	}
	literals := func() error {
		for _, g := range withLiterals {
			if err := s.codeLiterals(decodeFrom(in[g.literals]), r, g.columns, text); err != nil {
				return err
			}
		}
		return nil
	}
	if err = s.codeReads(r, literalColumns, literals, placed); err != nil {
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
