package bwt_test

import (
	"fmt"

	"orcomgo/compress/bwt"
)

// The transform brings together the letters that come before equal letters.
func Example() {
	text := []byte("abracadabra abracadabra")
	transformed := make([]byte, len(text))
	starts, err := bwt.Transform(transformed, text, 2)
	fmt.Printf("%s %d %v\n", transformed, starts, err)
	// Output:
	// arrdd arrccaaaaaaaabbbb [6] <nil>
}
