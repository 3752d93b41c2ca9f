package seqs

import (
	"fmt"
	"math/bits"
	"slices"

	"orcomgo/compress/edits"
	"orcomgo/compress/longreads"
	"orcomgo/compress/overlap"
	rc "orcomgo/compress/rangecoder"
)

// minLongBases is the least number of bases of a read that may be aligned in pieces.
const minLongBases = 701

// pieceModel codes the pieces of a slice's long reads.
type pieceModel struct {
	limit    uint64
	count    *rc.Number
	start    *rc.Number
	rest     *rc.Number
	edits    *rc.Number
	gap      [3]*rc.Number
	reverse  rc.Prob
	kind     [4]rc.Tree
	replaced [4]rc.Tree
	inserted [4]rc.Tree
}

func newPieceModel(limit uint64) *pieceModel {
	m := &pieceModel{limit: limit, count: rc.NewNumber(), start: rc.NewNumber(), rest: rc.NewNumber(), edits: rc.NewNumber(), reverse: rc.NewProb}
	for i := range m.gap {
		m.gap[i] = rc.NewNumber()
	}
	for i := range 4 {
		m.kind[i], m.replaced[i], m.inserted[i] = rc.NewTree(2), rc.NewTree(2), rc.NewTree(2)
	}
	return m
}

// code codes the pieces of a read of n bases. It returns false if they cannot be right.
func (m *pieceModel) code(c *rc.Coder, pieces []edits.Piece, n int, genome func(pos, n int) ([]byte, int)) ([]edits.Piece, bool) {
	count := m.count.Code(c, uint32(len(pieces)), shortMemory)
	if c.Decoding() {
		if uint64(count) > uint64(n) {
			return nil, false
		}
		pieces = make([]edits.Piece, count)
	}
	at := uint64(0)
	for i := range pieces {
		p := &pieces[i]
		start := at + uint64(m.start.Code(c, p.Start-uint32(at), longMemory))
		rest := uint64(m.rest.Code(c, uint32(n)-p.End, longMemory))
		if start+rest > uint64(n) {
			return nil, false
		}
		p.Start, p.End = uint32(start), uint32(uint64(n)-rest)
		at = uint64(p.End)
		width := bits.Len64(m.limit - 1)
		place := c.Uniform(uint32(p.Place), width)
		p.Reverse = c.Adapt(rc.BitOf(p.Reverse), &m.reverse, longMemory) != 0
		many := m.edits.Code(c, uint32(len(p.Edits)), longMemory)
		if c.Decoding() {
			p.Place = uint64(place)
			p.Edits = make([]edits.Edit, 0, min(many, uint32(n)))
		}
		last, prev := uint32(0), 3
		for j := uint32(0); j < many; j++ {
			var e edits.Edit
			if !c.Decoding() {
				e = p.Edits[j]
			}
			e.At = last + m.gap[min(prev, 2)].Code(c, e.At-last, longMemory)
			e.Kind = uint8(m.kind[prev].Code(c, uint32(e.Kind), longMemory))
			if e.Kind != edits.Deletion {
				e.Base = uint8(m.inserted[prev].Code(c, uint32(e.Base), longMemory))
			}
			last, prev = e.At, int(e.Kind)
			if e.Kind != edits.Insertion {
				last++
			}
			if e.Kind > edits.Deletion || e.At > 1<<31 {
				return nil, false
			}
			if c.Decoding() {
				p.Edits = append(p.Edits, e)
			}
		}
		if c.Decoding() {
			length := int64(p.End) - int64(p.Start)
			for _, e := range p.Edits {
				switch e.Kind {
				case edits.Insertion:
					length--
				case edits.Deletion:
					length++
				}
			}
			if length < 0 || p.Place+uint64(length) > m.limit || int64(last) > length {
				return nil, false
			}
			p.Length = uint32(length)
		}
	}
	return pieces, true
}

// codePieces codes the pieces of long reads. text, which is nil when encoding, returns where the letters of a read go.
func (s *slice) codePieces(c *rc.Coder, r *columnReads, text func(k, i int) []byte) error {
	m := newPieceModel(s.limit)
	for i := range r.cols[0].Records {
		for k, col := range r.cols {
			if !r.inPieces(k, i) {
				continue
			}
			pieces, ok := m.code(c, r.pieces[k][i], col.Lengths.Of(i), s.genome)
			if !ok {
				return fmt.Errorf("%w: the pieces of a read are not possible", ErrCorrupt)
			}
			if !c.Decoding() {
				continue
			}
			r.pieces[k][i] = pieces
			for j := range pieces {
				s.pieceLetters(text(k, i)[pieces[j].Start:pieces[j].End], &pieces[j])
			}
		}
	}
	return nil
}

// pieceLetters writes the letters of a piece to dst.
func (s *slice) pieceLetters(dst []byte, p *edits.Piece) {
	var ref stretch
	ref.packed, ref.at = s.genome(int(p.Place), int(p.Length))
	at := 0 // bases of the stretch
	same := func(to int) {
		n := to - at
		part := ref
		if p.Reverse {
			part.at += int(p.Length) - to
		} else {
			part.at += at
		}
		part.letters(dst[:n], p.Reverse)
		dst, at = dst[n:], to
	}
	for _, e := range p.Edits {
		same(int(e.At))
		if e.Kind != edits.Deletion {
			dst[0] = letters[e.Base]
			dst = dst[1:]
		}
		if e.Kind != edits.Insertion {
			at++
		}
	}
	same(int(p.Length))
}

// pieceAligner aligns the long reads of slices.
type pieceAligner struct {
	shared  *longreads.Sequence
	first   uint64 // base of the pseudogenome with which the shared sequence begins
	layout  *overlap.Layout
	threads int
}

// align sets r.pieces.
func (a *pieceAligner) align(records [][]uint32, r *columnReads) {
	type read struct {
		k, i int
		skip []bool
	}
	var todo []read
	for k, col := range r.cols {
		r.pieces = append(r.pieces, make([][]edits.Piece, col.Records))
		_ = k
	}
	for k, col := range r.cols {
		o := nonACGTOf(r.exceptions[k])
		for i := range col.Records {
			if r.inPieces(k, i) {
				todo = append(todo, read{k, i, slices.Clone(o.of(i, col.Lengths.Of(i)))})
			}
		}
	}
	const each = 16
	parallel(a.threads, (len(todo)+each-1)/each, func() func(int) {
		x, o := longreads.NewAligner(a.shared), a.layout.Oriented()
		return func(c int) {
			for _, t := range todo[c*each : min((c+1)*each, len(todo))] {
				o.Load(records[t.k][t.i:t.i+1], []bool{false})
				pieces := x.Align(longreads.BasesOf(o.Read(0)), r.cols[t.k].Lengths.Of(t.i))
				for j := range pieces {
					pieces[j].Place += a.first
					if t.skip != nil {
						dropUnseen(&pieces[j], t.skip)
					}
				}
				r.pieces[t.k][t.i] = pieces
			}
		}
	})
}

// dropUnseen removes the substitutions of bases whose letter is given by an exception.
func dropUnseen(p *edits.Piece, skip []bool) {
	at, place := int(p.Start), 0 // in the read and in the stretch
	kept := p.Edits[:0]
	for _, e := range p.Edits {
		at += int(e.At) - place
		place = int(e.At)
		if e.Kind != edits.Substitution || !skip[at] {
			kept = append(kept, e)
		}
		if e.Kind != edits.Deletion {
			at++
		}
		if e.Kind != edits.Insertion {
			place++
		}
	}
	p.Edits = kept
}
