package report

import (
	"math/bits"

	"github.com/zeebo/xxh3"
)

// Two reads are duplicates of each other if their sequences are equal; of reads longer than wholeUpTo bases the first comparedBases
// are compared, since long reads nearly always have errors towards their ends. FastQC counts by the same rule.
const (
	wholeUpTo     = 75
	comparedBases = 50
)

// compared returns what of a read is compared.
func compared(bases []byte) []byte {
	if len(bases) > wholeUpTo {
		return bases[:comparedBases]
	}
	return bases
}

func hashRead(bases []byte) uint64 { return xxh3.Hash(compared(bases)) }

// hashPair returns a hash of both mates of a pair.
func hashPair(first, second []byte) uint64 {
	return xxh3.HashSeed(compared(second), hashRead(first))
}

// maxSampled is how many different sequences a sample holds at most.
const maxSampled = 200_000

// sequenceSample counts how often each of a sample of sequences occurs. The sample is all sequences whose hash ends in so many zero
// bits that there are at most maxSampled of them, so it is the same in whatever order and portions the sequences come.
type sequenceSample struct {
	counts map[uint64]uint64 // by hash
	zeros  int               // bits at the end of the hashes
}

// add counts n sequences, if their hash is in the sample.
func (s *sequenceSample) add(hash, n uint64) {
	if bits.TrailingZeros64(hash) < s.zeros {
		return
	}
	if s.counts == nil {
		s.counts = make(map[uint64]uint64)
	}
	s.counts[hash] += n
	for len(s.counts) > maxSampled {
		s.thin(s.zeros + 1)
	}
}

// thin leaves the sequences whose hash ends in so many zero bits.
func (s *sequenceSample) thin(zeros int) {
	s.zeros = zeros
	for h := range s.counts {
		if bits.TrailingZeros64(h) < zeros {
			delete(s.counts, h)
		}
	}
}

func (s *sequenceSample) merge(d *sequenceSample) {
	if d.zeros > s.zeros {
		s.thin(d.zeros)
	}
	for h, n := range d.counts {
		s.add(h, n)
	}
}

// duplicateLevels are the least numbers of occurrences of each level; the last level has no end.
var duplicateLevels = []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 50, 100, 500, 1000, 5000, 10000}

// Duplication says how often the same sequence occurs.
type Duplication struct {
	// Sampled are the reads of the sample, Distinct the different sequences among them. OneIn is the share of the sequences that were
	// sampled: 1 means all of them.
	Sampled  uint64 `json:"sampled"`
	Distinct uint64 `json:"distinct"`
	OneIn    uint64 `json:"sampled_one_in"`
	// Duplicates is the share of the reads that would be left out if one of each sequence were kept, in percent.
	Duplicates float64          `json:"duplicates_percent"`
	Levels     []DuplicateLevel `json:"levels"`
}

// DuplicateLevel are the sequences that occur From to To times. To is 0 for the last level, which has no end.
type DuplicateLevel struct {
	From    uint64  `json:"from"`
	To      uint64  `json:"to"`
	Reads   uint64  `json:"reads"`
	Percent float64 `json:"percent"` // of the reads
}

// result returns nil if there are no sequences.
func (s *sequenceSample) result() *Duplication {
	if len(s.counts) == 0 {
		return nil
	}
	d := &Duplication{Distinct: uint64(len(s.counts)), OneIn: 1 << s.zeros}
	for i, from := range duplicateLevels {
		l := DuplicateLevel{From: from}
		if i+1 < len(duplicateLevels) {
			l.To = duplicateLevels[i+1] - 1
		}
		d.Levels = append(d.Levels, l)
	}
	for _, n := range s.counts {
		level := len(duplicateLevels) - 1
		for n < duplicateLevels[level] {
			level--
		}
		d.Levels[level].Reads += n
		d.Sampled += n
	}
	for i := range d.Levels {
		d.Levels[i].Percent = percent(d.Levels[i].Reads, d.Sampled)
	}
	d.Duplicates = percent(d.Sampled-d.Distinct, d.Sampled)
	return d
}

// percent returns which share of a whole a part is; 0 of nothing.
func percent(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}
