package quals_test

import (
	"bytes"
	"fmt"
	"log"

	"orcomgo/bins/record"
	"orcomgo/compress/quals"
)

// The lengths of the reads are not in the stream: decoding needs them.
func Example() {
	column := quals.Input{
		Quals:   bytes.Repeat([]byte("IIIIIIFFF#"), 1000), // 1000 reads of 10 bases
		Lengths: record.Lengths{Fixed: 10},
		Records: 1000,
	}
	stream := quals.Encode(column)
	decoded, err := quals.Decode(stream, quals.Input{Lengths: column.Lengths, Records: column.Records})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(column.Quals), "bytes, a twentieth or less:", len(stream) <= 500, "equal:", bytes.Equal(decoded, column.Quals))
	// Output:
	// 10000 bytes, a twentieth or less: true equal: true
}
