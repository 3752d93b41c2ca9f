package scan_test

import (
	"fmt"

	"orcomgo/compress/scan"
)

// A sequence is found with one base that differs.
func Example() {
	s, err := scan.New([]scan.Sequence{{Bases: []byte{0, 1, 2, 3, 3, 2}, Most: 1}}) // ACGTTG
	if err != nil {
		panic(err)
	}
	s.Scan([]byte("TTACGATGNNACGTTG"), func(m scan.Match) bool {
		fmt.Println(m.At, m.Differences)
		return true
	})
	// Output:
	// 2 1
	// 10 0
}
