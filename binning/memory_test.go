package binning

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orcomgo/binning/inflate"
	"orcomgo/bins/record"
)

// TestBlockSizeOfMemory: where the memory is short the block size is lowered, by the inputs
// and the memory alone, unless it was asked for.
func TestBlockSizeOfMemory(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large.fastq") // of holes, but for its first byte
	small := filepath.Join(dir, "small.fastq")
	for path, size := range map[string]int64{large: 1 << 32, small: 1 << 20} {
		if err := os.WriteFile(path, []byte("@"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name             string
		memory           uint64
		block            uint64 // asked for
		streams, threads int
		paths            []string
		wantBlock        uint64
		wantStreams      int
		want             string // error
	}{
		{"no bound", 0, 0, 2, 2, []string{large}, DefaultBlockSize, 2, ""},
		{"enough", 4 << 30, 0, 2, 2, []string{large}, DefaultBlockSize, 2, ""},
		{"for one stream", 600 << 20, 0, 2, 2, []string{large}, DefaultBlockSize, 1, ""},
		{"for half a block", 500 << 20, 0, 2, 2, []string{large}, DefaultBlockSize / 2, 1, ""},
		{"for half a block, more streams", 500 << 20, 0, 8, 16, []string{large}, DefaultBlockSize / 2, 1, ""},
		{"the least that the command takes", 64 << 20, 0, 2, 2, []string{large}, DefaultBlockSize / 16, 1, ""},
		{"the least, standard input", 64 << 20, 0, 2, 2, []string{"-"}, DefaultBlockSize / 16, 1, ""},
		{"the least, a small input", 64 << 20, 0, 2, 2, []string{small}, DefaultBlockSize, 2, ""},
		{"the least, many inputs", 64 << 20, 0, 2, 2, strings.Fields(strings.Repeat(large+" ", 24)), DefaultBlockSize / 64, 1, ""},
		{"a block size that fits", 64 << 20, 4e6, 8, 2, []string{large}, 4e6, 5, ""},
		{"a block size that doesn't", 64 << 20, 100e6, 2, 2, []string{large}, 0, 0,
			"blocks of 100000000 bytes need about 227 MB of memory, and 67 MB are allowed"},
		{"too many inputs", 64 << 20, 0, 2, 2, strings.Fields(strings.Repeat(large+" ", 100)), 0, 0,
			"this run needs about 159 MB of memory, and 67 MB are allowed"},
	} {
		var notes []string
		c := Config{Memory: tt.memory, Streams: tt.streams, Threads: tt.threads, Options: record.Options{BlockSize: tt.block},
			Note: func(line string) { notes = append(notes, line) }}
		for _, path := range tt.paths {
			c.Inputs = append(c.Inputs, InputSpec{Path: path, Mate: -1})
		}
		chosen := tt.block != 0
		if !chosen {
			c.Options.BlockSize = DefaultBlockSize
		}
		got := ""
		if err := c.fitMemory(chosen); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: error is %q, want %q", tt.name, got, tt.want)
		}
		if got != "" {
			continue
		}
		if c.Options.BlockSize != tt.wantBlock || c.Streams != tt.wantStreams {
			t.Errorf("%s: blocks of %d, %d streams; want %d, %d", tt.name, c.Options.BlockSize, c.Streams, tt.wantBlock, tt.wantStreams)
		}
		want := 0
		if !chosen && tt.wantBlock < DefaultBlockSize {
			want++
		}
		if tt.streams > cpuStreams && tt.wantStreams < tt.streams {
			want++
		}
		if len(notes) != want {
			t.Errorf("%s: notes %q", tt.name, notes)
		}
	}
}

// TestLittleMemory: with the least memory the archive is the same for any number of threads
// and streams.
func TestLittleMemory(t *testing.T) {
	text := simulate(1, 15_000, 100, 100, "1")
	var want map[string]string
	for i, tt := range []struct{ threads, streams int }{{1, 1}, {3, 0}, {2, 5}} {
		dir := t.TempDir()
		path := filepath.Join(dir, "x.fastq")
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		c := Config{Inputs: []InputSpec{{Path: path, Mate: -1}}, OutDir: filepath.Join(dir, "out"),
			Threads: tt.threads, Streams: tt.streams, Memory: 64 << 20}
		s, err := Run(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		if s.Records != 15_000 {
			t.Errorf("%d records", s.Records)
		}
		got := files(t, c.OutDir)
		if i == 0 {
			want = got
			if string(restore(t, c.OutDir)[0]) != string(text) {
				t.Error("the text differs")
			}
		} else if !sameFiles(got, want) {
			t.Errorf("%+v: the archive differs", tt)
		}
	}
}

// TestInflatingMemory: the inputs of gzip that are read at a time share what memory is left.
func TestInflatingMemory(t *testing.T) {
	dir := t.TempDir()
	plain, zipped := filepath.Join(dir, "x.fastq"), filepath.Join(dir, "x.fastq.gz")
	text := simulate(1, 100, 100, 100, "1")
	for path, data := range map[string][]byte{plain: text, zipped: gzipped(text, 1)} {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	whole := inflate.DefaultMemory(8)
	for _, tt := range []struct {
		name     string
		memory   uint64
		inputs   string
		min, max int
	}{
		{"nothing to inflate", 1 << 30, plain, memoryGzip, memoryGzip},
		{"one", 1 << 30, zipped, memoryGzip + whole, memoryGzip + whole},
		{"one, and one that is plain", 1 << 30, plain + " " + zipped, memoryGzip + whole, memoryGzip + whole},
		{"no bound", 0, zipped, memoryGzip + whole, memoryGzip + whole},
		{"who knows", 4 << 30, "-", memoryGzip + whole, memoryGzip + whole},
		{"two", 1 << 30, zipped + " " + zipped, memoryGzip + whole/2, memoryGzip + whole/2},
		{"as many as are read at a time", 1 << 30, strings.Repeat(zipped+" ", 40), memoryGzip + whole/16, memoryGzip + whole/16},
		{"little", 64 << 20, "-", memoryGzip, 9 << 20},
	} {
		c := Config{Memory: tt.memory, Threads: 8, Streams: 1, Options: record.Options{BlockSize: DefaultBlockSize}}
		for _, path := range strings.Fields(tt.inputs) {
			c.Inputs = append(c.Inputs, InputSpec{Path: path, Mate: -1})
		}
		if err := c.fitMemory(false); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if c.inflating < tt.min || c.inflating > tt.max {
			t.Errorf("%s: %d bytes an input, want %d to %d", tt.name, c.inflating, tt.min, tt.max)
		}
		if want := !strings.Contains(tt.inputs+" ", plain+" "); c.allGzip != want {
			t.Errorf("%s: all of gzip: %t", tt.name, c.allGzip)
		}
	}
}

// Many threads have more blocks in flight, if there is memory for them; what the user says is kept.
func TestBlocksInFlight(t *testing.T) {
	for _, tt := range []struct {
		threads, streams int
		memory           uint64
		want             int
	}{
		{2, 0, 0, cpuStreams},
		{manyThreads - 1, 0, 1 << 40, cpuStreams},
		{manyThreads, 0, 0, 2 * cpuStreams},
		{manyThreads, 0, enoughMemory, 2 * cpuStreams},
		{manyThreads, 0, enoughMemory - 1, cpuStreams},
		{manyThreads, 3, 0, 3},
	} {
		c := Config{Threads: tt.threads, Streams: tt.streams, Memory: tt.memory}
		if err := c.complete(); err != nil || c.Streams != tt.want {
			t.Errorf("%+v: %d blocks in flight: %v", tt, c.Streams, err)
		}
	}
}
