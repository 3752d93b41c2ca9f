package basemodel

import "testing"

// TestVectorsWithoutAVX2: plain Go codes and decodes the vectors, as vector instructions do.
func TestVectorsWithoutAVX2(t *testing.T) {
	defer func(has bool) { hasAVX2 = has }(hasAVX2)
	hasAVX2 = false
	TestVectors(t)
}
