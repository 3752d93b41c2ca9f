package rangecoder_test

import (
	"fmt"

	"orcomgo/compress/rangecoder"
)

// An adaptive bit learns that nearly all bits are 0. The decoder's model must make the same steps.
func Example() {
	const n, rate = 8000, 5
	e := rangecoder.NewEncoder(nil)
	model := rangecoder.NewBit
	for i := range n {
		bit := 0
		if i%100 == 0 {
			bit = 1
		}
		e.EncodeBit(bit, &model, rate)
	}
	stream := e.Finish()
	fmt.Println(n/8, "bytes of bits, in 125 or less:", len(stream) <= 125)

	d := rangecoder.NewDecoder(stream)
	model = rangecoder.NewBit
	ones := 0
	for range n {
		ones += d.DecodeBit(&model, rate)
	}
	fmt.Println(ones, d.Err())
	// Output:
	// 1000 bytes of bits, in 125 or less: true
	// 80 <nil>
}

// A Tree codes symbols of several bits.
func ExampleTree() {
	e := rangecoder.NewEncoder(nil)
	t := rangecoder.NewTree(8)
	for _, c := range []byte("ACGTACGT") {
		t.Encode(e, uint32(c), 4)
	}
	d := rangecoder.NewDecoder(e.Finish())
	t = rangecoder.NewTree(8)
	for range 8 {
		fmt.Printf("%c", t.Decode(d, 4))
	}
	fmt.Println()
	// Output:
	// ACGTACGT
}
