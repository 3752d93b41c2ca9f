package fmindex_test

import (
	"bytes"
	"fmt"

	"orcomgo/compress/fmindex"
)

// An index finds where a sequence is in a text without going through it.
func Example() {
	text := []byte{0, 1, 2, 3, 3, 2, 1, 0, 1, 2, 3} // ACGTTGCACGT
	coverage := fmindex.NewCoverage(len(text), fmindex.Window)
	content := fmindex.Content{Text: text, Coverage: coverage, Literals: new(fmindex.Literals), Begins: fmindex.NewBegins(len(text))}
	x, err := fmindex.Build(content, 1)
	if err != nil {
		panic(err)
	}
	file := x.Bytes() // which may have been a file meanwhile
	x, err = fmindex.Open(file, bytes.NewReader(file), int64(len(file)))
	if err != nil {
		panic(err)
	}
	rows := make([]fmindex.Rows, 1)
	x.FindAll([][]byte{{1, 2, 3}}, rows) // CGT
	places := rows[0].Append(nil, rows[0].Count())
	err = x.Locate(places)
	fmt.Println(rows[0].Count(), min(places[0], places[1]), max(places[0], places[1]), err)
	// Output:
	// 2 1 8 <nil>
}
