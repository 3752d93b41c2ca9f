package workers

import (
	"testing"
)

func TestShare(t *testing.T) {
	for _, c := range [][4]uint64{{100, 1, 4, 25}, {1 << 63, 1 << 62, 1 << 63, 1 << 62}, {5, 0, 0, 0}, {7, 3, 3, 7}} {
		if got := Share(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("share%v = %d", c, got)
		}
	}
}
