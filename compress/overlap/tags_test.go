package overlap

import (
	"slices"
	"testing"

	"orcomgo/bases"
)

// TestTags: of short reads, those that occur often are tags, but not with an error.
func TestTags(t *testing.T) {
	read := func(s string) tag {
		var x tag
		for _, c := range []byte(s) {
			x.word |= uint64(bases.Code(c)&3) << (2 * x.n)
			x.n++
		}
		return x
	}
	c := tagCounts{reads: 10 * tagShare, counts: map[tag]int{
		read("ACGTACGTAC"): 5000, read("ACGTACGTAA"): 60, read("TTTTACGTAC"): 10, read("GGGTACGTAC"): 9,
		read("ACGTACGTA"): 10, read("ACGAACGTA"): 10, read("A"): 1,
	}}
	want := []tag{read("ACGTACGTAC"), read("ACGAACGTA"), read("TTTTACGTAC")}
	if got := c.tags(); !slices.Equal(got, want) {
		t.Errorf("tags %v, want %v", got, want)
	}
}
