package overlap_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math/rand"
	"os"

	"orcomgo/binning"
	"orcomgo/bins"
	"orcomgo/compress/overlap"
)

// Reads of 100 bases are laid out on the sequence that they were drawn from, which is found again.
func Example() {
	dir, err := os.MkdirTemp("", "overlap")
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
	reads := 0
	for at := 0; at+100 <= len(genome); at += 5 {
		fmt.Fprintf(&text, ">r%d\n%s\n", at, genome[at:at+100])
		reads++
	}
	ctx := context.Background()
	if _, err := binning.Run(
		ctx,
		binning.Config{Inputs: []binning.InputSpec{{Path: "-", Mate: -1}}, Stdin: &text, OutDir: dir},
	); err != nil {
		log.Fatal(err)
	}
	r, err := bins.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()

	all := []overlap.Source{{Input: 0, From: 0, To: uint64(reads)}}
	pg, err := overlap.Build(ctx, r, all, overlap.Config{Threads: 1, Whole: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(reads, "reads on", pg.Len, "bases")
	first, reversed := pg.Place(0)
	second, _ := pg.Place(1)
	if reversed {
		first, second = second, first
	}
	fmt.Println("the second read is", second-first, "bases after the first")
	// Output:
	// 181 reads on 1000 bases
	// the second read is 5 bases after the first
}
