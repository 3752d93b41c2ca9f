package minimizer_test

import (
	"fmt"

	"orcomgo/bases"
	"orcomgo/minimizer"
)

// A read and its reverse complement have the same signature; one of them is stored reversed.
func Example() {
	for _, read := range []string{
		"CAGTTACGAACGTTGCAGGATCCATTGCAGACTGG",
		"CCAGTCTGCAATGGATCCTGCAACGTTCGTAACTG",
		"TTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTT",
	} {
		packed := make([]byte, bases.PackedLen(len(read))+minimizer.Pad)
		for i := range len(read) {
			bases.Set(packed, i, bases.Code(read[i]))
		}
		signature, position, reverse := minimizer.FindPacked(packed, len(read), nil)
		fmt.Println(minimizer.Letters(signature), position, reverse)
	}
	// Output:
	// AACGTTGC 8 false
	// AACGTTGC 8 true
	// N 0 false
}
