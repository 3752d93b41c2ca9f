package records_test

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"orcomgo/compress/records"
)

func Example() {
	data := []byte{1, 8} // a header
	for i := range uint32(1000) {
		data = binary.LittleEndian.AppendUint32(data, i)
		data = binary.LittleEndian.AppendUint32(data, 1000000-3*i)
	}
	stream := records.Find(data, 8).Encode(data, nil)
	back, err := records.Decode(stream, len(data))
	fmt.Println(len(data), "bytes in 300 or less:", len(stream) <= 300)
	fmt.Println(bytes.Equal(back, data), err)
	// Output:
	// 8002 bytes in 300 or less: true
	// true <nil>
}
