package basemodel

import "testing"

// TestProductAsVectors: product is what a vector instruction gives, for all extremes: that of -32768 and -32768 is -32768.
func TestProductAsVectors(t *testing.T) {
	for _, c := range []struct{ a, b, want int16 }{
		{-32768, -32768, -32768}, {-32768, 32767, -32767}, {32767, 32767, 32766}, {-32768, 1, -1}, {-32768, -1, 1}, {16384, 1, 1}, {16383, 1, 0},
		{-16384, 1, 0}, {-16385, 1, -1}, {0, -32768, 0},
	} {
		if got := product(c.a, c.b); got != c.want {
			t.Errorf("%d times %d is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
