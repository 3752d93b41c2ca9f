package longreads

import (
	"math"
	"sync"
	"sync/atomic"

	"orcomgo/compress/edits"
)

// votes counts what aligned reads have at each base of a sequence.
type votes struct {
	seq     *Sequence
	threads int
	prune   bool
	// depth is by how much the number of alignments over a base differs from that over the base before it.
	depth []int32
	// other is, by base, how many reads have another one there; in the place of the sequence's own, how many have none.
	other []([4]uint16)
	// inserted is, by base, how many reads have one more base before the sequence's.
	inserted []([4]uint16)
	locks    [1 << 10]sync.Mutex // of ranges of bases

	aligned, substitutions, indels atomic.Int64 // bases of reads that are aligned, and edits
}

const voteRange = 14 // logarithm of the bases of a range

func newVotes(s *Sequence, threads int, prune bool) *votes {
	return &votes{seq: s, threads: threads, prune: prune, depth: make([]int32, s.n+1), other: make([][4]uint16, s.n+1),
		inserted: make([][4]uint16, s.n+1)}
}

// add counts reads.
func (v *votes) add(batch []Read) {
	const each = 16
	parallel(v.threads, (len(batch)+each-1)/each, func() func(int) {
		a := NewAligner(v.seq)
		return func(c int) {
			for _, r := range batch[c*each : min((c+1)*each, len(batch))] {
				for _, x := range a.align(r.Bases, r.N) {
					v.count(&x)
				}
			}
		}
	})
}

// count counts an alignment.
func (v *votes) count(a *alignment) {
	lock := func(place int) *sync.Mutex { return &v.locks[place>>voteRange&(len(v.locks)-1)] }
	change := func(place int, d int32) {
		m := lock(place)
		m.Lock()
		v.depth[place] += d
		m.Unlock()
	}
	v.aligned.Add(int64(a.to - a.from))
	substitutions := 0
	change(a.first, 1)
	change(a.end, -1)
	var held *sync.Mutex
	for i, e := range a.edits {
		if m := lock(int(e.At)); m != held {
			if held != nil {
				held.Unlock()
			}
			m.Lock()
			held = m
		}
		var n *uint16
		switch e.Kind {
		case edits.Substitution:
			n = &v.other[e.At][e.Base]
			substitutions++
		case edits.Deletion:
			n = &v.other[e.At][v.seq.bases.at(int(e.At))]
		default:
			if i > 0 && a.edits[i-1].Kind == edits.Insertion && a.edits[i-1].At == e.At {
				continue // only the first base of a run has a vote: there is another round
			}
			n = &v.inserted[e.At][e.Base]
		}
		if *n < math.MaxUint16 {
			*n++
		}
	}
	if held != nil {
		held.Unlock()
	}
	v.substitutions.Add(int64(substitutions))
	v.indels.Add(int64(len(a.edits) - substitutions))
}

// sum makes depth the number of alignments over each base.
func (v *votes) sum() {
	d := int32(0)
	for i, change := range v.depth {
		d += change
		v.depth[i] = d
	}
}

const (
	// minDepth is how many alignments there are over a base that is worth keeping, and keptBeside how many bases beside such bases are
	// kept as well if there is one alignment.
	minDepth   = 2
	keptBeside = 1000
)

// consensus returns the sequence from base `first` on with the bases that most reads have. If prune is set it leaves out what too few
// reads have. The depths must have been summed up.
func (v *votes) consensus(first int) (Bases, int) {
	n := v.seq.n
	kept := make([]bool, n)
	until := 0
	for i := first; i < n; i++ {
		if v.depth[i] >= minDepth {
			until = i + keptBeside
		}
		kept[i] = !v.prune || v.depth[i] > 0 && i < until
	}
	from := n
	for i := n - 1; i >= first; i-- {
		if v.depth[i] >= minDepth {
			from = i - keptBeside
		}
		kept[i] = kept[i] || v.depth[i] > 0 && i > from
	}
	out := make(Bases, wordsFor((n-first)*9/8+wordBases))
	to := 0
	put := func(b byte) {
		if wordsFor(to+1) > len(out) {
			out = append(out, make(Bases, len(out)/8+1)...)
		}
		out.set(to, b)
		to++
	}
	for i := first; i < n; i++ {
		if !kept[i] {
			continue
		}
		d := int(v.depth[i])
		in := &v.inserted[i]
		if sum := int(in[0]) + int(in[1]) + int(in[2]) + int(in[3]); 2*sum > d {
			best := byte(0)
			for b := range byte(4) {
				if in[b] > in[best] {
					best = b
				}
			}
			put(best)
		}
		own := v.seq.bases.at(i)
		best := own
		most := d / 2
		for b := range byte(4) {
			if int(v.other[i][b]) > most {
				best, most = b, int(v.other[i][b])
			}
		}
		switch {
		case most == d/2:
			put(own)
		case best != own:
			put(best)
		}
	}
	return out[:wordsFor(to)], to
}
