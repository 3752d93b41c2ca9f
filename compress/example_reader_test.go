package compress_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"orcomgo/binning"
	"orcomgo/compress"
)

// archived archives a pair of files of three records each and returns the directory.
func archived() string {
	dir, err := os.MkdirTemp("", "compress")
	if err != nil {
		log.Fatal(err)
	}
	var specs []binning.InputSpec
	for mate := range 2 {
		text := ""
		for i, bases := range []string{"ACGTTGCAAGGCTTACC", "TTGCATGNACGTT", "GGCATTA"} {
			text += fmt.Sprintf("@r%d %d:N:0\n%s\n+\n%s\n", i+1, mate+1, bases[mate:], strings.Repeat("I", len(bases)-mate))
		}
		path := fmt.Sprintf("%s/run_R%d.fastq", dir, mate+1)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			log.Fatal(err)
		}
		specs = append(specs, binning.InputSpec{Path: path, Mate: 1 - mate, First: mate == 0})
	}
	if _, err := binning.Run(context.Background(), binning.Config{Inputs: specs, OutDir: dir}); err != nil {
		log.Fatal(err)
	}
	if _, err := compress.Pack(context.Background(), dir, compress.PackOptions{Threads: 2}); err != nil {
		log.Fatal(err)
	}
	return dir
}

// This program counts the bases of an archive.
func ExampleReader_Records() {
	dir := archived()
	defer os.RemoveAll(dir)

	r, err := compress.Open(dir, compress.ReaderOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	counts := make([]int, len(r.Inputs()))
	for rec, err := range r.Records(context.Background(), compress.Query{Want: compress.WantBases}) {
		if err != nil {
			log.Fatal(err)
		}
		counts[rec.Input] += len(rec.Bases)
	}
	for i, in := range r.Inputs() {
		fmt.Println(in.Name, counts[i])
	}
	// Output:
	// run_R1.fastq 37
	// run_R2.fastq 34
}

// A range of the records of one input, with names, bases and qualities.
func ExampleQuery() {
	dir := archived()
	defer os.RemoveAll(dir)

	r, err := compress.Open(dir, compress.ReaderOptions{Threads: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	q := compress.Query{Inputs: []int{0}, Records: []compress.RecordRange{{From: 1, To: 3}}}
	for rec, err := range r.Records(context.Background(), q) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d %s %s %s\n", rec.Number, rec.Name, rec.Bases, rec.Quals)
	}
	// Output:
	// 1 r2 1:N:0 TTGCATGNACGTT IIIIIIIIIIIII
	// 2 r3 1:N:0 GGCATTA IIIIIII
}

// Names are searched first and alone; then only the slices with records that were found are decoded. The mates of a pair come together.
func ExampleReader_MatchNames() {
	dir := archived()
	defer os.RemoveAll(dir)

	r, err := compress.Open(dir, compress.ReaderOptions{Threads: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	ctx := context.Background()
	found, err := r.MatchNames(ctx, compress.Query{}, func(name []byte) bool { return bytes.HasPrefix(name, []byte("r2 ")) })
	if err != nil {
		log.Fatal(err)
	}
	for batch, err := range r.Batches(ctx, compress.Query{Records: found[0]}) {
		if err != nil {
			log.Fatal(err)
		}
		for i := range batch.Len() {
			fmt.Printf("%s %s\n", batch.Record(i).Bases, batch.Mate.Record(i).Bases)
		}
	}
	// Output:
	// TTGCATGNACGTT TGCATGNACGTT
}
