package general_test

import (
	"fmt"
	"strings"

	"orcomgo/compress/general"
)

func Example() {
	text := strings.Repeat("the reads of lane 1 passed, the reads of lane 2 failed\n", 200)
	stream := general.Encode([]byte(text))
	fmt.Println(len(text), "bytes in 160 or less:", len(stream) <= 160)

	back, err := general.Decode(stream, len(text))
	fmt.Println(string(back) == text, err)
	// Output:
	// 11000 bytes in 160 or less: true
	// true <nil>
}
