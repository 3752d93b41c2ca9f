package overlap

import "math/bits"

// placeMode holds the parameters of a search for the places of reads; see search.
type placeMode struct {
	stage             string
	k                 int    // length of the seeds in bases
	sampleMask        uint64 // selects the k-mers that are indexed; see kmerIndex
	seedStep          int    // distance in bases between seeds that are looked up
	maxCandidates     int    // positions of a k-mer that are indexed at most
	basesPerCandidate int    // one candidate per so many bases of a read is tried at most
	basesPerMoreSeed  int    // after the best place was found, one more seed per so many bases of a read is looked up
	goodMismatches    int    // a place with this many mismatches or fewer ends the search
	basesPerMismatch  int    // a place has at most one mismatch per so many bases
	candidatesPerBase int    // if not 0: so many, instead
	most              int    // if not 0: bases of a read that is placed
	spare             int    // if not 0: the bits of a place, which with those of the mismatches are at most those of the bases
}

var (
	exact = placeMode{
		stage:             "placing reads",
		k:                 24,
		sampleMask:        3,
		seedStep:          1,
		maxCandidates:     16,
		basesPerCandidate: 1,
		basesPerMoreSeed:  16,
		goodMismatches:    1,
		basesPerMismatch:  6,
	}
	loose = placeMode{
		stage:             "placing the rest",
		k:                 13,
		sampleMask:        0,
		seedStep:          3,
		maxCandidates:     64,
		basesPerCandidate: 2,
		basesPerMoreSeed:  12,
		goodMismatches:    2,
		basesPerMismatch:  5,
	}
)

// mostShort is how many bases a read has at most for which short seeds are looked up: a longer one with 13 right bases in a row nowhere has
// no place.
const mostShort = 50

// short is how reads of few bases are placed in the end, on a pseudogenome of n bases: with seeds that are by chance at a few of its places
// each, up to as many mismatches as cost about what the bases do.
func short(n int) placeMode {
	mode := loose
	mode.k = shortSeed(n) - 1
	mode.seedStep = 1
	mode.candidatesPerBase = 8
	mode.basesPerMismatch = 4
	mode.most = mostShort
	mode.spare = bits.Len(uint(n)) + 1
	return mode
}
