package seqs_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math/rand"
	"os"

	"orcomgo/binning"
	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/seqs"
)

// The sequences of an archive are coded in one slice, given the bins, and decoded without them.
func Example() {
	dir, err := os.MkdirTemp("", "seqs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	rng := rand.New(rand.NewSource(1))
	genome := make([]byte, 1000)
	for i := range genome {
		genome[i] = "ACGT"[rng.Intn(4)]
	}
	var text bytes.Buffer
	var reads []byte
	const n, length = 200, 100
	for i := range n {
		at := rng.Intn(len(genome) - length)
		fmt.Fprintf(&text, ">r%d\n%s\n", i, genome[at:at+length])
		reads = append(reads, genome[at:at+length]...)
	}
	ctx := context.Background()
	if _, err := binning.Run(ctx, binning.Config{Inputs: []binning.InputSpec{{Path: "-", Mate: -1}}, Stdin: &text, OutDir: dir}); err != nil {
		log.Fatal(err)
	}
	r, err := bins.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()

	encoder, err := seqs.Build(ctx, r, seqs.Config{Threads: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer encoder.Close()
	column := seqs.Column{Records: n, Lengths: record.Lengths{Fixed: length}}
	slice, err := encoder.EncodeSlice(context.Background(), &column, nil)
	if err != nil {
		log.Fatal(err)
	}
	shared := encoder.Shared()

	decoder := seqs.NewDecoder(shared, seqs.Config{Threads: 1})
	decoded, err := decoder.DecodeSlice(slice, &column, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(reads), "bases, equal:", bytes.Equal(decoded[0], reads))
	fmt.Println("fewer bytes than genome bases:", len(slice)+len(bytes.Join(shared, nil)) < len(genome))
	// Output:
	// 20000 bases, equal: true
	// fewer bytes than genome bases: true
}
