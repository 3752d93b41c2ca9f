package binning

import (
	"bytes"
	"context"
	"io"
	"testing"

	"orcomgo/bins/record"

	"orcomgo/bins"
)

// BenchmarkCPU is the assigner on one thread, in bytes of text.
func BenchmarkCPU(b *testing.B) {
	text := simulate(1, 40_000, 100, 100, "1")
	for _, bb := range []struct {
		name string
		keep Keep
	}{{"reads only", Keep{}}, {"all", Keep{Names: true, Quals: true, Forms: true}}} {
		b.Run(bb.name, func(b *testing.B) {
			a := NewCPU(Resources{Streams: 1, Run: serial})
			var block bins.Block
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if err := a.Assign(context.Background(), &Text{Data: text, Last: true, Keep: bb.keep}, &block); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkEncode is the light coding of names and qualities and the checksums of all, on
// one thread, in bytes of text.
func BenchmarkEncode(b *testing.B) {
	text := simulate(1, 40_000, 100, 100, "1")
	a := NewCPU(Resources{Streams: 1, Run: serial})
	var block bins.Block
	if err := a.Assign(context.Background(), &Text{Data: text, Last: true, Keep: Keep{Names: true, Quals: true, Forms: true}},
		&block); err != nil {
		b.Fatal(err)
	}
	names, quals := bytes.Clone(block.Names), bytes.Clone(block.Quals)
	var e bins.Encoded
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		copy(block.Names, names) // EncodeBlock overwrites them
		copy(block.Quals, quals)
		if err := bins.EncodeBlock(&e, &block, serial); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCut finds the ends of blocks.
func BenchmarkCut(b *testing.B) {
	text := simulate(1, 40_000, 100, 100, "1")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		marks := countLines(nil, text, 0, 0, serial)
		cutAt(&textWindow{text: &hostText{buf: text}, n: len(text)}, marks, len(text), 1<<30, false)
	}
}

func BenchmarkWalk(b *testing.B) {
	text := []byte(">chr\n")
	for range 20_000 {
		text = append(text, "ACGTACGTAAACCCGGGTTTACGTACGTAAACCCGGGTTTACGTACGTAAACCCGGGTTT\n"...)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		w := walker{kind: record.FASTA, buf: text, err: io.EOF}
		if bad, err := w.record(); bad != nil || err != nil {
			b.Fatal(bad, err)
		}
	}
}
