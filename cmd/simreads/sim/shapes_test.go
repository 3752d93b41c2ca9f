package sim

import (
	"bytes"
	"testing"
)

func TestShapes(t *testing.T) {
	for _, name := range Shapes() {
		for _, length := range []int{100, 31} {
			next, again := Shape(name, 50, length, 7), Shape(name, 50, length, 7)
			for i := range 50 {
				r := next()
				if len(r) != length || len(bytes.Trim(r, "ACGTN")) != 0 {
					t.Fatalf("%s: read %d is %q, want %d letters", name, i, r, length)
				}
				if !bytes.Equal(r, again()) {
					t.Fatalf("%s: read %d is not the same the second time", name, i)
				}
			}
		}
	}
	var b bytes.Buffer
	if err := WriteShape(&b, "tandem", 3, 10, 1); err != nil || bytes.Count(b.Bytes(), []byte("\n")) != 12 {
		t.Errorf("%q, %v", b.Bytes(), err)
	}
}
