package blocksort_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"orcomgo/compress/blocksort"
)

func Example() {
	text := strings.Repeat("the reads of lane 1 passed, the reads of lane 2 failed\n", 200)

	var stream bytes.Buffer
	w, err := blocksort.NewWriter(&stream, blocksort.WithBlockSize(1<<20))
	if err != nil {
		panic(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	fmt.Println(len(text), "bytes in 160 or less:", stream.Len() <= 160)

	r, err := blocksort.NewReader(&stream)
	if err != nil {
		panic(err)
	}
	back, err := io.ReadAll(r)
	fmt.Println(string(back) == text, err)
	// Output:
	// 11000 bytes in 160 or less: true
	// true <nil>
}
