package overlap

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"orcomgo/bases"
)

// tagCounts are how often reads occur that are too short for contigs, of a sample of all reads. Those that occur often, such as the indexes
// of samples, are tags: they become part of the pseudogenome, and reads with errors are placed on them.
type tagCounts struct {
	counts map[tag]int
	reads  int // of any length
}

// tag is a read of at least leastTag and less than seedLen bases.
type tag struct {
	word uint64 // bases as bases.Chunk
	n    int
}

const (
	leastTag = 6
	// tagSample is how many reads are looked at, about.
	tagSample = 1 << 16
	// tagShare: one read in so many is equal to a tag, at least.
	tagShare = 512
)

// add counts reads of a share, of `total` reads in all shares.
func (t *tagCounts) add(rd *Reads, total int) {
	if t.counts == nil {
		t.counts = make(map[tag]int)
	}
	for i := 0; i < rd.Count(); i += total/tagSample + 1 {
		t.reads++
		if n := rd.len(i); n >= leastTag && n < seedLen && !rd.hasNonACGT(i) {
			t.counts[tag{bases.Chunk(rd.bases(i), 0) & bases.First(n), n}]++
		}
	}
}

// tags returns the tags, the most frequent ones first, but for those that are others with an error.
func (t *tagCounts) tags() (found []tag) {
	all := slices.SortedFunc(maps.Keys(t.counts), func(a, b tag) int {
		return cmp.Or(cmp.Compare(t.counts[b], t.counts[a]), cmp.Compare(a.n, b.n), cmp.Compare(a.word, b.word))
	})
	for _, x := range all {
		if n := t.counts[x]; n < 2 || n*tagShare < t.reads {
			break
		}
		if !slices.ContainsFunc(found, x.near) {
			found = append(found, x)
		}
	}
	return found
}

// near reports whether the tags differ in one base at most.
func (t tag) near(o tag) bool {
	x := bases.Differing(t.word, o.word)
	return t.n == o.n && x&(x-1) == 0
}

// packed returns the bases of the tag, and bases.Pad.
func (t tag) packed() []byte {
	p := binary.LittleEndian.AppendUint64(nil, t.word)
	return append(p, make([]byte, bases.Pad)...)
}
