//go:build cuda

package binning

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orcomgo/bins/record"
	"orcomgo/internal/testrun"

	"orcomgo/bins"
	"orcomgo/internal/tasks"
)

// These tests run on a machine with a GPU: make test-cuda builds them.

// archive bins the files and returns what was written, by extension, or the error's text.
func archive(t *testing.T, o record.Options, streams int, onGPU bool, paths ...string) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	c := Config{OutDir: dir, Options: o, Threads: 4, Streams: streams}
	for _, p := range paths {
		c.Inputs = append(c.Inputs, InputSpec{Path: p, Mate: -1})
	}
	if len(paths) == 2 {
		c.Inputs[0].Mate, c.Inputs[0].First, c.Inputs[1].Mate = 1, true, 0
	}
	if onGPU {
		c.NewAssigner = NewCUDA
	}
	got := map[string][]byte{}
	if _, err := Run(context.Background(), c); err != nil {
		got["error"] = []byte(err.Error())
	}
	files, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[filepath.Ext(f.Name())] = b
	}
	return got
}

// same bins on both and compares.
func same(t *testing.T, o record.Options, streams int, paths ...string) {
	t.Helper()
	want := archive(t, o, 2, false, paths...)
	got := archive(t, o, streams, true, paths...)
	for ext := range want {
		if !bytes.Equal(got[ext], want[ext]) {
			n := 0
			for n < min(len(got[ext]), len(want[ext])) && got[ext][n] == want[ext][n] {
				n++
			}
			t.Errorf("%v, block size %d, %d streams: %s differs at byte %d (%d bytes, CPU %d) %.100q", paths, o.BlockSize, streams, ext, n,
				len(got[ext]), len(want[ext]), got["error"])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%v: %d files, CPU %d: %.100q", paths, len(got), len(want), got["error"])
	}
}

var cudaOptions = []record.Options{
	{},
	{ReadsOnly: true},
	{ReadsOnly: true, OrderAny: true},
	{DropNames: true, Quality: record.QualityBin8},
	{Quality: record.QualityDrop},
}

// cudaText makes records: lengths shortest + 0..longer, of 1000 letters so many that are not A, C, G or T.
func cudaText(rng *rand.Rand, records, shortest, longer, nonACGT int, eol string, plus func(i int) bool) []byte {
	var b []byte
	genome := make([]byte, 100000)
	for i := range genome {
		genome[i] = "ACGT"[rng.IntN(4)]
	}
	for i := range records {
		n := shortest + rng.IntN(longer+1)
		seq := bytes.Clone(genome[rng.IntN(len(genome)-n):][:n])
		for j := range seq {
			if rng.IntN(1000) < nonACGT {
				seq[j] = "NNNNNnacgtR.-*"[rng.IntN(14)]
			}
		}
		name := fmt.Sprintf("RUN:7:1101:%d:%d 1:N:0:ACGT", rng.IntN(30000), i)
		b = append(b, '@')
		b = append(b, name...)
		b = append(b, eol...)
		b = append(append(b, seq...), eol...)
		b = append(b, '+')
		if plus(i) {
			b = append(b, name...)
		}
		b = append(b, eol...)
		for range n {
			b = append(b, byte('!'+rng.IntN(42)))
		}
		b = append(b, eol...)
	}
	return b
}

// TestCUDASame: CPU and GPU write the same files.
func TestCUDASame(t *testing.T) {
	never := func(int) bool { return false }
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name+".fastq")
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	rng := rand.New(rand.NewPCG(1, 2))
	plain := cudaText(rng, 30000, 100, 0, 1, "\n", never)
	texts := map[string][]byte{
		"fixed":      plain,
		"mixed":      cudaText(rng, 30000, 20, 131, 2, "\n", never),
		"crlf":       cudaText(rng, 20000, 75, 1, 1, "\r\n", never),
		"plus":       cudaText(rng, 20000, 50, 0, 1, "\n", func(i int) bool { return i%3 > 0 }),
		"empty":      cudaText(rng, 20000, 0, 40, 5, "\n", never),
		"long":       cudaText(rng, 400, 20000, 5000, 10, "\n", never),
		"noend":      bytes.TrimSuffix(plain, []byte("\n")),
		"crend":      append(bytes.TrimSuffix(bytes.Clone(plain), []byte("\n")), '\r'),
		"tail":       append(bytes.Clone(plain), "\n\r\n\n\n"...),
		"mixedlines": append(cudaText(rng, 5000, 75, 1, 1, "\r\n", never), cudaText(rng, 5000, 75, 1, 1, "\n", never)...),
		"plustext":   bytes.Replace(plain, []byte("\n+\n"), []byte("\n+else\n"), 7),
		"one":        []byte("@a\nACGT\n+\nIIII"),
		"nothing":    {},
		"bad":        append(bytes.Clone(plain), "@a\nAC1T\n+\nIIII\n"...),
		"short":      append(bytes.Clone(plain), "@a\nACGT\n+\nIII\n@b\nA\n+\nI\n"...),
		"fasta":      []byte(">a b\nACGT\nACGTACGTNNACGTA\n>b\n\n>c\nAC"),
	}
	for name, text := range texts {
		path := write(name, text)
		for i, o := range cudaOptions {
			blocks := []uint64{1 << 20, 1 << 16}
			if more := 6 * fillPiece; len(text) > more {
				blocks = append(blocks, uint64(more)) // goes to the device in several pieces
			}
			for k, block := range blocks {
				if testrun.Short() && (i+len(name)+k)%2 == 0 {
					continue // each run starts the GPU anew
				}
				o.BlockSize = block
				same(t, o, 1+(i*3)%8, path)
			}
		}
	}
	first, second := write("R1", cudaText(rng, 20000, 100, 0, 1, "\n", never)), write("R2", cudaText(rng, 20000, 151, 0, 1, "\n", never))
	b1, _ := os.ReadFile(first)
	lines1 := strings.Split(string(b1), "\n")
	b2, _ := os.ReadFile(second)
	lines2 := strings.Split(string(b2), "\n")
	for i := 0; i+4 <= len(lines1); i += 4 {
		lines2[i] = lines1[i]
	}
	second = write("R2", []byte(strings.Join(lines2, "\n")))
	for _, o := range cudaOptions {
		o.BlockSize = 1 << 19
		same(t, o, 3, first, second)
	}
}

// TestCUDABoth: the archive is that of the CPU, however many blocks are binned before the GPU has started.
func TestCUDABoth(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	records, size, before := 60000, uint64(1<<20), []int{0, 1, 5}
	sanitizer := os.Getenv("ORCOMGO_SANITIZER") != "" // under which starting a GPU takes seconds
	if sanitizer {
		records, size, before = 9000, 1<<17, []int{1}
	}
	if os.Getenv("ORCOMGO_SANITIZER") == "racecheck" { // under which kernels take ten times as long
		records, size = 1000, 1<<16
	}
	text := cudaText(rng, records, 20, 131, 2, "\n", func(int) bool { return false })
	for i, in := range []testInput{{"a.fastq", text}, {"a.fastq.gz", bgzipped(text)}} {
		for k, o := range []record.Options{{BlockSize: size}, {BlockSize: size, ReadsOnly: true, OrderAny: true}} {
			if sanitizer && i != k {
				continue
			}
			dir, err := binTexts(t, Config{Options: o}, in)
			if err != nil {
				t.Fatal(err)
			}
			want := files(t, dir)
			for _, blocks := range before {
				var m *mixed
				dir, err := binTexts(t, Config{Options: o, Streams: 4, NewAssigner: newMixed(NewCUDA, blocks, &m)}, in)
				if err != nil {
					t.Fatal(err)
				}
				if !sameFiles(files(t, dir), want) || m.DeviceBlocks() == 0 || m.left > 0 {
					t.Errorf("%s, %d blocks on the CPU, %d too few, %d on the GPU: the archive differs", in.name, blocks, m.left, m.DeviceBlocks())
				}
			}
		}
	}
}

// TestCUDASameData does so for the files of a directory, ORCOMGO_DATA.
func TestCUDASameData(t *testing.T) {
	root := testrun.Data(t)
	n := 0
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		info, err := d.Info()
		if err != nil {
			return err
		}
		blocks := []uint64{1 << 20, 16 << 20, 256 << 20}
		for i, block := range blocks {
			same(t, record.Options{BlockSize: block}, []int{1, 4, 8}[i], path)
			if info.Size() < 1<<20 || i == 1 {
				same(t, record.Options{BlockSize: block, ReadsOnly: true}, []int{8, 2, 3}[i], path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files", n)
}

// TestCUDAWaitEnds: waiting for a lane, or for regions, ends with the context.
func TestCUDAWaitEnds(t *testing.T) {
	r := &Resources{Note: func(string) {}, Threads: 2, Streams: 1, BlockSize: 1 << 20, Run: tasks.NewPool(2).Run}
	a, err := NewCUDA(r)
	if err != nil {
		t.Skip(err)
	}
	defer a.Close()
	ctx, cancel := context.WithCancel(t.Context())
	text, err := a.Text(ctx, 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer text.Free()
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := a.Text(ctx, 1000); err != context.Canceled {
		t.Errorf("no free lane: %v", err)
	}
	c := a.(*cuda)
	only := <-c.newRegions
	defer func() { c.newRegions <- only }()
	if _, _, err := text.(*deviceText).Regions(); err != context.Canceled {
		t.Errorf("no free regions: %v", err)
	}
}

// BenchmarkAssign measures the assigner alone, text on the device, without and with
// names and qualities.
func BenchmarkAssign(b *testing.B) {
	text := cudaText(rand.New(rand.NewPCG(1, 2)), 250000, 100, 0, 1, "\n", func(int) bool { return false })
	for _, keep := range []Keep{{}, {Names: true, Quals: true, Forms: true}} {
		b.Run(fmt.Sprintf("all=%v", keep.Quals), func(b *testing.B) {
			r := &Resources{Note: func(string) {}, Threads: 4, Streams: 1, BlockSize: uint64(len(text)), Run: tasks.NewPool(4).Run}
			a, err := NewCUDA(r)
			if err != nil {
				b.Fatal(err)
			}
			defer a.Close()
			buf, err := a.Text(context.Background(), len(text))
			if err != nil {
				b.Fatal(err)
			}
			defer buf.Free()
			for at := 0; at < len(text); at += fillPiece {
				_, err := buf.Fill(at, min(fillPiece, len(text)-at), func(p []byte) (int, error) { return copy(p, text[at:]), nil })
				if err != nil {
					b.Fatal(err)
				}
			}
			t := Text{Buffer: buf, Len: len(text), Last: true, Keep: keep}
			var block bins.Block
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if err := a.Assign(context.Background(), &t, &block); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
