package source

import (
	"testing"

	"orcomgo/compress/archive"
	"orcomgo/compress/workers"
)

// TestKeptNames: of decoded names as many bytes are kept as memory allows, those that were asked for last.
func TestKeptNames(t *testing.T) {
	if little, usual := keptNames(128<<20), keptNames(0); little != 8<<20 || usual != 64<<20 {
		t.Errorf("%d and %d bytes", little, usual)
	}
	l := &sliceNames{pool: workers.NewPool(1), most: 100, models: 9}
	s := &archive.Slice{Records: 9}
	for i := range 5 {
		l.decoded.Get(namesKey{s, 0, i}, nil, func() (*decodedNames, error) { return &decodedNames{text: make([]byte, 40)}, nil })
		l.once(namesKey{s, 0, i}, nil, nil, 0)
	}
	for i := range 5 {
		if kept := l.decoded.Has(namesKey{s, 0, i}); kept != (i >= 3) {
			t.Errorf("names %d: kept %v", i, kept)
		}
	}
}
