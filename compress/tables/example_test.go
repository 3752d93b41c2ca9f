package tables_test

import (
	"fmt"
	"strings"

	"orcomgo/compress/tables"
)

func Example() {
	var b strings.Builder
	b.WriteString("sample,reads,share\n")
	for i := range 200 {
		fmt.Fprintf(&b, "S%d,%d,%.2f\n", i+1, 100*i, float64(i)/2)
	}
	stream := tables.Encode([]byte(b.String()), nil)
	text, err := tables.Decode(stream, b.Len())
	fmt.Println(b.Len(), "bytes in 400 or less:", len(stream) <= 400)
	fmt.Println(string(text) == b.String(), err)
	// Output:
	// 3179 bytes in 400 or less: true
	// true <nil>
}
