package compress

import (
	"bytes"
	"context"
	"io"
	"math/rand"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/compress/columns"
)

func BenchmarkRender(b *testing.B) {
	const n, length = 10_000, 100
	c := &columns.Columns{
		Records: n,
		Lengths: record.Lengths{Fixed: length},
		Quals:   bytes.Repeat([]byte("F"), n*length),
		Names:   bytes.Repeat([]byte("M01:7:FC:1:1101:1234:5678 1:N:0:1\n"), n),
	}
	c.Letters = bytes.Repeat([]byte("A"), n*length)
	dst := make([]byte, 0, columns.TextSize(record.AsRecords, c))
	b.SetBytes(int64(cap(dst)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := columns.Render(dst, record.AsRecords, record.FASTQ, c, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPermute(b *testing.B) {
	const n, length = 10_000, 100
	perm := make([]uint32, n)
	for i := range perm {
		perm[i] = uint32(i * 7919 % n)
	}
	quals, names := bytes.Repeat([]byte("F"), n*length), bytes.Repeat([]byte("M01:7:FC:1:1101:1234:5678 1:N:0:1\n"), n)
	b.SetBytes(int64(len(quals) + len(names)))
	for b.Loop() {
		c := &columns.Columns{Records: n, Lengths: record.Lengths{Fixed: length}, Quals: quals, Names: names}
		c.Permute(perm)
	}
}

func benchmarkArchive(b *testing.B) (dir string, text int64) {
	r1, r2 := simulated(1, 20_000, false)
	return binTo(b, pair(r1, r2), record.Options{BlockSize: 256 << 20}), int64(len(r1) + len(r2))
}

func BenchmarkPack(b *testing.B) {
	dir, n := benchmarkArchive(b)
	b.SetBytes(n)
	for b.Loop() {
		packTo(b, dir, PackOptions{Threads: 2, KeepBins: true, Force: true})
	}
}

// BenchmarkAssembly is reading an assembly in two bits a base, as text and as records, on one thread, in bytes of text.
func BenchmarkAssembly(b *testing.B) {
	text := ">x\n" + wrap(randomBases(rand.New(rand.NewSource(1)), 4<<20), 60)
	dir := binTo(b, []input{{name: "x.fa", text: text, mate: -1}}, record.Options{BlockSize: 256 << 20})
	packTo(b, dir, PackOptions{Threads: 2, TwoBit: true})
	b.Run("text", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if _, err := Unpack(context.Background(), dir, UnpackOptions{Threads: 1, Stream: io.Discard}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("records", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			r, err := Open(dir, ReaderOptions{Threads: 1})
			if err != nil {
				b.Fatal(err)
			}
			for _, err := range r.Records(context.Background(), Query{}) {
				if err != nil {
					b.Fatal(err)
				}
			}
			r.Close()
		}
	})
}

func BenchmarkUnpack(b *testing.B) {
	for _, stage := range []string{"bins", "packed"} {
		b.Run(stage, func(b *testing.B) {
			dir, n := benchmarkArchive(b)
			if stage == "packed" {
				packTo(b, dir, PackOptions{Threads: 2})
			}
			b.SetBytes(n)
			for b.Loop() {
				if _, err := Unpack(context.Background(), dir, UnpackOptions{Threads: 2, Stream: io.Discard}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
