package entropy_test

import (
	"bytes"
	"fmt"
	"log"

	"orcomgo/bins/entropy"
)

// Qualities are coded given the one before; names by what differs from the line before.
func Example() {
	quals := bytes.Repeat([]byte("FFFFFFFFFF:FFFFFF,FFFFFFFF:::FFFF"), 300)
	var names []byte
	for i := range 1000 {
		names = fmt.Appendf(names, "M01:7:FC:1:1101:%d:%d 1:N:0:ACGT\n", 1000+i*3, 1000+i*7%4000)
	}
	var e entropy.Encoder
	codedQuals := e.AppendStream(nil, quals, true)
	codedNames := e.AppendNames(nil, names)
	fmt.Printf("%d qualities in less than a fifth: %v\n", len(quals), len(codedQuals) < len(quals)/5)
	fmt.Printf("%d bytes of names in less than a tenth: %v\n", len(names), len(codedNames) < len(names)/10)

	// The lengths are known from elsewhere.
	var d entropy.Decoder
	q, n := make([]byte, len(quals)), make([]byte, len(names))
	if err := d.Stream(q, codedQuals); err != nil {
		log.Fatal(err)
	}
	if err := d.Names(n, codedNames); err != nil {
		log.Fatal(err)
	}
	fmt.Println(bytes.Equal(q, quals), bytes.Equal(n, names))
	// Output:
	// 9900 qualities in less than a fifth: true
	// 37000 bytes of names in less than a tenth: true
	// true true
}
