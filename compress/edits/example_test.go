package edits_test

import (
	"fmt"
	"log"

	"orcomgo/compress/edits"
)

// A read lies on the other strand of the shared sequence, without one of its bases; its first two bases are literal.
func Example() {
	shared := []byte{2, 0, 3, 3, 0, 1, 0, 1, 1, 1, 1, 3, 2} // GATTACACCCCTG
	options := edits.Options{
		Bases:  uint64(len(shared)),
		Source: func(dst []byte, pos, n int) []byte { return append(dst, shared[pos:pos+n]...) },
	}
	const length = 10
	encoder := edits.NewEncoder(options)
	encoder.Add(length, []edits.Piece{
		{Start: 2, End: 10, Place: 3, Length: 9, Reverse: true, Edits: []edits.Edit{{At: 2, Kind: edits.Deletion}}},
	}, nil)
	section := encoder.Finish()

	decoder, err := edits.NewDecoder(section, options, length)
	if err != nil {
		log.Fatal(err)
	}
	read := make([]byte, length)
	literals, err := decoder.Next(read, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, b := range read {
		fmt.Printf("%c", "ACGT"[b])
	}
	fmt.Println(" but for", literals, decoder.Finish())
	// Output:
	// AAAGGGTGTA but for [{0 2}] <nil>
}
