package largepages

import "testing"

func TestUncleared(t *testing.T) {
	for _, n := range []int{0, 1, 100, 5000, 3 << 20} {
		s := Uncleared(n)
		if len(s) != n {
			t.Fatalf("%d bytes instead of %d", len(s), n)
		}
		for i := range s {
			s[i] = byte(i)
		}
		other := Uncleared(n)
		for i := range other {
			other[i] = 255
		}
		for i := range s {
			if s[i] != byte(i) {
				t.Fatalf("byte %d of %d is in both", i, n)
			}
		}
	}
}
