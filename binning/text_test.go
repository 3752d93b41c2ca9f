package binning

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
)

// simulate draws FASTQ text: reads of a small genome, so that bins fill, with a few N.
func simulate(seed int64, records, minLen, maxLen int, mate string) []byte {
	rng := rand.New(rand.NewSource(seed))
	genome := make([]byte, 20000)
	for i := range genome {
		genome[i] = "ACGT"[rng.Intn(4)]
	}
	var b bytes.Buffer
	for i := range records {
		n := minLen + rng.Intn(maxLen-minLen+1)
		at := rng.Intn(len(genome) - n)
		fmt.Fprintf(&b, "@RUN:1:%d:%d %s:N:0:ACGT\n", i/100, i, mate)
		read := bytes.Clone(genome[at : at+n])
		if rng.Intn(2) == 0 {
			for i, j := 0, n-1; i < j; i, j = i+1, j-1 {
				read[i], read[j] = read[j], read[i]
			}
			for i, c := range read {
				read[i] = "TGCA"[strings.IndexByte("ACGT", c)]
			}
		}
		for j := range read {
			if rng.Intn(200) == 0 {
				read[j] = "NNNacgtn"[rng.Intn(8)]
			}
		}
		b.Write(read)
		b.WriteString("\n+\n")
		for range n {
			b.WriteByte("#,:FFFFF"[rng.Intn(8)])
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func gzipped(text []byte, members int) []byte {
	var b bytes.Buffer
	for i := range members {
		z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
		z.Write(text[len(text)*i/members : len(text)*(i+1)/members])
		z.Close()
	}
	return b.Bytes()
}

func bgzipped(text []byte) []byte {
	var out []byte
	for len(text) > 0 || out == nil || len(text) == 0 {
		n := min(len(text), 0xff00)
		var b bytes.Buffer
		z, _ := flate.NewWriter(&b, 1)
		z.Write(text[:n])
		z.Close()
		out = append(out, 0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 6, 0, 'B', 'C', 2, 0)
		out = binary.LittleEndian.AppendUint16(out, uint16(18+b.Len()+8-1))
		out = append(out, b.Bytes()...)
		out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(text[:n]))
		out = binary.LittleEndian.AppendUint32(out, uint32(n))
		if n == 0 {
			break // the empty member is the last
		}
		text = text[n:]
	}
	return out
}

func zstdCompressed(text []byte) []byte {
	z, _ := zstd.NewWriter(nil)
	return z.EncodeAll(text, nil)
}
