package minimizer_test

import (
	"fmt"

	"orcomgo/minimizer"
)

// A read and its reverse complement have the same signature; one of them is stored reversed.
func Example() {
	for _, read := range []string{
		"CAGTTACGAACGTTGCAGGATCCATTGCAGACTGG",
		"CCAGTCTGCAATGGATCCTGCAACGTTCGTAACTG",
		"TTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTT",
	} {
		signature, position, reverse := minimizer.Reference([]byte(read), minimizer.K, minimizer.Skip)
		fmt.Println(minimizer.Letters(signature), position, reverse)
	}
	// Output:
	// AACGTTGC 8 false
	// AACGTTGC 8 true
	// N 0 false
}
