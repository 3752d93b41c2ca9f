package packing

import (
	"crypto/sha256"
	"errors"
	"testing"

	"orcomgo/bins/parse"
	"orcomgo/compress/archive"
)

// TestEarlyTextsDiffer: a text that comes back and is not the one that was hashed is an error.
func TestEarlyTextsDiffer(t *testing.T) {
	man := &archive.Manifest{Inputs: make([]archive.Input, 2),
		Slices: []archive.Slice{{Records: 7}, {From: 7, Records: 3, First: archive.Member{Input: 0}, Mate: &archive.Member{Input: 1}}}}
	texts := [][2]textSum{{{1, 70}, {}}, {{2, 30}, {3, 30}}}
	early := newEarlyTexts(man)
	copy(early.slices, texts)
	if got, err := early.compare(man, texts); err != nil || len(got) != 2 || got[0].SHA256 != sha256.Sum256(nil) {
		t.Fatalf("equal texts: %x, %v", got, err)
	}
	for _, x := range []*textSum{&texts[0][0], &texts[1][0], &texts[1][1]} {
		for _, field := range []*uint64{&x.hash, &x.size} {
			*field++
			if _, err := early.compare(man, texts); !errors.Is(err, parse.ErrCorrupt) {
				t.Errorf("another text: %v", err)
			}
			*field--
		}
	}
}
