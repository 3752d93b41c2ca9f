package inflate

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	stdgzip "compress/gzip"

	"github.com/klauspost/compress/gzip"
)

func readAll(in io.Reader, o Options) ([]byte, error) {
	z := NewReader(context.Background(), in, o)
	defer z.Close()
	var b bytes.Buffer
	_, err := z.WriteTo(&b)
	return b.Bytes(), err
}

func TestQuick(t *testing.T) {
	for _, name := range []string{"yeast_rnaseq_A_R1.fastq.gz", "gz/ERR1438863_R1.fastq.gz", "gz/ERR6005894_R1.fastq.gz", "gz/covid19_SRR10903401_1.fastq.gz", "gz/sequana_Hm2_GTGAAA_L005_R1_001.fastq.gz", "gz/denovohybrid_illumina_R1.fastq.gz"} {
		gz := dataFile(t, name)
		r, _ := stdgzip.NewReader(bytes.NewReader(gz))
		want, _ := io.ReadAll(r)
		for _, threads := range []int{1, 2, 5} {
			for _, chunk := range []int{0, 70000, 2 * overlap} {
				if chunk == 2*overlap && len(gz) > 3e6 {
					continue
				}
				got, err := readAll(bytes.NewReader(gz), Options{Threads: threads, chunk: chunk})
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s, %d threads, chunk %d: %d bytes, %v; want %d", name, threads, chunk, len(got), err, len(want))
				}
			}
		}
	}
}

func BenchmarkReader(b *testing.B) {
	for _, name := range []string{"yeast_rnaseq_A_R1.fastq.gz", "human_hiseq2500_R1.fastq.gz", "gz/ERR6005894_R1.fastq.gz"} {
		gz := dataFile(b, name)
		r, _ := stdgzip.NewReader(bytes.NewReader(gz))
		n, _ := io.Copy(io.Discard, r)
		for _, threads := range []int{1, 2, 4} {
			b.Run(fmt.Sprintf("%s/%d", filepath.Base(name), threads), func(b *testing.B) {
				b.SetBytes(n)
				var s stats
				for b.Loop() {
					z := NewReader(context.Background(), bytes.NewReader(gz), Options{Threads: threads})
					k, err := z.WriteTo(io.Discard)
					if k != n || err != nil {
						b.Fatal(k, err)
					}
					s = z.stats
					z.Close()
				}
				b.Log(s)
			})
		}
		b.Run(filepath.Base(name)+"/klauspost", func(b *testing.B) {
			b.SetBytes(n)
			for b.Loop() {
				z, err := gzip.NewReader(bufio.NewReaderSize(bytes.NewReader(gz), 1<<18))
				if err != nil {
					b.Fatal(err)
				}
				buf := make([]byte, 1<<18)
				for err == nil {
					_, err = z.Read(buf)
				}
			}
		})
	}
}
