package basemodel

import "cmp"

// segmentBases is the largest length of a segment, in bases. Segments have models of their own so that they can be coded and decoded
// side by side. Cutting costs bytes: a segment cannot be predicted from the others.
const segmentBases = 1 << 24

// A long segment has several coders, which code it side by side. They take turns, round after round, each with a chunk and a model of its
// own, which learns from its own chunks. After a round the chunks of the others are entered in its history, where they can be matched.
const chunkBases = 1 << 13 // the largest chunk

// TwoCoders is the length from which segments have two coders, in bases. The only one of a sequence has four from twice as many on, unless
// Options.Coders is less. They take up to half more processor time than one.
const TwoCoders = 3 << 19

// mostCoders returns how many coders each segment of a sequence of n bases has at most.
func (o *Options) mostCoders(n int) int {
	usual := 4
	if n > segmentBases {
		usual = 2
	}
	return min(cmp.Or(o.Coders, usual), usual)
}

// segment is a part of a sequence that is coded by itself.
type segment struct {
	from, n int // the first base and the number of bases
	coders  int
}

// cutSegments returns the segments of a sequence of n bases, which begin at multiples of four and have so many coders at most. Tests say
// from how many bases on they have two coders; 0: TwoCoders.
func cutSegments(n, most, twoCoders int) []segment {
	all := make([]segment, max(1, (n+segmentBases-1)/segmentBases))
	size := (n + 4*len(all) - 1) / (4 * len(all)) * 4
	for k := range all {
		from := k * size
		all[k] = segment{from, min(size, n-from), 1}
		for all[k].coders < most && all[k].n/all[k].coders >= cmp.Or(twoCoders, TwoCoders) {
			all[k].coders *= 2
		}
	}
	return all
}

// codersOf returns how many coders segments have.
func codersOf(segments []segment) (count int) {
	for _, s := range segments {
		count += s.coders
	}
	return count
}

// round is what the coders of a segment code side by side: each `size` of the bases from..to-1, the last ones perhaps fewer.
type round struct{ from, size, to int }

// next returns the round that begins at base `from` of the segment.
func (s segment) next(from int) round {
	size := min(chunkBases, (s.n-from+s.coders-1)/s.coders)
	return round{from, size, min(from+size*s.coders, s.n)}
}

// chunk returns the bases from..to-1 of a coder. Those of the last coders may be none.
func (r round) chunk(coder int) (from, to int) {
	from = min(r.from+coder*r.size, r.to)
	return from, min(from+r.size, r.to)
}

// begin moves a coder's model to its chunk of a round. It does not know the bases of the others' chunks.
func (s segment) begin(m *Model, coder int, r round) {
	if s.coders > 1 {
		from, _ := r.chunk(coder)
		m.moveTo(from, coder == 0)
	}
}

// end enters the other coders' chunks of a round in the history of a coder's model. bases returns the bases from..to-1.
func (s segment) end(m *Model, coder int, r round, bases func(from, to int) []byte) {
	if s.coders == 1 {
		return
	}
	for other := range s.coders {
		if from, to := r.chunk(other); other != coder && from < to {
			m.appendPeer(from, bases(from, to))
		}
	}
	m.moveTo(r.to, true)
}
