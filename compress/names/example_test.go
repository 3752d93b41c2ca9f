package names_test

import (
	"bytes"
	"fmt"
	"log"

	"orcomgo/compress/names"
)

// The names of second mates are coded given those of the first.
func Example() {
	const pairs = 1000
	var first, second []byte
	for i := range pairs {
		first = fmt.Appendf(first, "M01:7:FC:1:1101:%d:%d 1:N:0:ACGT\n", 1000+i*7%4000, 1000+i*3)
		second = fmt.Appendf(second, "M01:7:FC:1:1101:%d:%d 2:N:0:ACGT\n", 1000+i*7%4000, 1000+i*3)
	}
	stream := names.Encode(first, pairs)
	mates := new(names.Encoder).Encode(second, first, pairs, nil)
	fmt.Println("mates in 20 bytes or less:", len(mates) <= 20)

	a, err := names.Decode(stream, pairs, 1<<20) // 1 MiB of names at most
	if err != nil {
		log.Fatal(err)
	}
	b, err := new(names.Decoder).Decode(mates, a, pairs, pairs, 1<<20)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(bytes.Equal(a, first), bytes.Equal(b, second))
	// Output:
	// mates in 20 bytes or less: true
	// true true
}
