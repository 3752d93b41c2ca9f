package binning

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"orcomgo/bins"
	"orcomgo/bins/record"
)

// farAssigner is an assigner whose texts are not in memory of the host, as those of a GPU.
type farAssigner struct{ Assigner }

type farText struct{ hostText }

func (farAssigner) Text(n int) (TextBuffer, error) {
	return &farText{hostText{pool: new(hostTexts), buf: make([]byte, n)}}, nil
}

func (t *farText) Host(int) []byte { return nil }

// Fill and Read copy, and Read overwrites what it returned before.
func (t *farText) Fill(at, n int, f func(p []byte) (int, error)) (int, error) {
	if n > fillPiece || at+n > len(t.buf) {
		return 0, fmt.Errorf("%d bytes at %d of %d", n, at, len(t.buf))
	}
	p := make([]byte, n)
	k, err := f(p)
	copy(t.buf[at:], p[:k])
	return k, err
}

func (t *farText) Read(from, to int) ([]byte, error) {
	if to-from > windowSize {
		return nil, errors.New("more than a window is read")
	}
	return bytes.Clone(t.buf[from:to]), nil
}

func (a farAssigner) Assign(ctx context.Context, t *Text, b *bins.Block) error {
	near := *t
	if t.Buffer != nil {
		near.Data, near.Buffer = t.Buffer.(*farText).buf[:t.Len], nil
		b.TextHash = bins.TextHash(near.Data, serial)
	}
	return a.Assigner.Assign(ctx, &near, b)
}

// TestFarText: what becomes of a text does not depend on the memory that it is in.
func TestFarText(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	long := simulate(3, 300, 3000, 19_000, "long")
	for range 3 {
		n := 150_000 + rng.IntN(200_000)
		long = fmt.Appendf(long, "@x\n%s\n+\n%s\n", bytes.Repeat([]byte("A"), n), bytes.Repeat([]byte("I"), n))
	}
	texts := map[string][]byte{
		"short":  simulate(1, 20_000, 100, 100, "short"),
		"mixed":  simulate(2, 3_000, 0, 300, "mixed"),
		"long":   long,
		"blanks": append(bytes.Clone(long), bytes.Repeat([]byte("\r\n\n"), windowSize)...),
		"noend":  bytes.TrimSuffix(long, []byte("\n")),
		"tiny":   bytes.Repeat([]byte("@\n\n+\n\n"), 50_000),
		"fasta":  []byte(">a b\nACGT\nACGTACGTNNACGTA\n>b\n\n>c\nAC"),
		"bad":    append(bytes.Clone(long), "@a\nACGT\n+\nIII\n"...),
		"empty":  {},
	}
	for name, text := range texts {
		for _, size := range []uint64{1000, 300_000, uint64(2<<20 + rng.IntN(1<<20))} {
			var got [2]map[string][]byte
			for far := range got {
				dir := t.TempDir()
				in := filepath.Join(dir, "in")
				if err := os.WriteFile(in, text, 0o666); err != nil {
					t.Fatal(err)
				}
				c := Config{Inputs: []InputSpec{{Path: in, Mate: -1}}, OutDir: filepath.Join(dir, "out"), Options: record.Options{BlockSize: size}}
				if far == 1 {
					c.NewAssigner = func(r *Resources) (Assigner, error) { return farAssigner{NewCPU(*r)}, nil }
				}
				got[far] = map[string][]byte{}
				if _, err := Run(context.Background(), c); err != nil {
					got[far]["error"] = bytes.ReplaceAll([]byte(err.Error()), []byte(dir), nil)
				}
				files, _ := os.ReadDir(c.OutDir)
				for _, f := range files {
					b, err := os.ReadFile(filepath.Join(c.OutDir, f.Name()))
					if err != nil {
						t.Fatal(err)
					}
					got[far][f.Name()] = b
				}
			}
			if len(got[0]) != len(got[1]) {
				t.Errorf("%s, blocks of %d: %d files, and %d with the text elsewhere: %s", name, size, len(got[0]), len(got[1]), got[1]["error"])
			}
			for file := range got[0] {
				if !bytes.Equal(got[0][file], got[1][file]) {
					t.Errorf("%s, blocks of %d: %s differs: %.300s", name, size, file, got[1]["error"])
				}
			}
		}
	}
}
