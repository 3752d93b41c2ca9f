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

// BenchmarkReads are the steps for a read of 100 bases, with and without vector instructions, in bytes of the column or text.
func BenchmarkReads(b *testing.B) {
	text := simulate(1, 4000, 100, 100, "1")
	ends := make([]uint32, 4*newlineRoom)
	p := parser{text: text, quals: true}
	p.start(0, len(text), ends)
	var seqs, quals [][]byte
	for at := 0; at < len(text); {
		var r parsed
		if bad := p.next(at, &r); bad != nil {
			b.Fatal(bad)
		}
		seqs = append(seqs, text[r.seq:][:r.seqLen])
		quals = append(quals, text[r.qual:][:r.seqLen])
		at = r.end
	}
	packed, column := make([]byte, 64), make([]byte, 100)
	var exceptions []record.Exception
	each := func(name string, reads [][]byte, step func(i int)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(100)
			for i := 0; b.Loop(); i++ {
				step(i % len(reads))
			}
		})
	}
	each("pack", seqs, func(i int) { exceptions, _ = packRead(packed, seqs[i], uint32(i), exceptions[:0]) })
	each("pack plain", seqs, func(i int) { exceptions, _ = packPlain(packed, seqs[i], 0, uint32(i), exceptions[:0]) })
	each("qualities", quals, func(i int) { copyQuals(column, quals[i]) })
	each("qualities plain", quals, func(i int) { copyQualsPlain(column, quals[i]) })
	parse := func(name string, next func(p *parser, at int, r *parsed) *mismatch) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			var r parsed
			for b.Loop() {
				p.start(0, len(text), ends)
				for at := 0; at < len(text); at = r.end {
					if bad := next(&p, at, &r); bad != nil {
						b.Fatal(bad)
					}
				}
			}
		})
	}
	parse("parse", (*parser).next)
	parse("parse line by line", (*parser).any)
}

// BenchmarkCut finds the ends of blocks.
func BenchmarkCut(b *testing.B) {
	text := simulate(1, 40_000, 100, 100, "1")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		marks := countLines(nil, text, 0, 0, serial)
		cutAt(&textWindow{text: &hostText{buf: text}, n: len(text)}, marks, len(text), 1<<30, 4, false)
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
