package sidefiles_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"orcomgo/compress/sidefiles"
)

func Example() {
	file := func(name, content string) sidefiles.File {
		return sidefiles.File{Name: name, Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(content)), nil
		}}
	}
	var blocks bytes.Buffer
	files := []sidefiles.File{file("run.log", "started\nfinished\n"), file("lanes.txt", "8\n")}
	index, err := sidefiles.Encode(context.Background(), &blocks, files, sidefiles.Options{})
	if err != nil {
		panic(err)
	}
	z, err := sidefiles.NewReader(bytes.NewReader(blocks.Bytes()), int64(blocks.Len()), index, len(files), sidefiles.Options{})
	if err != nil {
		panic(err)
	}
	for i := range z.Len() {
		fmt.Println(i, z.Size(i))
	}
	if err := z.WriteFile(context.Background(), os.Stdout, 0); err != nil {
		panic(err)
	}
	// Output:
	// 0 17
	// 1 2
	// started
	// finished
}
