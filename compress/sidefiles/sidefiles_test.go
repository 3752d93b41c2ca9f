package sidefiles

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"orcomgo/bins/parse"
	"orcomgo/internal/testrun"
	"orcomgo/internal/testvector"
)

// inMemory returns a file with the given content.
func inMemory(name string, content []byte) File {
	return File{name, int64(len(content)), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }}
}

func table(rows int) []byte {
	r := rand.New(rand.NewSource(1))
	var b bytes.Buffer
	for i := range rows {
		n := r.Intn(100000)
		fmt.Fprintf(&b, "read_%06d\t%d\t%.3f\tpass\n", i, n, float64(n)/1000)
	}
	return b.Bytes()
}

func metrics(rows int) []byte {
	r := rand.New(rand.NewSource(2))
	b := []byte{2, 10}
	for i := range rows {
		b = binary.LittleEndian.AppendUint16(b, uint16(1101+i%16))
		b = binary.LittleEndian.AppendUint32(b, uint32(i/16+1))
		b = binary.LittleEndian.AppendUint32(b, uint32(100000+r.Intn(3000)))
	}
	return b
}

func noise(n int) []byte {
	b := make([]byte, n)
	rand.New(rand.NewSource(3)).Read(b)
	return b
}

// array returns a file of numpy.
func array(n int) []byte {
	text := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }\n", n)
	b := append(append([]byte("\x93NUMPY\x01\x00"), byte(len(text)), 0), text...)
	for i := range n {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(math.Sin(float64(i)/100)))
	}
	return b
}

// contents are what the files of tests have, by their names, and how the encoder should code them.
var contents = []struct {
	name    string
	content []byte
	method  method
}{
	{"RunInfo.xml", []byte(strings.Repeat("<Read Number=\"1\" NumCycles=\"151\" />\n", 40)), methodGeneral},
	{"empty.txt", nil, methodGeneral},
	{"InterOp/TileMetricsOut.bin", metrics(3000), methodRecords},
	{"quant.sf", table(1500), methodTables},
	{"report.zip", append([]byte("PK\x03\x04"), noise(3000)...), methodStored},
	{"data", noise(8000)[3000:], methodStored},
	{"b/log.txt", []byte("one line\n"), methodGeneral},
	{"a/log.txt", []byte("another line"), methodGeneral},
	{"depths.npy", array(4000), methodDoubles},
	{"field.dat", array(2000)[71:], methodDoubles},
	{"small.bin", []byte{0, 1, 2, 3}, methodStored},
	{"name\xff\nof any bytes", []byte("x"), methodGeneral},
}

func testFiles() []File {
	var files []File
	for _, c := range contents {
		files = append(files, inMemory(c.name, c.content))
	}
	return files
}

func encode(t testing.TB, files []File, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	index, err := Encode(context.Background(), &b, files, o)
	if err != nil {
		t.Fatal(err)
	}
	b.Write(index)
	return binary.LittleEndian.AppendUint64(b.Bytes(), uint64(len(files))<<32|uint64(len(index)))
}

// open opens what encode returned.
func open(stream []byte, o Options) (*Reader, error) {
	if len(stream) < 8 {
		return nil, ErrCorrupt
	}
	rest, sizes := stream[:len(stream)-8], binary.LittleEndian.Uint64(stream[len(stream)-8:])
	size := len(rest) - int(sizes&math.MaxUint32)
	if size < 0 || sizes>>32 > uint64(len(rest)) {
		return nil, ErrCorrupt
	}
	return NewReader(bytes.NewReader(rest), int64(size), rest[size:], int(sizes>>32), o)
}

func TestRoundTrip(t *testing.T) {
	for _, size := range []int{4096, blockSize} {
		stream := encode(t, testFiles(), Options{Threads: 1, blockSize: size})
		if !bytes.Equal(encode(t, testFiles(), Options{Threads: 3, blockSize: size}), stream) {
			t.Errorf("blocks of %d: the stream depends on threads", size)
		}
		z, err := open(stream, Options{Threads: 3})
		if err != nil {
			t.Fatal(err)
		}
		if z.Len() != len(contents) {
			t.Fatalf("%d files", z.Len())
		}
		for i, c := range contents {
			var b bytes.Buffer
			if err := z.WriteFile(t.Context(), &b, i); err != nil || !bytes.Equal(b.Bytes(), c.content) {
				t.Errorf("%s, blocks of %d: %d bytes of %d, %v", c.name, size, b.Len(), len(c.content), err)
			}
			if z.Size(i) != int64(len(c.content)) {
				t.Errorf("%q has %d bytes", c.name, z.Size(i))
			}
		}
	}
	z, err := open(encode(t, nil, Options{}), Options{})
	if err != nil || z.Len() != 0 {
		t.Errorf("no files: %v", err)
	}
}

// TestChoice: each file is coded by the method for its content.
func TestChoice(t *testing.T) {
	z, err := open(encode(t, testFiles(), Options{}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range contents {
		if len(c.content) == 0 {
			continue
		}
		b, _ := z.blocksOf(z.place[i])
		if got := z.blocks[b].method; got != c.method {
			t.Errorf("%q is coded by method %d, want %d", c.name, got, c.method)
		}
	}
	files := testFiles()
	slices.Reverse(files)
	y, err := open(encode(t, files, Options{}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for at := range z.entries {
		if a, b := z.entries[at].number, len(files)-1-y.entries[at].number; a != b {
			t.Errorf("file %d of the stream is %s, and %s if files are given in another order", at, contents[a].name, contents[b].name)
		}
	}
}

// alikeTables returns n small tables of one kind, with a header each.
func alikeTables(n int) []File {
	var files []File
	for i := range n {
		r := rand.New(rand.NewSource(int64(i)))
		b := bytes.NewBufferString("Name\tLength\tReads\n")
		for row := range 90 + i%50 {
			fmt.Fprintf(b, "transcript_%05d\t%d\t%.3f\n", 7*row+i, 400+r.Intn(3000), float64(r.Intn(90000))/1000)
		}
		files = append(files, inMemory(fmt.Sprintf("sample%03d/quant.sf", i), b.Bytes()))
	}
	return files
}

// TestAlike: small tables of one kind are coded together, in fewer bytes.
func TestAlike(t *testing.T) {
	const n = 20
	files := alikeTables(n)
	other := inMemory("other.sf", []byte(strings.Repeat("a b c d\n", 300)))
	few := inMemory("few.csv", table(80))
	list := append([]File{other, few}, files...)
	stream := encode(t, list, Options{Threads: 1})
	if !bytes.Equal(encode(t, list, Options{Threads: 3}), stream) {
		t.Error("the stream depends on threads")
	}
	z, err := open(stream, Options{})
	if err != nil {
		t.Fatal(err)
	}
	coded := map[int]bool{} // blocks
	for i, f := range list {
		want, _ := f.Open()
		content, _ := io.ReadAll(want)
		var b bytes.Buffer
		if err := z.WriteFile(t.Context(), &b, i); err != nil || !bytes.Equal(b.Bytes(), content) {
			t.Errorf("%s comes back as %d bytes of %d: %v", f.Name, b.Len(), len(content), err)
		}
		if k, _ := z.blocksOf(z.place[i]); i >= 2 {
			coded[k] = true
		}
	}
	if len(coded) != 1 {
		t.Errorf("%d tables of one kind are in %d blocks", n, len(coded))
	}
	for k := range coded {
		if z.blocks[k].method != methodTables {
			t.Errorf("tables of one kind are coded by method %d", z.blocks[k].method)
		}
	}
	alone := 0
	for _, f := range files {
		alone += len(encode(t, []File{f}, Options{}))
	}
	if together := len(encode(t, files, Options{})); together > alone*3/4 {
		t.Errorf("%d tables take %d bytes together, %d alone", n, together, alone)
	}
}

// TestAlikeBlocks: of many small tables some are in a block.
func TestAlikeBlocks(t *testing.T) {
	files := alikeTables(500)
	total := 0
	for _, f := range files {
		total += int(f.Size)
	}
	z, err := open(encode(t, files, Options{Threads: 2}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := total/alikeBlock + 1; len(z.blocks) != want {
		t.Errorf("%d bytes are in %d blocks, want %d", total, len(z.blocks), want)
	}
}

// TestCodeBlock: a block is coded by the method of its class or by the general one, whichever takes fewer bytes.
func TestCodeBlock(t *testing.T) {
	again := bytes.Repeat(noise(40_001), 5)
	for _, c := range []struct {
		name  string
		block []byte
		class class
		want  method
	}{
		{"smooth", array(20000), classRecords, methodDoubles},
		{"repeats", again, classRecords, methodGeneral},
		{"noise", noise(40_000), classRecords, methodStored},
		{"metrics", metrics(1200), classRecords, methodRecords},
		{"repeats", again, classRecords, methodGeneral},
		{"noise", noise(9_000), classRecords, methodStored},
		{"base64", []byte("<p>\n" + base64.StdEncoding.EncodeToString(noise(900))), classText, methodBase64},
	} {
		m, b := codeBlock(c.block, c.class, nil)
		if m != c.want {
			t.Errorf("%s: coded by method %d in %d bytes", c.name, m, len(b))
		}
		if got, err := decodeBlock(m, b, len(c.block)); err != nil || !bytes.Equal(got, c.block) {
			t.Errorf("%s: other bytes come back: %v", c.name, err)
		}
	}
}

func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	for name, f := range map[string]File{
		"cannot be opened": {"f", 3, func() (io.ReadCloser, error) { return nil, broken }},
		"cannot be read":   {"f", 3, func() (io.ReadCloser, error) { return io.NopCloser(iotest.ErrReader(broken)), nil }},
	} {
		if _, err := Encode(t.Context(), io.Discard, []File{f}, Options{}); !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "f: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, size := range []int64{3, 5} {
		f := inMemory("f", []byte("four"))
		f.Size = size
		if _, err := Encode(t.Context(), io.Discard, []File{f}, Options{}); err == nil || !strings.Contains(err.Error(), "changed") {
			t.Errorf("a file of 4 bytes for one of %d: %v", size, err)
		}
	}
	if _, err := Encode(t.Context(), &limited{10, broken}, testFiles(), Options{blockSize: 4096, Threads: 2}); err != broken {
		t.Errorf("a writer that fails: %v", err)
	}
}

// limited fails after so many bytes.
type limited struct {
	n   int
	err error
}

func (l *limited) Write(b []byte) (int, error) {
	if l.n -= len(b); l.n < 0 {
		return 0, l.err
	}
	return len(b), nil
}

// collector keeps the contents of files that are whole.
type collector struct {
	now  bytes.Buffer
	all  map[int]string
	errs []error
}

func (c *collector) begin(int) (io.Writer, error) {
	c.now.Reset()
	return &c.now, nil
}

func (c *collector) end(i int, damage error) error {
	if damage == nil {
		c.all[i] = c.now.String()
	} else {
		c.errs = append(c.errs, damage)
	}
	return nil
}

// readAll reads all files of a stream, and returns the contents of those that are sound.
func readAll(stream []byte) (map[int]string, error) {
	z, err := open(stream, Options{Threads: 1})
	if err != nil {
		return nil, err
	}
	c := collector{all: make(map[int]string)}
	if err := z.Extract(context.Background(), nil, Sink{c.begin, c.end}); err != nil {
		return nil, err
	}
	damage, err := z.Check(context.Background())
	if quick := errors.Join(damage...); (quick == nil) != (len(c.errs) == 0) {
		return nil, fmt.Errorf("decoding: %v, checking: %v", c.errs, quick)
	}
	return c.all, errors.Join(append(c.errs, err)...)
}

// TestExtractSome: what is damaged takes no other file with it, and memory bounds blocks and threads.
func TestExtractSome(t *testing.T) {
	text := func(c byte) []byte { return bytes.Repeat([]byte{c, '\n'}, 2048) }
	files := []File{inMemory("a", text('a')), inMemory("b", text('b')), inMemory("c", text('c')), inMemory("none", nil)}
	stream := encode(t, files, Options{blockSize: 4096})
	z, err := open(stream, Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	stream[z.blocks[1].at] ^= 1
	c := collector{all: make(map[int]string)}
	if err := z.Extract(t.Context(), nil, Sink{c.begin, c.end}); err != nil || len(c.errs) != 1 || len(c.all) != 3 || c.errs[0] != ErrCorrupt {
		t.Errorf("%d files of 3, %v, %v", len(c.all), c.errs, err)
	}
	for i, want := range c.all {
		var b bytes.Buffer
		if err := z.WriteFile(t.Context(), &b, i); err != nil || b.String() != want || want != "" && want != string(text("abc"[i])) {
			t.Errorf("file %d by itself: %d bytes, %v", i, b.Len(), err)
		}
	}
	if z, err = open(encode(t, files, Options{Memory: 1}), Options{Memory: 1, Threads: 3}); err != nil || z.o.Threads != 1 {
		t.Errorf("with hardly any memory: %d threads, %v", z.o.Threads, err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := z.Extract(stopped, nil, Sink{c.begin, c.end}); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancellation: %v", err)
	}
}

// TestChanged: of files that are not what they were, one is named if there is doubt of it or of one in its block.
func TestChanged(t *testing.T) {
	line := bytes.Repeat([]byte("a line\n"), 2000)
	now := [][]byte{line, nil, []byte("abc"), noise(9000), append([]byte("abd"), line...)}
	var files []File
	for i, b := range now {
		files = append(files, inMemory(fmt.Sprintf("f%d.txt", i), b))
	}
	stream := encode(t, files, Options{blockSize: 4096})
	z, err := open(stream, Options{})
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, doubt []bool, want int) {
		t.Helper()
		got, err := z.Changed(doubt, func(i int) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(now[i])), nil })
		if got != want || err != nil {
			t.Errorf("%s: file %d was changed, %v; want %d", what, got, err, want)
		}
	}
	all, none := []bool{true, true, true, true, true}, make([]bool, 5)
	check("nothing", all, -1)
	for i, b := range now {
		for _, at := range []int{0, len(b) / 2, len(b) - 1} {
			if len(b) > 0 {
				now[i] = bytes.Clone(b)
				now[i][at] ^= 1
				one := make([]bool, 5)
				one[i] = true
				check("a byte of one", all, i)
				check("a byte of one with doubt", one, i)
				check("a byte without doubt", none, -1)
				now[i] = b
			}
		}
	}
	now[2] = now[2][:2]
	if _, err := z.Changed(all, func(i int) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(now[i])), nil }); err == nil {
		t.Error("a shorter file gives no error")
	}
	now[2] = []byte("abc")
	stream[z.blocks[0].at] ^= 1
	z.blocks[0].hash++
	check("damage", all, z.entries[0].number)
}

func TestDamage(t *testing.T) {
	stream := encode(t, []File{inMemory("a", []byte("GATTACA\n")), inMemory("b.bin", metrics(300))}, Options{})
	want, err := readAll(stream)
	if err != nil {
		t.Fatal(err)
	}
	for i := range stream {
		if _, err := readAll(stream[:i]); err == nil {
			t.Fatalf("no error after %d bytes of %d", i, len(stream))
		}
		damaged := bytes.Clone(stream)
		damaged[i] ^= 1 << (i % 8)
		if got, err := readAll(damaged); err == nil && !maps.Equal(got, want) {
			t.Fatalf("byte %d damaged: other files and no error", i)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(encode(f, nil, Options{}))
	f.Add(encode(f, testFiles()[:2], Options{}))
	f.Add(encode(f, testFiles()[6:], Options{}))
	f.Fuzz(func(t *testing.T, stream []byte) {
		z, err := open(stream, Options{Threads: 2})
		for i := 0; err == nil && i < z.Len() && z.Size(i) < 1<<20; i++ {
			err = z.WriteFile(t.Context(), io.Discard, i)
		}
	})
}

// TestBase64: base64 in text comes back with any padding, or what looks like it, and takes little more than its decoded bytes.
func TestBase64(t *testing.T) {
	letters := func(n int) string { return base64.StdEncoding.EncodeToString(noise(n)) }
	cut := strings.TrimRight(letters(1000), "=")
	for name, text := range map[string]string{
		"alone": letters(999), "padding": letters(1000), "more padding": letters(1001), "no padding": cut, "half of the padding": cut + "=",
		"too much padding": letters(1000) + "===", "letters after it": letters(1000) + letters(300),
		"bits in the last letter": cut[:len(cut)-1] + "/==",
		"too little at the end":   letters(1000) + " " + letters(40), "lines": strings.Repeat(letters(57)+"\n", 20),
		"line end in place of padding": cut + "\n=",
		"bases before":                 strings.Repeat("GATTACA", 30) + "," + letters(1000),
		"other alphabet":               strings.ReplaceAll(letters(1000), "+", "-"),
	} {
		text = "<img src=\"data:image/png;base64," + text + "\">\n"
		coded, ok := encodeBase64([]byte(text))
		got, err := decodeBase64(coded, len(text))
		if !ok || string(got) != text || err != nil {
			t.Errorf("%s: %v, %v, %d bytes of %d", name, ok, err, len(got), len(text))
		}
		if len(coded) > len(text)*3/4+150 {
			t.Errorf("%s: %d bytes take %d", name, len(text), len(coded))
		}
	}
	for _, text := range []string{"", strings.Repeat("GATTACA", 99), strings.Repeat("0123456789abcdef", 20), letters(45)} {
		if _, ok := encodeBase64([]byte(text)); ok {
			t.Errorf("%.20s...: taken for base64", text)
		}
	}
}

func FuzzBase64(f *testing.F) {
	for _, text := range []string{"", base64.StdEncoding.EncodeToString(noise(100)),
		strings.Repeat(base64.StdEncoding.EncodeToString(noise(57))+"\n", 3)} {
		coded, _ := encodeBase64([]byte(text))
		f.Add([]byte(text), coded)
	}
	f.Fuzz(func(t *testing.T, text, stream []byte) {
		coded, ok := encodeBase64(text)
		if got, err := decodeBase64(coded, len(text)); ok && (err != nil || !bytes.Equal(got, text)) {
			t.Errorf("%q came back as %q, %v", text, got, err)
		}
		if got, _ := decodeBase64(stream, 1<<16); len(got) > 1<<17 {
			t.Errorf("%d bytes", len(got))
		}
	})
}

// FuzzIndex reads indexes whose hash need not be right.
func FuzzIndex(f *testing.F) {
	fields := &parse.Fields{}
	(&index{[]entry{{name: "a", size: 7}}, []block{{methodGeneral, 7, 7, 1, 1}}}).code(fields)
	f.Add(fields.Out, uint64(7), uint8(1))
	f.Fuzz(func(t *testing.T, index []byte, coded uint64, files uint8) {
		z := &Reader{entries: make([]entry, files)}
		if z.readIndex(index, coded) {
			for i := range z.Len() {
				z.Coded(i)
			}
		}
	})
}

// TestVectors codes the files of testdata/vectors/sidefiles.txt and decodes them.
func TestVectors(t *testing.T) {
	testvector.Run(t, "../../testdata/vectors/sidefiles.txt", func(t *testing.T, v *testvector.Vector) {
		var files []File
		want := make(map[int]string)
		for _, s := range v.Strings(t, "files") {
			name, content, _ := strings.Cut(s, "=")
			files = append(files, inMemory(name, []byte(content)))
			want[len(files)-1] = content
		}
		got, err := readAll(v.Bytes(t, "bytes", encode(t, files, Options{})))
		if err != nil || !maps.Equal(got, want) {
			t.Fatalf("%v, %v; want %v", got, err, want)
		}
	})
}

// TestRunFolder codes the side files of a run and compares their size with that of xz.
func TestRunFolder(t *testing.T) {
	testrun.OnlyLong(t)
	dir := testrun.Data(t)
	root := filepath.Join(dir, "runfolder")
	var files []File
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			files = append(files, File{path, info.Size(), func() (io.ReadCloser, error) { return os.Open(path) }})
		}
		return err
	})
	if err != nil {
		t.Skip(err)
	}
	stream := encode(t, files, Options{})
	z, err := open(stream, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		var b bytes.Buffer
		want, _ := os.ReadFile(f.Name)
		if err := z.WriteFile(t.Context(), &b, i); err != nil || !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s differs: %v", f.Name, err)
		}
	}
	const xz = 8123336 // tar | xz -9e
	t.Logf("%d files: %d bytes, %.3f of xz -9e", len(files), len(stream), float64(len(stream))/xz)
	if len(stream) > xz*85/100 {
		t.Errorf("%d bytes, at most %d expected", len(stream), xz*85/100)
	}
}

func BenchmarkEncode(b *testing.B) {
	files, total := testFiles(), int64(0)
	for _, f := range files {
		total += f.Size
	}
	b.SetBytes(total)
	for b.Loop() {
		encode(b, files, Options{})
	}
}

func BenchmarkReader(b *testing.B) {
	files, total := testFiles(), int64(0)
	for _, f := range files {
		total += f.Size
	}
	stream := encode(b, files, Options{})
	b.SetBytes(total)
	for b.Loop() {
		if _, err := readAll(stream); err != nil {
			b.Fatal(err)
		}
	}
}

// TestZeros: blocks of zeros are coded once, as what they are in a file of any class.
func TestZeros(t *testing.T) {
	const block = 1 << 16
	for name, around := range map[string][]byte{"noise": noise(3000), "text": []byte("a line\n"), "nothing": nil} {
		content := slices.Concat(make([]byte, 3*block+100), around, make([]byte, 5*block), around)
		for _, threads := range []int{1, 3} {
			files := []File{inMemory("x.img", content), inMemory("y.img", content[:block])}
			z, err := open(encode(t, files, Options{Threads: threads, blockSize: block}), Options{Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range [][]byte{content, content[:block]} {
				var got bytes.Buffer
				if err := z.WriteFile(t.Context(), &got, i); err != nil || !bytes.Equal(got.Bytes(), want) {
					t.Errorf("%s, %d threads: file %d: other bytes: %v", name, threads, i, err)
				}
			}
		}
	}
}
