package longreads

import (
	"slices"

	"orcomgo/bases"
	"orcomgo/compress/edits"
)

// alignment is a stretch of a read that is aligned to a sequence.
type alignment struct {
	reversed bool // what follows is about the reverse complement of the read
	// Bases from..to-1 of the oriented read are aligned to bases first..end-1 of the sequence.
	from, to   int
	first, end int
	edits      []edits.Edit // in the order of the sequence; At is a place in it
}

// Aligner aligns reads to a sequence. It has memory of its own, so each goroutine needs one.
type Aligner struct {
	seq     *Sequence
	chainer chainer
	waves   waves
	other   bases.Words // reverse complement of the read
	found   []alignment
	// If end is not 0, chains that are far from bases first..end-1 of the sequence are left out.
	first, end int
	edits      []edits.Edit // of a backward extension
}

// NewAligner returns an Aligner to s.
func NewAligner(s *Sequence) *Aligner { return &Aligner{seq: s, chainer: chainer{divided: s.versions}} }

// align returns the alignments of a read of n bases in the order of the read, which don't overlap there. They are valid until the next
// call.
func (a *Aligner) align(read bases.Words, n int) []alignment {
	chains := a.chainer.find(a.seq.index, read, n, minAnchors)
	a.found = a.found[:0]
	if len(chains) == 0 {
		return nil
	}
	if slices.ContainsFunc(chains, func(c chain) bool { return c.reversed }) {
		if need := bases.WordsLen(n); cap(a.other) < need {
			a.other = make(bases.Words, need)
		}
		a.other = a.other[:bases.WordsLen(n)]
		a.other.ReverseComplement(0, read, 0, n)
	}
	at := 0 // bases of the read before this one are done with
	for i := range chains {
		until := n
		if i+1 < len(chains) {
			until, _ = chains[i+1].span(n)
		}
		anchors := chains[i].anchors
		if a.end > 0 && (int(anchors[0].place) > a.end+maxGap || int(anchors[len(anchors)-1].place) < a.first-maxGap) {
			continue // it is not wanted
		}
		at = a.alignChain(&chains[i], read, n, at, until)
	}
	return a.found
}

// alignChain aligns a chain within bases from..to-1 of the read, in its own direction, and returns where the last alignment ends, at
// least from.
func (a *Aligner) alignChain(c *chain, read bases.Words, n, from, to int) int {
	lo, hi := oriented(from, to, n, c.reversed)
	q := read
	if c.reversed {
		q = a.other
	}
	seq, m := a.seq.bases, a.seq.n
	if a.chainer.limit > 0 {
		m = a.chainer.limit
	}
	started := len(a.found)
	anchors := c.anchors
	for len(anchors) > 0 && int(anchors[0].read) < lo {
		anchors = anchors[1:] // the alignment before went further than its anchors
	}
	for len(anchors) > 0 && int(anchors[len(anchors)-1].read)+k > hi {
		anchors = anchors[:len(anchors)-1]
	}
	for len(anchors) > 0 {
		// A new alignment begins at the first anchor.
		r, p := int(anchors[0].read), int(anchors[0].place)
		back, x, y := a.waves.extend(a.edits[:0], task{q, seq, r, p, r - lo, p, true})
		a.edits = back
		v := alignment{reversed: c.reversed, from: r - x, first: p - y, edits: slices.Clone(back)}
		slices.Reverse(v.edits)
		for {
			same := q.EqualForward(r, seq, p, min(hi-r, m-p))
			r, p = r+same, p+same
			for len(anchors) > 0 && (int(anchors[0].read) < r || int(anchors[0].place) < p) {
				anchors = anchors[1:]
			}
			if len(anchors) == 0 {
				break
			}
			t := task{q, seq, r, p, int(anchors[0].read) - r, int(anchors[0].place) - p, false}
			var ok bool
			if v.edits, ok = a.waves.global(v.edits, &t, min((baseBits*max(t.n, t.m)+2*pieceBits)/editBits+2, maxWave)); !ok {
				break
			}
			r, p = int(anchors[0].read), int(anchors[0].place)
		}
		end := hi
		if len(anchors) > 0 {
			end = int(anchors[0].read)
		}
		v.edits, x, y = a.waves.extend(v.edits, task{q, seq, r, p, end - r, m - p, false})
		v.to, v.end = r+x, p+y
		if baseBits*(v.to-v.from)-editBits*len(v.edits)-pieceBits > leastGain { // bits that it saves, about
			a.found = append(a.found, v)
			lo = v.to
		}
	}
	if c.reversed {
		slices.Reverse(a.found[started:])
	}
	if len(a.found) == started {
		return from
	}
	last := &a.found[len(a.found)-1]
	_, end := oriented(last.from, last.to, n, c.reversed)
	return max(from, end)
}

const (
	minAnchors = 2
	// leastGain is how many bits an alignment must save: the model of literals follows short matches by itself.
	leastGain = 200
	// maxWave is the most edits between two anchors.
	maxWave = 400
)

// piece returns the alignment as the codec takes it.
func (v *alignment) piece(n int) edits.Piece {
	from, to := oriented(v.from, v.to, n, v.reversed)
	p := edits.Piece{Start: uint32(from), End: uint32(to), Place: uint64(v.first), Length: uint32(v.end - v.first), Reverse: v.reversed}
	p.Edits = v.edits
	for i := range p.Edits {
		p.Edits[i].At -= uint32(v.first)
	}
	if v.reversed {
		slices.Reverse(p.Edits)
		for i := range p.Edits {
			e := &p.Edits[i]
			if e.Kind == edits.Insertion {
				e.At = p.Length - e.At
			} else {
				e.At = p.Length - 1 - e.At
			}
			e.Base = 3 - e.Base
			if e.Kind == edits.Deletion {
				e.Base = 0
			}
		}
	}
	return p
}

// Align returns the pieces of a read of n bases.
func (a *Aligner) Align(read bases.Words, n int) []edits.Piece {
	found := a.align(read, n)
	if len(found) == 0 {
		return nil
	}
	pieces := make([]edits.Piece, len(found))
	for i := range found {
		pieces[i] = found[i].piece(n)
	}
	return pieces
}
