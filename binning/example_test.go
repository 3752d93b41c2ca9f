package binning_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"orcomgo/binning"
	"orcomgo/bins"
)

// Run writes bins; Signatures lists them.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "binning")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	text := ">r1\nCAGTTACGAACGTTGCAGGATCCATTGCAGACTGG\n>r2\nTTTTTTTTTTTTTTTTTTTT\n"
	summary, err := binning.Run(context.Background(), binning.Config{
		Inputs: []binning.InputSpec{{Path: "-", Mate: -1}}, // "-" reads Stdin; Mate -1: not a pair
		Stdin:  strings.NewReader(text),
		OutDir: dir,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(summary.Records, "records,", summary.Bases, "bases,", summary.TextBytes, "bytes")

	r, err := bins.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	if err := binning.Signatures(r, os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 2 records, 55 bases, 65 bytes
	// AACGTTGC	1	35
	// N	1	20
}

// A wrong record is named, and no archive is made.
func ExampleRecordError() {
	dir, err := os.MkdirTemp("", "binning")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	_, err = binning.Run(context.Background(), binning.Config{
		Inputs: []binning.InputSpec{{Path: "-", Mate: -1}},
		Stdin:  strings.NewReader("@r1\nACGT\n+\nIIII\n@r2\nACGT\n+\nIII\n"),
		OutDir: dir,
	})
	var wrong *binning.RecordError
	if errors.As(err, &wrong) {
		fmt.Println(wrong.File, wrong.Record)
	}
	files, _ := os.ReadDir(dir)
	fmt.Println(len(files), "files")
	// Output:
	// stdin 2
	// 0 files
}
