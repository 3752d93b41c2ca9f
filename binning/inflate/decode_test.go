package inflate

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	stdflate "compress/flate"
	stdgzip "compress/gzip"

	"github.com/klauspost/compress/flate"

	"orcomgo/internal/testrun"
)

// inflateAll inflates one deflate stream into a buffer of any size, on to the next if it is full.
func inflateAll(in []byte, limit int) (text []byte, used int, err error) {
	d := newDecoder()
	d.reset(in, 0)
	d.out = make([]byte, windowSize+limit+slack)
	d.low, d.n, d.limit = windowSize, windowSize, windowSize+limit
	from := d.n
	for {
		s := d.run(1 << 62)
		text = append(text, d.out[from:d.n]...)
		switch s {
		case memberEnds:
			return text, d.bit / 8, nil
		case needInput:
			return text, 0, io.ErrUnexpectedEOF
		case corrupt:
			return text, 0, CorruptError(d.bit / 8)
		case outputFull:
			d.keepWindow()
			from = d.n
		default:
			return text, 0, errors.New("stopped")
		}
	}
}

func (d *decoder) keepWindow() {
	k := min(windowSize, d.n-d.low)
	copy(d.out[windowSize-k:], d.out[d.n-k:d.n])
	d.low, d.n = windowSize-k, windowSize
}

func reference(in []byte) ([]byte, error) {
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(in)))
	return text, err
}

func stdReference(in []byte) ([]byte, error) {
	text, err := io.ReadAll(stdflate.NewReader(bytes.NewReader(in)))
	return text, err
}

// repeats is a text with matches of all short distances, and of all lengths.
func repeats() []byte {
	text := random(31, 300)
	for distance := 1; distance <= 70; distance++ {
		for length := 3; length <= 290; length += 1 + length/16 {
			text = append(text, byte(length), byte(distance))
			for range length {
				text = append(text, text[len(text)-distance])
			}
		}
	}
	return text
}

func FuzzInflate(f *testing.F) {
	for level := stdflate.HuffmanOnly; level <= 9; level++ {
		var b bytes.Buffer
		z, _ := stdflate.NewWriter(&b, level)
		for i := range 3000 {
			z.Write([]byte{byte(i), byte(i * i >> 5), "ACGT"[i%7%4]})
			if i%1000 == 999 {
				z.Flush()
			}
		}
		z.Close()
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		want, wantErr := stdReference(in)
		other, otherErr := reference(in)
		// klauspost/compress has no error if the input ends within the extra bits of a length or
		// distance. Where a distance code is empty it uses the one of the block before, so it may
		// find the end of the input where others find damage. Some damages it calls internal errors.
		isEnd := func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }
		var internal flate.InternalError
		odd := (otherErr == nil) != (wantErr == nil) || isEnd(otherErr) != isEnd(wantErr) || errors.As(otherErr, &internal)
		for _, limit := range []int{1 << 16, 700} {
			got, _, err := inflateAll(in, limit)
			if (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(got, want) {
				t.Fatalf("limit %d: %d bytes, %v; want %d, %v", limit, len(got), err, len(want), wantErr)
			}
			if err == nil {
				continue
			}
			if isEnd(err) != isEnd(wantErr) && (otherErr == nil || isEnd(err) != isEnd(otherErr)) {
				t.Fatalf("limit %d: error is %v, want %v", limit, err, wantErr)
			}
			if odd {
				continue
			}
			if !sameError(err, otherErr) {
				t.Fatalf("limit %d: error is %v, want %v", limit, err, otherErr)
			}
			if !sameText(got, other) {
				t.Fatalf("limit %d: the text before the error differs: %d bytes, want %d", limit, len(got), len(other))
			}
		}
	})
}

func dataFile(tb testing.TB, name string) []byte {
	dir := testrun.Data(tb)
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"yeast_rnaseq_A_R1.fastq.gz", "human_hiseq2500_R1.fastq.gz", "novaseqx_4level_SE151.fastq.gz",
		"gz/denovohybrid_illumina_R1.fastq.gz"} {
		gz := dataFile(b, name)
		z, err := stdgzip.NewReader(bytes.NewReader(gz))
		if err != nil {
			b.Fatal(err)
		}
		want, _ := io.ReadAll(z)
		in := gz[10:]
		if gz[3]&8 != 0 {
			in = in[bytes.IndexByte(in, 0)+1:]
		}
		d := newDecoder()
		d.out = make([]byte, windowSize+1<<20+slack)
		b.Run(filepath.Base(name), func(b *testing.B) {
			b.SetBytes(int64(len(want)))
			for b.Loop() {
				d.reset(in, 0)
				d.low, d.n, d.limit = windowSize, windowSize, windowSize+1<<20
				total := 0
				for s := outputFull; s == outputFull; {
					d.keepWindow()
					s = d.run(1 << 62)
					total += d.n - windowSize
					if s != outputFull && s != memberEnds {
						b.Fatal(s)
					}
				}
				if total != len(want) {
					b.Fatal(total, len(want))
				}
			}
		})
		b.Run("wide/"+filepath.Base(name), func(b *testing.B) {
			b.SetBytes(int64(len(want)))
			d.out = make([]byte, 2*windowSize+2<<20+slack)
			for b.Loop() {
				d.reset(in, 0)
				d.wide = true
				d.low, d.n, d.limit = 0, 2*windowSize, len(d.out)-slack
				total := 0
				for s := outputFull; s == outputFull; {
					copy(d.out, d.out[d.n-2*windowSize:d.n])
					d.n = 2 * windowSize
					s = d.run(1 << 62)
					total += (d.n - 2*windowSize) / 2
					d.wide = true
					if s != outputFull && s != memberEnds {
						b.Fatal(s)
					}
				}
			}
			d.wide = false
		})
		b.Run("klauspost/"+filepath.Base(name), func(b *testing.B) {
			b.SetBytes(int64(len(want)))
			z := flate.NewReader(nil)
			buf := make([]byte, 1<<18)
			for b.Loop() {
				z.(flate.Resetter).Reset(bytes.NewReader(in), nil)
				for {
					if _, err := z.Read(buf); err != nil {
						break
					}
				}
			}
		})
	}
}

// BenchmarkFind looks for places to begin at in a whole file.
func BenchmarkFind(b *testing.B) {
	gz := dataFile(b, "human_hiseq2500_R1.fastq.gz")[:4<<20]
	b.SetBytes(int64(len(gz)))
	before := testrun.CPUTime()
	for b.Loop() {
		f := newFinder(gz, 0, 8*len(gz))
		for {
			if _, ok := f.next(); !ok {
				break
			}
		}
	}
	b.ReportMetric(float64(testrun.CPUTime()-before)/float64(b.N)/1e6, "cpu-ms/op")
}
