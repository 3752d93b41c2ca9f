package nameranges

import (
	"testing"
)

// TestWordOrder: words are in the order of docs/FORMAT.md, each less than all that follow it.
func TestWordOrder(t *testing.T) {
	words := []string{"", " ", "/", "0", "0:", "00", "1", "1/1", "1/2", "01", "9", "10", "10/1", "010", "99999999999999999999998",
		"99999999999999999999999", "099999999999999999999999", ":", "a", "a1:b", "a01", "a2", "a2:9", "a10:8", "b"}
	for i, a := range words {
		for j, b := range words {
			want := 0
			switch {
			case i < j:
				want = -1
			case i > j:
				want = 1
			}
			if got := Compare([]byte(a), []byte(b)); got != want {
				t.Errorf("%q and %q: %d, want %d", a, b, got, want)
			}
		}
	}
}
