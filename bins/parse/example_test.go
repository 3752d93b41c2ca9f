package parse_test

import (
	"fmt"

	"orcomgo/bins/parse"
)

// A Cursor checks every count before it is used. After a failure it returns zeros, so one check at the end is enough.
func ExampleCursor() {
	c := parse.Cursor{Rest: []byte{3, 'r', 'u', 'n', 0xff, 0x01}} // a string and the number 255
	fmt.Println(c.Text(), c.Uvarint(), c.Done())

	c = parse.Cursor{Rest: []byte{100, 'r'}} // 100 bytes are announced, one is there
	fmt.Printf("%q %v %s\n", c.Text(), c.Failed(), c.Reason)
	// Output:
	// run 255 true
	// "" true 100 bytes of text in 1 bytes
}
