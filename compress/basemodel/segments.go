package basemodel

// segmentBases is the largest length of a segment, in bases. Segments have models of their own so that they can be coded and decoded
// side by side. Cutting costs bytes: a segment cannot be predicted from the others.
const segmentBases = 1 << 24

// segmentEnds returns the ends of the segments of a sequence of n bases.
func segmentEnds(n int) []int {
	k := max(1, (n+segmentBases-1)/segmentBases)
	ends := make([]int, k)
	for i := range ends {
		ends[i] = int(uint64(n) * uint64(i+1) / uint64(k))
	}
	return ends
}

// A long segment is cut into chunks, which two coders code side by side, alternately. The model of each learns from its own chunks.
// After each round the chunks of the other are entered in its history, where they can be matched.
const (
	chunkBases = 1 << 13 // the largest chunk
	coders     = 2       // of a long segment
)

// TwoCoders is the length from which segments have two coders, in bases, unless the caller says otherwise.
const TwoCoders = 1 << 20

// span is the bases from..to-1 of a segment.
type span struct{ from, to int }

// cutRounds returns the chunks of a segment of n bases, which has two coders from so many bases on, by round and coder. There is at least
// one round.
func cutRounds(n, twoCoders int) [][]span {
	k := 1
	if n >= twoCoders {
		k = coders
	}
	all := make([][]span, 0, n/(k*chunkBases)+1)
	for at := 0; at < n || len(all) == 0; {
		size := min(chunkBases, (n-at+k-1)/k)
		round := make([]span, k)
		for i := range round {
			round[i] = span{at, min(at+size, n)}
			at = round[i].to
		}
		all = append(all, round)
	}
	return all
}

// segment is a segment and how it is cut into chunks.
type segment struct {
	from   int // first base in the sequence
	n      int
	rounds [][]span
}

// newSegment returns segment k of a sequence whose segments end at ends and have two coders from so many bases on.
func newSegment(ends []int, k, twoCoders int) *segment {
	s := &segment{n: ends[k]}
	if k > 0 {
		s.from, s.n = ends[k-1], ends[k]-ends[k-1]
	}
	s.rounds = cutRounds(s.n, twoCoders)
	return s
}

// coders returns how many coders code the segment.
func (s *segment) coders() int { return len(s.rounds[0]) }

// Coders returns how many coders code a sequence of n bases, side by side as far as there are threads. Segments have two coders from so
// many bases on.
func Coders(n, twoCoders int) (count int) {
	ends := segmentEnds(n)
	for k := range ends {
		count += newSegment(ends, k, twoCoders).coders()
	}
	return count
}

// endRound enters the chunks that the other coder coded in a round in the history of coder own's model, and moves the model to the
// coder's next chunk. bases returns the bases of a chunk.
func (s *segment) endRound(m *Model, own, round int, bases func(c span) []byte) {
	if s.coders() == 1 {
		return
	}
	for i, c := range s.rounds[round] {
		if i != own {
			m.appendPeer(c.from, bases(c))
		}
	}
	if own == 0 {
		m.moveTo(s.rounds[round][s.coders()-1].to, true)
	} else if round+1 < len(s.rounds) {
		m.moveTo(s.rounds[round+1][own].from, false)
	}
}
