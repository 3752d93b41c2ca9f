package compress_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"orcomgo/binning"
	"orcomgo/bins/commit"
	"orcomgo/compress"
)

// A run is binned, packed, verified and restored.
func Example() {
	dir, err := os.MkdirTemp("", "compress")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	text := "@r1\nACGTTGCAAGGCTTACCATGNACGTTAGCA\n+\n" + strings.Repeat("I", 30) + "\n"

	_, err = binning.Run(ctx, binning.Config{
		Inputs: []binning.InputSpec{{Path: "-", Mate: -1}}, // "-" reads Stdin
		Stdin:  strings.NewReader(text),
		OutDir: dir,
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := compress.Pack(ctx, dir, compress.PackOptions{Threads: 2}); err != nil {
		log.Fatal(err)
	}

	archive, err := commit.One(dir)
	if err != nil {
		log.Fatal(err)
	}
	info, err := compress.Info(archive)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.Name, info.Stage, info.Records, "record,", info.Bases, "bases")
	files, err := compress.Verify(ctx, archive, compress.VerifyOptions{Threads: 2})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		fmt.Println(f.Name, f.OK, f.Checked)
	}
	var restored bytes.Buffer
	if _, err := compress.Unpack(ctx, dir, compress.UnpackOptions{Stream: &restored}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(restored.String() == text)
	// Output:
	// stdin packed 1 record, 30 bases
	// stdin.fastq true SHA-256
	// true
}
