package bins_test

import (
	"fmt"
	"log"
	"os"

	"orcomgo/bases"
	"orcomgo/bins"
	"orcomgo/bins/record"
)

// One block of two reads without a signature, so both are in the N bin. (Package binning makes blocks from text.)
func Example() {
	dir, err := os.MkdirTemp("", "bins")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	block := bins.Block{
		Records: 2,
		TextLen: 22,
		Lengths: record.Lengths{Fixed: 4},
		Bins:    []bins.Bin{{Signature: bins.NBin, Reads: 2, Bases: 8}},
		Order:   []uint32{0, 1},
		Place:   []uint32{0, 0},
		Packed:  []byte{0b11_10_01_00, 0b00_00_00_11}, // ACGT and TAAA: the first base is in the lowest bits
		Names:   []byte("a\nb\n"),
		Quals:   []byte("IIIIFFFF"),
	}
	w, err := bins.Create(dir, "run", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer w.Abort() // does nothing after Commit
	oneByOne := func(n int, task func(i int)) {
		for i := range n {
			task(i)
		}
	}
	var encoded bins.Encoded
	if err := bins.EncodeBlock(&encoded, &block, oneByOne); err != nil {
		log.Fatal(err)
	}
	w.Reserve(&encoded)
	if err := w.WriteReserved(&encoded, oneByOne); err != nil {
		log.Fatal(err)
	}
	inputs := []record.Input{{Name: "run.fastq", Mate: -1, Records: 2, Bytes: 22}}
	if err := w.Commit(record.Options{BlockSize: 1 << 20}, inputs); err != nil {
		log.Fatal(err)
	}

	r, err := bins.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	var got bins.Block
	if err := r.ReadColumns(0, bins.WantNames|bins.WantQuals, &got); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d records, names %q, qualities %q\n", r.Meta().Inputs[0].Name, got.Records, got.Names, got.Quals)
	if err := r.ReadBins(0, 0, bins.NBin, &got); err != nil { // all bins of block 0
		log.Fatal(err)
	}
	for i, read := range got.Order {
		fmt.Printf("read %d: %s\n", read, bases.AppendLetters(nil, got.Packed[i:], 4, false))
	}
	// Output:
	// run.fastq: 2 records, names "a\nb\n", qualities "IIIIFFFF"
	// read 0: ACGT
	// read 1: TAAA
}
