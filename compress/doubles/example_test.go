package doubles_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"orcomgo/compress/doubles"
)

func Example() {
	var data []byte
	for i := range 20000 {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(float64(i*i)/100))
	}
	stream := doubles.Encode(data, doubles.Layout{Width: 8, Floats: true})
	back, err := doubles.Decode(stream, len(data))
	fmt.Println(len(data), "bytes in 300 or less:", len(stream) <= 300)
	fmt.Println(bytes.Equal(back, data), err)
	// Output:
	// 160000 bytes in 300 or less: true
	// true <nil>
}
