package rangecoder_test

import (
	"fmt"

	"orcomgo/compress/rangecoder"
)

// Bits that are 1 once in a hundred cost a twelfth of a bit each, if the coder is given that probability. The decoder
// must be given the same.
func Example() {
	const n, p = 8000, 65536 / 100
	e := rangecoder.NewEncoder(nil)
	for i := range n {
		bit := 0
		if i%100 == 0 {
			bit = 1
		}
		e.Encode(bit, p)
	}
	stream := e.Finish()
	fmt.Println(n/8, "bytes of bits, in 85 or less:", len(stream) <= 85)

	d := rangecoder.NewDecoder(stream)
	ones := 0
	for range n {
		ones += d.Decode(p)
	}
	fmt.Println(ones, d.Err())
	// Output:
	// 1000 bytes of bits, in 85 or less: true
	// 80 <nil>
}
