package archive_test

import (
	"fmt"
	"log"

	"orcomgo/bins/commit"
	"orcomgo/compress/archive"
)

// The manifest says what an archive holds and where its sections are.
func Example() {
	e, err := commit.One("../../testdata/golden/pair")
	if err != nil {
		log.Fatal(err)
	}
	r, err := archive.OpenEntry(e)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	m := r.Manifest()
	for _, in := range m.Inputs {
		fmt.Println(in.Name, in.Records, "records, mates in input", in.Mate)
	}
	for _, s := range m.Slices {
		names, err := r.Read(s.First.Sections[archive.Names], nil, "names") // still coded: see package names
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(s.Records, "records from", s.From, "whole section:", uint64(len(names)) == s.First.Sections[archive.Names].Len)
	}
	// Output:
	// pair_1.fastq 17 records, mates in input 1
	// pair_2.fastq 17 records, mates in input 0
	// 17 records from 0 whole section: true
}
