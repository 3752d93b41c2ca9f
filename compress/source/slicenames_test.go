package source

import "testing"

// TestKeptNames: of decoded names as many bytes are kept as memory allows, the last ones.
func TestKeptNames(t *testing.T) {
	if little, usual := keptNames(128<<20), keptNames(0); little != 8<<20 || usual != 64<<20 {
		t.Errorf("%d and %d bytes", little, usual)
	}
	l := &sliceNames{most: 100}
	done := make(chan struct{})
	close(done)
	for i := range 5 {
		l.last = append(l.last, &namesEntry{first: i, done: done, names: make([]byte, 40)})
	}
	l.drop(9)
	if len(l.last) != 2 || l.last[0].first != 3 {
		t.Errorf("%d entries are kept", len(l.last))
	}
}
