package inflate

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	stdgzip "compress/gzip"

	"github.com/klauspost/compress/gzip"

	"orcomgo/internal/testrun"
)

// readAll returns what a Reader makes of in.
func readAll(in io.Reader, o Options) ([]byte, stats, error) {
	z := NewReader(context.Background(), in, o)
	defer z.Close()
	var b bytes.Buffer
	_, err := io.Copy(&b, z)
	return b.Bytes(), z.stats, err
}

func TestRoundTrip(t *testing.T) {
	testrun.NoRace(t)
	zips := compressors
	for _, program := range []string{"gzip -1", "gzip -6", "gzip -9", "pigz -1 -p 3", "pigz -9 -p 2",
		"zopfli -c --i1", "igzip -c", "bgzip -c"} {
		args := strings.Fields(program)
		if path, err := exec.LookPath(args[0]); err == nil {
			zips = append(zips, zip{program, func(text []byte) []byte {
				c := exec.Command(path, args[1:]...)
				c.Stdin = bytes.NewReader(text)
				out, err := c.Output()
				if err != nil {
					t.Fatal(program, err)
				}
				return out
			}})
		}
	}
	for name, text := range samples() {
		text = text[:min(len(text), testrun.Pick(60_000, 100_000, 1<<30))]
		for i, c := range zips {
			data := c.zip(text)
			for _, o := range []Options{{}, {Threads: 3, chunk: 2048}, {Threads: 2, chunk: 3001 + 17*i}, {Threads: 4, chunk: 30_000},
				{chunk: 5000}} {
				got, _, err := readAll(iotest.OneByteReader(bytes.NewReader(data)), o)
				if err != nil || !bytes.Equal(got, text) {
					t.Errorf("%s, %s, %+v: %d bytes, %v; want %d", name, c.name, o, len(got), err, len(text))
				}
			}
		}
	}
}

// TestBoundaries moves the boundaries of segments over every place of a file.
func TestBoundaries(t *testing.T) {
	text := fastq(3, 30_000)
	data := slices.Concat(goLevel(6)(text[:20_000]), flushed(700)(text[20_000:]))
	step := 3
	if testrun.Short() {
		step = 101
	}
	for chunk := 2 * overlap; chunk < len(data)+10; chunk += step {
		got, _, err := readAll(bytes.NewReader(data), Options{Threads: 2, chunk: chunk})
		if err != nil || !bytes.Equal(got, text) {
			t.Fatalf("chunk %d: %d bytes, %v", chunk, len(got), err)
		}
	}
}

// TestMembers has many members, empty ones too, of which those in the middle are found by
// their headers.
func TestMembers(t *testing.T) {
	text := fastq(4, testrun.Pick(150_000, 400_000, 600_000))
	var data []byte
	r := rand.New(rand.NewPCG(4, 4))
	for rest := text; ; {
		n := min(len(rest), r.IntN(9000))
		if r.IntN(5) == 0 {
			n = 0
		}
		data = append(data, compressors[r.IntN(len(compressors))].zip(rest[:n])...)
		if rest = rest[n:]; len(rest) == 0 {
			break
		}
	}
	for _, tail := range testrun.Pick([]int{0, 5000}, []int{0, 1, 2, 5000}, []int{0, 1, 2, 5000}) {
		for _, chunk := range []int{0, 2048, 10_000, 50_000} {
			got, s, err := readAll(bytes.NewReader(append(data[:len(data):len(data)], make([]byte, tail)...)), Options{Threads: 3, chunk: chunk})
			if err != nil || !bytes.Equal(got, text) {
				t.Fatalf("chunk %d: %d bytes, %v", chunk, len(got), err)
			}
			if chunk == 10_000 && s.accepted == 0 {
				t.Error("nothing was decoded ahead")
			}
		}
	}
}

func TestBGZF(t *testing.T) {
	text := fastq(5, testrun.Pick(300_000, 1_200_000, 2_000_000))
	data := bgzip(text)
	for _, o := range []Options{{}, {Threads: 3}, {Threads: 3, chunk: 2048}, {Threads: 2, Memory: MinMemory}} {
		got, s, err := readAll(bytes.NewReader(data), o)
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%+v: %d bytes, %v", o, len(got), err)
		}
		if o.Threads > 1 && o.Memory == 0 && o.chunk > 0 && s.accepted == 0 {
			t.Errorf("%+v: nothing was decoded ahead", o)
		}
	}
	mixed := slices.Concat(data[:len(data)-28], goLevel(6)(text), data)
	got, _, err := readAll(bytes.NewReader(mixed), Options{Threads: 3, chunk: 50_000})
	if err != nil || !bytes.Equal(got, slices.Concat(text, text, text)) {
		t.Errorf("BGZF, gzip, BGZF: %d bytes, %v", len(got), err)
	}
}

// TestAhead: a single member is decoded ahead of the chain, and what is found there is used.
func TestAhead(t *testing.T) {
	size := testrun.Pick(1_000_000, 1_500_000, 3_000_000)
	text := fastq(6, size)
	accepted := 0
	for i, c := range compressors {
		if testrun.Short() && i != 1 {
			continue
		}
		if strings.HasSuffix(c.name, " 0") || c.name == "fixed" || strings.HasPrefix(c.name, "klauspost") || c.name == "flushed often" {
			continue // no dynamic blocks, or few large ones
		}
		data := c.zip(text)
		got, s, err := readAll(bytes.NewReader(data), Options{Threads: 2, chunk: size * 3 / 40})
		if err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%s: %d bytes, %v", c.name, len(got), err)
		}
		// How many segments are decoded ahead depends on what else the machine does.
		accepted += s.accepted
		if s.discarded > 1 {
			t.Errorf("%s: %d segments, %+v", c.name, len(data)/(size*3/40), s)
		}
	}
	if accepted == 0 {
		t.Error("no segment was decoded ahead")
	}
}

// TestMemoryBound inflates text of a thousand times the input's size.
func TestMemoryBound(t *testing.T) {
	testrun.NoRace(t)
	size := testrun.Pick[int64](40<<20, 150<<20, 300<<20)
	var b bytes.Buffer
	z, _ := stdgzip.NewWriterLevel(&b, 1)
	io.Copy(z, io.LimitReader(zeroReader{}, size))
	z.Close()
	for _, data := range [][]byte{b.Bytes(), slices.Concat(goLevel(6)(fastq(9, 1_000_000)), b.Bytes())} {
		for _, o := range []Options{{Threads: 4, Memory: 6 << 20}, {Threads: 1}, {Threads: 2, Memory: 40 << 20}} {
			z := NewReader(context.Background(), bytes.NewReader(data), o)
			total, most := 0, 0
			for {
				p, err := z.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				total += len(p.Text)
				z.pool.mu.Lock()
				most = max(most, z.pool.size)
				z.pool.mu.Unlock()
				p.Release()
			}
			z.Close()
			if int64(total) < size {
				t.Errorf("%+v: %d bytes", o, total)
			}
			if bound := max(o.Memory, MinMemory); o.Memory > 0 && most > bound+bound/4 {
				t.Errorf("%+v: %d bytes of buffers", o, most)
			}
		}
	}
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestGoroutines: none are left, wherever reading stops.
func TestGoroutines(t *testing.T) {
	readers := testrun.Pick(9, 24, 40)
	data := goLevel(6)(fastq(10, testrun.Pick(700_000, 2_000_000, 3_000_000)))
	before := runtime.NumGoroutine()
	for i := range readers {
		ctx, cancel := context.WithCancel(context.Background())
		z := NewReader(ctx, bytes.NewReader(data), Options{Threads: 3, chunk: 40_000})
		if i%4 != 0 {
			io.ReadFull(z, make([]byte, i*70_000))
		}
		if i%3 == 0 {
			cancel()
			var err error
			for err == nil { // text may be there already, even all of it
				_, err = z.Next()
			}
			if err != context.Canceled && err != io.EOF {
				t.Fatal(err)
			}
		}
		var ended atomic.Bool
		z.begin(new(span), func() { time.Sleep(5 * time.Millisecond); ended.Store(true) }, true)
		z.Close()
		if !ended.Load() {
			t.Error("Close did not wait for a task")
		}
		if _, err := z.Next(); err == nil {
			t.Error("a closed reader gives text")
		}
		for range cap(z.events) + 1 { // more than anybody waits for
			go z.tell(event{idle: true})
		}
		cancel()
	}
	for wait := time.Now(); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Since(wait) > 10*time.Second {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// TestPipe: waiting for a pipe ends with the context; what it gave is text before its error.
func TestPipe(t *testing.T) {
	text := fastq(11, 300_000)
	data := goLevel(6)(text)
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	z := NewReader(ctx, r, Options{Threads: 2, chunk: 10_000})
	go func() {
		w.Write(data[:30_000])
		cancel()
	}()
	if _, err := io.Copy(io.Discard, onlyReader{z}); err != context.Canceled {
		t.Fatal(err)
	}
	z.Close()
	w.Close()

	broken := errors.New("broken")
	in := io.MultiReader(bytes.NewReader(data[:30_000]), iotest.ErrReader(broken))
	got, _, err := readAll(in, Options{Threads: 2, chunk: 10_000})
	if err != broken || len(got) == 0 || !bytes.HasPrefix(text, got) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

type onlyReader struct{ io.Reader }

// FuzzReader compares with what the file was before.
func FuzzReader(f *testing.F) {
	text := fastq(12, 20_000)
	for _, c := range compressors {
		f.Add(c.zip(text), uint16(0))
		f.Add(slices.Concat(c.zip(text[:7000]), c.zip(nil), c.zip(text[7000:])), uint16(3000))
	}
	f.Add(bgzip(text), uint16(100))
	f.Fuzz(func(t *testing.T, data []byte, chunk uint16) {
		want, wantErr := readPlainly(data)
		got, _, err := readAll(bytes.NewReader(data), Options{Threads: 2, chunk: 2*overlap + int(chunk)})
		if wantErr == nil && (err != nil || !bytes.Equal(got, want)) || wantErr != nil && err == nil {
			t.Fatalf("%d bytes, %v; want %d, %v", len(got), err, len(want), wantErr)
		}
		if err != nil && !bytes.HasPrefix(got, want) {
			t.Fatalf("the text before the error differs")
		}
	})
}

func TestCombineCRC(t *testing.T) {
	text := random(13, 100_000)
	for _, at := range []int{0, 1, 3, 1000, 65_536, 99_999, 100_000} {
		got := combineCRC(crc32.ChecksumIEEE(text[:at]), crc32.ChecksumIEEE(text[at:]), len(text)-at)
		if want := crc32.ChecksumIEEE(text); got != want {
			t.Errorf("at %d: %08x, want %08x", at, got, want)
		}
	}
}

// TestData reads real files.
func TestData(t *testing.T) {
	for _, name := range []string{"human_hiseq2500_R1.fastq.gz", "gz/ERR1438863_R1.fastq.gz", "gz/ERR6005894_R1.fastq.gz",
		"gz/covid19_SRR10903401_1.fastq.gz", "gz/sequana_Hm2_GTGAAA_L005_R1_001.fastq.gz", "gz/denovohybrid_illumina_R1.fastq.gz"} {
		data := dataFile(t, name)
		want, err := readPlainly(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []Options{{}, {Threads: 2}, {Threads: 5, chunk: 70_000}, {Threads: 2, chunk: 4096}} {
			got, s, err := readAll(bytes.NewReader(data), o)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, %+v: %d bytes, %v; want %d", name, o, len(got), err, len(want))
			}
			t.Logf("%s, %+v: %+v", name, o, s)
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
				before := testrun.CPUTime()
				for b.Loop() {
					z := NewReader(context.Background(), bytes.NewReader(gz), Options{Threads: threads})
					if k, err := io.Copy(io.Discard, z); k != n || err != nil {
						b.Fatal(k, err)
					}
					z.Close()
				}
				b.ReportMetric(float64(testrun.CPUTime()-before)/float64(b.N)/1e6, "cpu-ms/op")
			})
		}
		b.Run(filepath.Base(name)+"/klauspost", func(b *testing.B) {
			b.SetBytes(n)
			before := testrun.CPUTime()
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
			b.ReportMetric(float64(testrun.CPUTime()-before)/float64(b.N)/1e6, "cpu-ms/op")
		})
	}
}
