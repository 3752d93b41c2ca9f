package bwt

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"
)

// benchmarkTexts are bases, and text like FASTQ of a deep run.
func benchmarkTexts() map[string][]byte {
	r := rand.New(rand.NewSource(3))
	genome := make([]byte, 100000)
	for i := range genome {
		genome[i] = "ACGT"[r.Intn(4)]
	}
	bases := make([]byte, 8<<20)
	for i := range bases {
		bases[i] = "ACGT"[r.Intn(4)]
	}
	var reads bytes.Buffer
	quality := make([]byte, 100)
	for i := 0; reads.Len() < 8<<20; i++ {
		for j := range quality {
			quality[j] = 'J' - byte(max(0, r.Intn(2*j+3)-j))/4
		}
		at := r.Intn(len(genome) - 100)
		fmt.Fprintf(&reads, "@RUN:1:FLOWCELL:%d:%d 1:N:0:ACGT\n%s\n+\n%s\n", i/1000, r.Intn(30000), genome[at:at+100], quality)
	}
	return map[string][]byte{"bases": bases, "reads": reads.Bytes()}
}

func BenchmarkTransform(b *testing.B) {
	for name, text := range benchmarkTexts() {
		dst := make([]byte, len(text))
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprint(name, "/", threads), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					if _, err := Transform(dst, text, threads); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
