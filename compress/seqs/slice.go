package seqs

import (
	"fmt"
	"slices"
	"sync"

	"orcomgo/bins/record"
	"orcomgo/compress/basemodel"
	"orcomgo/compress/edits"
	"orcomgo/compress/overlap"
	rc "orcomgo/compress/rangecoder"
)

// The streams of each member of a slice, in their order.
const (
	streamExceptions = iota
	streamMismatches
	streamLiterals
	streamPieces // only of a slice with flagPieces
	memberStreams
)

// streams are those of a slice.
type streams struct {
	places  []byte
	laned   bool               // positions by the tree are in lanes
	lanes   [sideBySide][]byte // of flagLanes
	members [2][memberStreams][]byte
}

// each returns the streams that a slice with these flags has, in their order.
func (s *streams) each(flags byte) []*[]byte {
	members, kept := 1, streamPieces
	if flags&flagMate != 0 {
		members = 2
	}
	if flags&flagPieces != 0 {
		kept = memberStreams
	}
	list := []*[]byte{&s.places}
	if flags&flagLanes != 0 {
		for j := range s.lanes {
			list = append(list, &s.lanes[j])
		}
	}
	for k := range members {
		for i := range kept {
			list = append(list, &s.members[k][i])
		}
	}
	return list
}

// lanesFrom: the positions of a slice are in lanes if so many of its reads have a place. The lengths and ends of lanes take about 25 bytes.
const lanesFrom = 2048

// encodePlaces codes the places of a column's reads, and those of their mates if mate is not nil.
func (s *streams) encodePlaces(m *placeModel, first, mate *places, lengths record.Lengths, limit uint64, lanesFrom int) {
	keys := first.keys()
	m.choice = m.sorted && slices.IsSorted(keys) || !m.sorted && repeat(keys)
	s.laned = !m.sorted && !m.choice && len(keys) >= lanesFrom
	coders := s.placeCoders(encodeTo)
	m.code(coders, first, mate, lengths, limit)
	s.places = coders[0].Enc.Finish()
	for j, lane := range coders[1:] {
		s.lanes[j] = lane.Enc.Finish()
	}
}

// decodePlaces is the inverse of encodePlaces.
func (s *streams) decodePlaces(m *placeModel, first, mate *places, lengths record.Lengths, limit uint64) error {
	if !m.code(s.placeCoders(decodeFrom), first, mate, lengths, limit) {
		return errOutside
	}
	return nil
}

// placeCoders returns the coder of places and those of the lanes, if there are some.
func (s *streams) placeCoders(of func(stream []byte) *rc.Coder) []*rc.Coder {
	coders := []*rc.Coder{of(s.places)}
	if s.laned {
		for _, lane := range s.lanes {
			coders = append(coders, of(lane))
		}
	}
	return coders
}

// slice codes the reads of one slice against the pseudogenome.
type slice struct {
	layout *overlap.Layout                          // encoding
	genome func(pos, n int) (packed []byte, at int) // see stretch; it returns bases of the pseudogenome
	// model waits for the model of the pseudogenome's first segment; it is cloned and not changed.
	model        func() (*basemodel.Model, error)
	modeled      <-chan struct{} // encoding: closed when there is the model
	sorted       bool
	tied         bool   // encoding: and those of one place and length, of the first column, by their mismatches
	inPieces     bool   // long reads may be aligned in pieces
	lanesFrom    int    // encoding: see encodePlaces
	byQual       bool   // the reads are given their qualities
	limit        uint64 // bases of the pseudogenome
	releaseWhile func(wait func())
	align        func(records [][]uint32, r *columnReads) [][][]edits.Piece // encoding: the pieces of long reads
}

// codeMismatches codes the reads of column k that have a place. read, which is nil when decoding, returns the packed bases of a read on the
// pseudogenome's strand; text, which is nil when encoding, where its letters go.
func (s *slice) codeMismatches(c *rc.Coder, r *columnReads, k int, read func(k, i int) []uint64, text func(k, i int) []byte) {
	first, to := r.covered(k)
	m := newMismatches(s.byQual, to-uint64(first))
	defer usedVariants.Put(m.variants)
	// Whether reads of one place and length are in the order of their mismatches.
	tied := s.sorted && !s.byQual && c.Uniform(uint32(rc.BitOf(s.tied && k == 0)), 1) != 0
	end := 0 // of the reads that are coded
	exceptions := nonACGTOf(r.exceptions[k])
	r.forEach(k, true, func(i int, quals []byte, skip []bool) {
		if i < end {
			return // in a group
		}
		if !s.sorted { // else the bases are near those of the read before
			s.prefetch(r, k, i+genomeAhead)
		}
		pos := r.where[k].pos[i]
		w := alignment{uint64(pos - first), r.where[k].rev[i], r.cols[k].Lengths.Of(i)}
		var ref stretch
		ref.packed, ref.at = s.genome(int(pos), w.n)
		end = i + 1
		if tied && skip == nil {
			for r.together(k, end-1) && exceptions.of(end, w.n) == nil {
				end++
			}
		}
		switch {
		case end > i+1:
			m.codeGroup(c, w, ref, end-i, func(j int) []uint64 { return read(k, i+j) }, func(j int) []byte {
				if i+j >= r.cols[k].decoded() {
					return nil
				}
				return text(k, i+j)
			})
		case c.Decoding():
			m.code(c, w, ref, nil, text(k, i), skip, quals)
		default:
			m.code(c, w, ref, read(k, i), nil, skip, quals)
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
	needed := slices.ContainsFunc(ks, r.needModel)
	later := needed && s.modelComes()
	if !later {
		wg.Go(func() { err = literals() })
	}
	for _, f := range placed[min(1, len(placed)):] {
		wg.Go(f)
	}
	if len(placed) > 0 {
		placed[0]()
	}
	if needed {
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

// encode returns the streams of a slice; records gives each column's records inside the part.
func (s *slice) encode(tree *positions, cols []*Column, records [][]uint32) *streams {
	var out streams
	r := &columnReads{cols: cols}
	var all []int
	for k, col := range cols {
		r.exceptions = append(r.exceptions, &col.Exceptions)
		p := newPlaces(col.Records)
		s.layout.Places(records[k], p.pos, p.rev)
		r.where = append(r.where, p)
		all = append(all, k)
		x := encodeTo(nil)
		newExceptionCoder().code(x, col)
		out.members[k][streamExceptions] = x.Enc.Finish()
	}
	s.sorted = s.sorted && r.where[0].sorted(cols[0].Lengths) // further mates are in the order of the first mates
	out.encodePlaces(newPlaceModel(tree, s.sorted), r.where[0], r.mates(), cols[0].Lengths, s.limit, s.lanesFrom)
	if s.inPieces {
		r.setSpans()
		for k, pieces := range s.align(records, r) {
			out.members[k][streamPieces] = s.encodePieces(r, k, pieces)
		}
	}
	oriented := s.orientedReads(records, r.where)
	var placed []func()
	for k := range cols {
		placed = append(placed, func() {
			m := encodeTo(nil)
			s.codeMismatches(m, r, k, oriented.read, nil)
			out.members[k][streamMismatches] = m.Enc.Finish()
		})
	}
	literals := func() error {
		var buf []byte
		for k := range cols {
			stream, err := s.encodeLiterals(r, k, func(k, i int) []byte {
				buf = s.layout.Bases(buf[:0], records[k][i])
				return buf
			})
			if err != nil {
				return err
			}
			out.members[k][streamLiterals] = stream
		}
		return nil
	}
	s.codeReads(r, all, literals, placed) // There is no error: the encoder's model is always there.
	return &out
}

// decode returns the letters of each column's reads, end to end; nil of columns with Skip. wait waits for the first n bases of the
// pseudogenome.
func (s *slice) decode(tree *positions, cols []*Column, in *streams, wait func(n int) error) ([][]byte, error) {
	r := &columnReads{cols: cols}
	var ks []int // the columns that are wanted
	for k, col := range cols {
		list, ok := record.ExceptionList{}, true
		if !col.Skip {
			ks = append(ks, k)
			list, ok = newExceptionCoder().code(decodeFrom(in.members[k][streamExceptions]), col)
		}
		if !ok {
			return nil, fmt.Errorf("%w: an exception is outside of its read", ErrCorrupt)
		}
		r.exceptions = append(r.exceptions, &list)
		r.where = append(r.where, newPlaces(col.Records))
	}
	err := in.decodePlaces(newPlaceModel(tree, s.sorted), r.where[0], r.mates(), cols[0].Lengths, s.limit)
	if err != nil {
		return nil, err
	}
	end := uint64(0) // of the last bases that are needed
	for _, k := range ks {
		_, to := r.covered(k)
		end = max(end, to)
	}
	if end > s.limit {
		return nil, errEndsAfter
	}
	seqs, text := readsOf(cols, ks)
	if cols[0].withoutPlaced() {
		end = 0
	}
	if s.releaseWhile(func() { err = wait(int(end)) }); err != nil {
		return nil, err
	}
	if s.inPieces {
		r.setSpans()
		for _, k := range ks {
			if err := s.decodePieces(in.members[k][streamPieces], r, k, text, wait); err != nil {
				return nil, err
			}
		}
	}
	var placed []func()
	var withLiterals []int // columns
	for _, k := range ks {
		if !cols[0].withoutPlaced() {
			placed = append(placed, func() { s.codeMismatches(decodeFrom(in.members[k][streamMismatches]), r, k, nil, text) })
		}
		if s.inPieces || r.wantsLiterals(k) {
			withLiterals = append(withLiterals, k)
		}
	}
	literals := func() error {
		for _, k := range withLiterals {
			if err := s.decodeLiterals(in.members[k][streamLiterals], r, k, text); err != nil {
				return err
			}
		}
		return nil
	}
	if err = s.codeReads(r, withLiterals, literals, placed); err != nil {
		return nil, err
	}
	for _, k := range ks {
		for x := range r.exceptions[k].All {
			if int(x.Read) >= cols[k].decoded() {
				break
			}
			if err := record.ApplyException(text(k, int(x.Read)), x); err != nil {
				return nil, err
			}
		}
	}
	r.setLayouts()
	return seqs, nil
}
