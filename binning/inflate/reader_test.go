package inflate

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	stdgzip "compress/gzip"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

// readAll returns what a Reader makes of in.
func readAll(in io.Reader, o Options) ([]byte, stats, error) {
	z := NewReader(context.Background(), in, o)
	defer z.Close()
	var b bytes.Buffer
	_, err := z.WriteTo(&b)
	return b.Bytes(), z.stats, err
}

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
	var w bitWriter
	codes := codesOf(fixedLits[:])
	for i := 0; i == 0 || i < len(text); i += 3000 {
		part := text[i:min(i+3000, len(text))]
		last := i+3000 >= len(text)
		w.put(uint64(b2i(last))|1<<1, 3)
		for _, c := range part {
			w.code(codes, int(c))
		}
		w.code(codes, endOfBlock)
	}
	return wrap(plainHeader, w.bytes(), text)
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
		h := []byte{0x1f, 0x8b, 8, flagName | flagComment | flagExtra, 1, 2, 3, 4, 0, 3}
		if sum {
			h[3] |= flagHeaderCRC
		}
		h = binary.LittleEndian.AppendUint16(h, 5000)
		h = append(h, bytes.Repeat([]byte{7}, 5000)...)
		h = append(h, "name\x00"...)
		h = append(h, strings.Repeat("c", longestName-1)+"\x00"...)
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

// bitWriter writes a deflate stream.
type bitWriter struct {
	b    []byte
	last uint64
	n    int
}

func (w *bitWriter) put(v uint64, n int) {
	w.last |= v << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.b = append(w.b, byte(w.last))
		w.last >>= 8
	}
}

func (w *bitWriter) bytes() []byte {
	if w.n > 0 {
		w.put(0, 8-w.n)
	}
	return w.b
}

// code writes a symbol of a code.
func (w *bitWriter) code(c []prefixCode, symbol int) { w.put(c[symbol].bits, c[symbol].n) }

type prefixCode struct {
	bits uint64 // the first one lowest
	n    int
}

// codesOf returns the canonical code with these lengths.
func codesOf(lengths []uint8) []prefixCode {
	codes := make([]prefixCode, len(lengths))
	next := 0
	for n := 1; n <= maxCodeLen; n++ {
		next <<= 1
		for s, l := range lengths {
			if int(l) == n {
				codes[s] = prefixCode{bits.Reverse64(uint64(next)) >> (64 - n), n}
				next++
			}
		}
	}
	return codes
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

func TestRoundTrip(t *testing.T) {
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
		if testing.Short() {
			text = text[:min(len(text), 60_000)]
		}
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
	if testing.Short() {
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
	text := fastq(4, 600_000)
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
	for _, tail := range []int{0, 1, 2, 5000} {
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
	text := fastq(5, 2_000_000)
	data := bgzip(text)
	for _, o := range []Options{{}, {Threads: 3}, {Threads: 3, chunk: 2048}, {Threads: 2, Memory: MinMemory}} {
		got, s, err := readAll(bytes.NewReader(data), o)
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%+v: %d bytes, %v", o, len(got), err)
		}
		if s.direct != 0 {
			t.Errorf("%+v: %+v", o, s)
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
	size := 6_000_000
	if testing.Short() {
		size = 2_000_000
	}
	text := fastq(6, size)
	accepted := 0
	for i, c := range compressors {
		if testing.Short() && i != 1 {
			continue
		}
		if strings.HasSuffix(c.name, " 0") || c.name == "fixed" || strings.HasPrefix(c.name, "klauspost") || c.name == "flushed often" {
			continue // no dynamic blocks, or few large ones
		}
		data := c.zip(text)
		got, s, err := readAll(bytes.NewReader(data), Options{Threads: 2, chunk: 150_000})
		if err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%s: %d bytes, %v", c.name, len(got), err)
		}
		// How many segments are decoded ahead depends on what else the machine does.
		accepted += s.accepted
		if s.discarded > 1 {
			t.Errorf("%s: %d segments, %+v", c.name, len(data)/150_000, s)
		}
	}
	if accepted == 0 {
		t.Error("no segment was decoded ahead")
	}
}

// errorText returns an error's text, which is the same for CorruptError and the error of
// klauspost/compress.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// compare reads a file, perhaps damaged, as it was read before, and with a Reader. The text must
// be the same up to an error, and the error must be.
func compare(t *testing.T, name string, data []byte) {
	t.Helper()
	want, wantErr := readPlainly(data)
	for _, o := range []Options{{}, {Threads: 3, chunk: 2048}, {Threads: 2, chunk: 20_011}} {
		got, _, err := readAll(bytes.NewReader(data), o)
		if errorText(err) != errorText(wantErr) {
			t.Errorf("%s, %+v: %v, want %v", name, o, err, wantErr)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s, %+v, %v: %d bytes of text, want %d", name, o, err, len(got), len(want))
		}
	}
}

// TestDamaged has files that were flipped, cut, spliced, and had members swapped.
func TestDamaged(t *testing.T) {
	n := 300
	if testing.Short() {
		n = 30
	}
	if os.Getenv("ORCOMGO_LONG") != "" {
		n = 10_000
	}
	text := fastq(7, 120_000)
	member := func(c, from, to int) []byte { return compressors[c%len(compressors)].zip(text[from:to]) }
	for i := range n {
		r := rand.New(rand.NewPCG(7, uint64(i)))
		var members [][]byte
		switch i % 3 {
		case 0:
			members = [][]byte{member(r.IntN(20), 0, 120_000)}
		case 1:
			for from := 0; from < 120_000; from += 20_000 {
				members = append(members, member(r.IntN(20), from, from+20_000))
			}
		default:
			members = [][]byte{bgzip(text)}
		}
		data := slices.Concat(members...)
		at, other := r.IntN(len(data)), r.IntN(len(data))
		var name string
		switch kind := r.IntN(5); {
		case kind == 0:
			name = "cut"
			data = data[:at]
		case kind == 1:
			name = "spliced"
			data = slices.Concat(data[:at], data[other:])
		case kind == 2 && len(members) > 1:
			name = "swapped"
			a, b := r.IntN(len(members)), r.IntN(len(members))
			members[a], members[b] = members[b], members[a]
			data = slices.Concat(members...)
		case kind == 3:
			name = "overwritten"
			copy(data[at:], random(uint64(i), 1+r.IntN(50)))
		default:
			name = "flipped"
			for range 1 + r.IntN(3) {
				data[r.IntN(len(data))] ^= 1 << r.IntN(8)
			}
		}
		compare(t, fmt.Sprintf("%d, %s at %d of %d", i, name, at, len(data)), data)
	}
}

func TestHeaders(t *testing.T) {
	whole := fields(true)([]byte("text"))
	step := 100
	if testing.Short() {
		step = 5
	}
	for n := 0; n < len(whole); n += 1 + n/step {
		compare(t, fmt.Sprintf("cut at %d", n), whole[:n])
		for _, flip := range []byte{1, 32, 255} {
			data := bytes.Clone(whole)
			data[n] ^= flip
			compare(t, fmt.Sprintf("flipped at %d", n), data)
			compare(t, fmt.Sprintf("flipped at %d of the second", n), slices.Concat(whole, data))
		}
	}
	long := bytes.Clone(plainHeader)
	long[3] = flagName
	compare(t, "long name", append(long, bytes.Repeat([]byte("x"), 600)...))
	for _, tail := range []string{"\x00", "\x00\x00\x1f\x8b", "x", "\x1f", "\x1fx", "\x1f\x8b", "\x1f\x8b\x08", "\x00x"} {
		for _, data := range [][]byte{whole, bgzip([]byte("text")), bgzip([]byte("text"))[:70]} {
			compare(t, fmt.Sprintf("%q behind", tail), append(bytes.Clone(data), tail...))
		}
	}
	zeros := append(bytes.Clone(whole), make([]byte, 50_000)...)
	compare(t, "zeros", zeros)
	compare(t, "zeros and a byte", append(zeros, 1))
	var data []byte
	compare(t, "nothing", data)
}

// TestDamagedTime: damage must not make reading much slower.
func TestDamagedTime(t *testing.T) {
	if testing.Short() {
		t.Skip("a matter of time")
	}
	text := fastq(8, 4_000_000)
	sound := goLevel(6)(text)
	// Processor time, since others may use the machine.
	measure := func(data []byte) time.Duration {
		best := int64(math.MaxInt64)
		for range 3 {
			began := cpuTime()
			readAll(bytes.NewReader(data), Options{Threads: 2})
			best = min(best, cpuTime()-began)
		}
		return time.Duration(best)
	}
	limit := 10 * measure(sound)
	for i := range 30 {
		data := bytes.Clone(sound)
		data[(i+1)*len(data)/32] ^= 1 << (i % 8)
		if got := measure(data); got > limit {
			t.Errorf("damage %d: %v, limit %v", i, got, limit)
		}
	}
	// Headers of blocks that are none, in stored blocks.
	zipped := goLevel(6)(text[:100_000])
	traps := goLevel(0)(bytes.Repeat(zipped[10:200], 20_000))
	if got := measure(traps); got > limit {
		t.Errorf("headers in stored blocks: %v, limit %v", got, limit)
	}
}

// TestMemoryBound inflates text of a thousand times the input's size.
func TestMemoryBound(t *testing.T) {
	size := int64(300 << 20)
	if testing.Short() {
		size = 40 << 20
	}
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
	text := fastq(10, 3_000_000)
	data := goLevel(6)(text)
	before := runtime.NumGoroutine()
	readers := 40
	if testing.Short() {
		readers = 12
	}
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
		z.Close()
		if _, err := z.Next(); err == nil {
			t.Error("a closed reader gives text")
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
				before := cpuTime()
				for b.Loop() {
					z := NewReader(context.Background(), bytes.NewReader(gz), Options{Threads: threads})
					if k, err := z.WriteTo(io.Discard); k != n || err != nil {
						b.Fatal(k, err)
					}
					z.Close()
				}
				b.ReportMetric(float64(cpuTime()-before)/float64(b.N)/1e6, "cpu-ms/op")
			})
		}
		b.Run(filepath.Base(name)+"/klauspost", func(b *testing.B) {
			b.SetBytes(n)
			before := cpuTime()
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
			b.ReportMetric(float64(cpuTime()-before)/float64(b.N)/1e6, "cpu-ms/op")
		})
	}
}
