package inflate

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"

	stdgzip "compress/gzip"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"

	"orcomgo/internal/deflate"
)

// fastq returns about n bytes of records that resemble a sequencer's.
func fastq(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	genome := make([]byte, 20_000)
	for i := range genome {
		genome[i] = "ACGT"[r.IntN(4)]
	}
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		at := r.IntN(len(genome) - 100)
		fmt.Fprintf(&b, "@SIM:%d:FC:%d:%d:%d\n%s\n+\n", seed, i/1000, r.IntN(30000), i, genome[at:at+100])
		q := byte('I')
		for range 100 {
			if r.IntN(8) == 0 {
				q = byte('#' + r.IntN(39))
			}
			b.WriteByte(q)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()[:n]
}

func random(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

type zip struct {
	name string
	zip  func(text []byte) []byte
}

// compressors make a gzip member of a text.
var compressors = []zip{
	{"go 1", goLevel(1)}, {"go 6", goLevel(6)}, {"go 9", goLevel(9)}, {"go 0", goLevel(0)}, {"go Huffman", goLevel(stdgzip.HuffmanOnly)},
	{"klauspost 1", level(1)}, {"klauspost 5", level(5)}, {"klauspost 9", level(9)}, {"klauspost stateless", level(gzip.StatelessCompression)},
	{"flushed", flushed(1000)}, {"flushed often", flushed(10)}, {"fixed", fixedBlocks},
	{"header fields", fields(true)}, {"header without its checksum", fields(false)},
}

func goLevel(level int) func([]byte) []byte {
	return func(text []byte) []byte {
		var b bytes.Buffer
		z, _ := stdgzip.NewWriterLevel(&b, level)
		z.Write(text)
		z.Close()
		return b.Bytes()
	}
}

func level(level int) func([]byte) []byte {
	return func(text []byte) []byte {
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, level)
		if err != nil {
			panic(err)
		}
		z.Write(text)
		z.Close()
		return b.Bytes()
	}
}

// flushed has an empty stored block now and then.
func flushed(every int) func([]byte) []byte {
	return func(text []byte) []byte {
		var b bytes.Buffer
		z := stdgzip.NewWriter(&b)
		for len(text) > 0 {
			n := min(len(text), every)
			z.Write(text[:n])
			z.Flush()
			text = text[n:]
		}
		z.Close()
		return b.Bytes()
	}
}

// wrap makes a member of a deflate stream.
func wrap(header, stream, text []byte) []byte {
	b := append(bytes.Clone(header), stream...)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(text))
	return binary.LittleEndian.AppendUint32(b, uint32(len(text)))
}

var plainHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}

// fixedBlocks has fixed blocks of literals alone.
func fixedBlocks(text []byte) []byte {
	var w deflate.Writer
	codes := deflate.SymbolsOf(deflate.StaticLiterals)
	for i := 0; i == 0 || i < len(text); i += 3000 {
		part := text[i:min(i+3000, len(text))]
		last := i+3000 >= len(text)
		w.Put(b2i(last)|1<<1, 3)
		for _, c := range part {
			w.Symbol(&codes, int(c))
		}
		w.Symbol(&codes, deflate.EndOfBlock)
	}
	return wrap(plainHeader, w.Padded(), text)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// fields has all that a header may have.
func fields(sum bool) func([]byte) []byte {
	return func(text []byte) []byte {
		h := []byte{0x1f, 0x8b, 8, deflate.FlagName | deflate.FlagComment | deflate.FlagExtra, 1, 2, 3, 4, 0, 3}
		if sum {
			h[3] |= deflate.FlagHeaderCRC
		}
		h = binary.LittleEndian.AppendUint16(h, 5000)
		h = append(h, bytes.Repeat([]byte{7}, 5000)...)
		h = append(h, "name\x00"...)
		h = append(h, strings.Repeat("c", deflate.LongestName-1)+"\x00"...)
		if sum {
			h = binary.LittleEndian.AppendUint16(h, uint16(crc32.ChecksumIEEE(h)))
		}
		zipped := goLevel(6)(text)
		return wrap(h, zipped[10:len(zipped)-footerSize], text)
	}
}

// bgzip makes BGZF of a text.
func bgzip(text []byte) []byte {
	var out []byte
	for from := 0; ; from += 30_000 {
		part := text[min(from, len(text)):min(from+30_000, len(text))]
		var b bytes.Buffer
		z, _ := flate.NewWriter(&b, 6)
		z.Write(part)
		z.Close()
		h := []byte{0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 6, 0, 'B', 'C', 2, 0}
		h = binary.LittleEndian.AppendUint16(h, uint16(bgzfHeader+b.Len()+footerSize-1))
		out = append(out, wrap(h, b.Bytes(), part)...)
		if len(part) == 0 {
			return out
		}
	}
}

// samples are texts that compressors treat differently.
func samples() map[string][]byte {
	return map[string][]byte{
		"nothing":              nil,
		"a byte":               []byte("x"),
		"FASTQ":                fastq(1, 400_000),
		"random":               random(1, 150_000),
		"zeros":                make([]byte, 500_000),
		"FASTQ, random, FASTQ": slices.Concat(fastq(2, 100_000), random(2, 100_000), fastq(2, 100_000)),
		"far matches":          bytes.Repeat(random(3, 32_000), 6),
	}
}
