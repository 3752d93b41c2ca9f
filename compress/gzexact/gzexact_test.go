package gzexact

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	kgzip "github.com/klauspost/compress/gzip"

	"orcomgo/bins/parse"
	"orcomgo/compress/rangecoder"
	"orcomgo/internal/testrun"
)

// fastq returns n bytes of records that resemble a sequencer's.
func fastq(n int) []byte {
	r := rand.New(rand.NewPCG(1, 1))
	genome := make([]byte, 20_000)
	for i := range genome {
		genome[i] = "ACGT"[r.IntN(4)]
	}
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		at := r.IntN(len(genome) - 100)
		fmt.Fprintf(&b, "@SIM:FC:%d:%d:%d\n%s\n+\n", i/1000, r.IntN(30000), i, genome[at:at+100])
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

func random(n int) []byte {
	r := rand.New(rand.NewPCG(2, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// texts are the texts that all writers get, by name; large ones only where that is said.
func texts(large bool) map[string][]byte {
	many := fastq(testrun.Pick(100_000, 150_000, 3_000_000))
	mixed := bytes.Join([][]byte{many, random(30_000), make([]byte, 50_000), many[:1000]}, nil)
	if !testrun.Long() {
		return map[string][]byte{"nothing": nil, "a record": fastq(250), "mixed": mixed}
	}
	list := map[string][]byte{
		"nothing": nil, "a byte": []byte("A"), "two": []byte("AC"), "repeated": bytes.Repeat([]byte("ACGT"), 3), "a record": fastq(250),
		"zeros": make([]byte, 300_000), "random": random(80_000), "records": many[:70_000], "window": many[:2*windowSize-20],
		"windows": many[:3*windowSize-100], "mixed": mixed[len(mixed)-200_000:],
	}
	if large {
		list["many"] = many
	}
	return list
}

// program makes a gzip file by a program, which is skipped if it is not installed.
func program(t *testing.T, text []byte, words ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath(words[0]); err != nil {
		t.Skipf("%s is not installed", words[0])
	}
	c := exec.Command(words[0], words[1:]...)
	c.Stdin, c.Stderr = bytes.NewReader(text), os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %v", words, err)
	}
	return out
}

// pythonZlib compresses standard input: level, bits of the window and memory level are its arguments, and after how many bytes it flushes
// and how, if it does.
const pythonZlib = `
import sys, zlib
level, memory, every, mode = map(int, sys.argv[1:])
text = sys.stdin.buffer.read()
c = zlib.compressobj(level, zlib.DEFLATED, 31, memory)
out = b''
for i in range(0, len(text), every or len(text) or 1):
    out += c.compress(text[i:i + (every or len(text))])
    if mode: out += c.flush(mode)
sys.stdout.buffer.write(out + c.flush())
`

// String names the writer as its users do.
func (w writer) String() string {
	names := [rules]string{"gzip", "zlib", "pigz", "pigz -i", "zlib, memLevel 9,",
		"libdeflate", "libdeflate before 1.8", "libdeflate from 1.19 on"}
	return fmt.Sprintf("%s -%d", names[w.rules], w.level)
}

// both describes and restores a file with 1 and 3 threads, and returns the description and what wrote the end of the file.
func both(t *testing.T, gz, text []byte) ([]byte, writer, error) {
	t.Helper()
	var first []byte
	for _, threads := range []int{1, 3} {
		var back bytes.Buffer
		d := &describer{scanner: newScanner(bytes.NewReader(gz)), most: 1 << 30}
		if err := d.run(threads); err != nil {
			return nil, d.writer, err
		}
		if d.file != int64(len(gz)) {
			t.Errorf("%d bytes of %d", d.file, len(gz))
		}
		if first == nil {
			first = d.out
		} else if !bytes.Equal(first, d.out) {
			t.Error("the description depends on the number of threads")
		}
		if err := Restore(d.out, bytes.NewReader(text), &back, threads); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(back.Bytes(), gz) {
			t.Fatalf("restored as %d other bytes, not %d", back.Len(), len(gz))
		}
		if threads == 3 {
			return first, d.writer, nil
		}
	}
	panic("not reached")
}

// TestKnownWriters restores the files of programs whose choices are predicted: descriptions have no corrections.
func TestKnownWriters(t *testing.T) {
	python := func(level, memory, every, mode int) []string {
		return []string{"python3", "-c", pythonZlib, fmt.Sprint(level), fmt.Sprint(memory), fmt.Sprint(every), fmt.Sprint(mode)}
	}
	writers := map[string][]string{
		"zlib stored": python(0, 8, 0, 0), "zlib partial flushes": python(6, 8, 30_000, 1), "zlib flushes": python(1, 8, 30_000, 2),
		"zlib flushes 6": python(6, 8, 700, 2), "zlib full flushes": python(6, 8, 30_000, 3), "pigz 256": {"pigz", "-b", "256"},
	}
	for level := testrun.Pick(6, 6, 1); level <= 9; level += testrun.Pick(9, 9, 1) {
		l := fmt.Sprint("-", level)
		writers["zlib"+l] = python(level, 8, 0, 0)
		writers["zlib memory 9"+l] = python(level, 9, 0, 0)
		writers["gzip"+l] = []string{"gzip", l}
		writers["pigz"+l] = []string{"pigz", "-p", "2", l}
		writers["pigz independent"+l] = []string{"pigz", "-i", l}
		writers["libdeflate"+l] = []string{"libdeflate-gzip", "-c", l}
		writers["bgzip"+l] = []string{"bgzip", "-c", "-l", l[1:]}
	}
	for level := testrun.Pick(12, 10, 10); level <= 12; level++ {
		writers[fmt.Sprint("libdeflate-", level)] = []string{"libdeflate-gzip", "-c", fmt.Sprint("-", level)}
	}
	var files, exact atomic.Int64
	t.Cleanup(func() { t.Logf("%d files, %d without a correction", files.Load(), exact.Load()) })
	for name, words := range writers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for text, b := range texts(strings.ContainsAny(name[len(name)-1:], "1369")) {
				gz := program(t, b, words...)
				d, by, err := both(t, gz, b)
				if err := cmp.Or(err, Known(bytes.NewReader(gz))); err != nil {
					t.Errorf("%s: %v", text, err)
					continue
				}
				files.Add(1)
				if most := 100 + len(gz)/5000; len(d) <= most {
					exact.Add(1)
				} else if len(d) > most+100+len(gz)/500 {
					t.Errorf("%s: %d bytes of %d to describe %s, more than %d", text, len(d), len(gz), by, most)
				}
			}
		})
	}
}

// libdeflateFile returns a file of testdata, and its text.
func libdeflateFile(t testing.TB, name string) (gz, text []byte) {
	gz, err := os.ReadFile("testdata/libdeflate-" + name + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		t.Fatal(err)
	}
	if text, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	return gz, text
}

// TestLibdeflateFiles restores files that libdeflate made of records, words, zeros and random bytes, whatever version is installed.
func TestLibdeflateFiles(t *testing.T) {
	for name, w := range map[string]writer{
		"10": {libdeflateRules, 10}, "11": {libdeflateRules, 11}, "12": {libdeflateRules, 12},
		"newer-11": {newerLibdeflate, 11}, "newer-12": {newerLibdeflate, 12},
	} {
		gz, text := libdeflateFile(t, name)
		if d, by, err := both(t, gz, text); err != nil || by != w || len(d) > 40 {
			t.Errorf("%s: %d bytes describe a file as by %s: %v", name, len(d), by, err)
		}
	}
}

// TestFrames restores files of several frames.
func TestFrames(t *testing.T) {
	text := fastq(testrun.Pick(1_400_000, 1_400_000, 50_000_000))
	list := []string{"gzip -1", "gzip -6", "pigz -1", "pigz -i -2", "bgzip -c -l 1", "libdeflate-gzip -c -6", "libdeflate-gzip -c -10"}
	for _, words := range list[:len(list)-testrun.Pick(1, 0, 0)] {
		t.Run(words, func(t *testing.T) {
			d, by, err := both(t, program(t, text, strings.Fields(words)...), text)
			if err != nil || len(d) > 200+len(text)/20_000 {
				t.Errorf("%d bytes to describe %s: %v", len(d), by, err)
			}
		})
	}
}

// TestUnknownEarly: that a writer is not known is seen in the first 1 % of a file of 10 MB.
func TestUnknownEarly(t *testing.T) {
	gz := bytes.NewReader(goGzip(t, fastq(2_000_000), 6))
	if err := Known(gz); !errors.Is(err, ErrUnknownWriter) || gz.Size()-int64(gz.Len()) > 100_000 {
		t.Errorf("%d of %d bytes are left: %v", gz.Len(), gz.Size(), err)
	}
}

// TestOtherWriters restores the files of other programs, or does not know them before much was read.
func TestOtherWriters(t *testing.T) {
	type compress = func(t *testing.T, text []byte) []byte
	writers := map[string]compress{}
	for level := -2; level <= 9; level++ {
		writers[fmt.Sprint("go ", level)] = func(t *testing.T, text []byte) []byte {
			var b bytes.Buffer
			w, err := gzip.NewWriterLevel(&b, level)
			return written(t, &b, w, text, err)
		}
		writers[fmt.Sprint("klauspost ", level)] = func(t *testing.T, text []byte) []byte {
			var b bytes.Buffer
			w, err := kgzip.NewWriterLevel(&b, level)
			return written(t, &b, w, text, err)
		}
	}
	for _, words := range []string{"igzip -0", "igzip -1", "igzip -2", "igzip -3", "gzip --rsyncable"} {
		writers[words] = func(t *testing.T, text []byte) []byte { return program(t, text, strings.Fields(words)...) }
	}
	var files, restored atomic.Int64
	t.Cleanup(func() { t.Logf("%d files, %d restored", files.Load(), restored.Load()) })
	for name, compress := range writers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for text, b := range texts(false) {
				gz := compress(t, b)
				d, _, err := both(t, gz, b)
				if files.Add(1); err == nil {
					restored.Add(1)
				}
				if err != nil && !errors.Is(err, ErrUnknownWriter) {
					t.Errorf("%s: %v", text, err)
				} else if err == nil && len(d) > len(gz)/mostPart+mostBytes {
					t.Errorf("%s: %d bytes describe %d", text, len(d), len(gz))
				}
			}
		})
	}
}

func written(t *testing.T, b *bytes.Buffer, w io.WriteCloser, text []byte, err error) []byte {
	t.Helper()
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func goGzip(t *testing.T, text []byte, level int) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	return written(t, &b, w, text, err)
}

// TestOddFiles restores files that are more than a member.
func TestOddFiles(t *testing.T) {
	text := fastq(3000)
	member := goGzip(t, text, gzip.HuffmanOnly)
	empty := goGzip(t, nil, 6)
	var named bytes.Buffer
	w, _ := gzip.NewWriterLevel(&named, gzip.NoCompression)
	w.Name, w.Comment, w.Extra = "reads.fastq", "of a run", []byte("BC\x02\x00ab")
	written(t, &named, w, text, nil)
	cases := map[string]struct {
		parts [][]byte
		text  int // how often
	}{
		"a member": {[][]byte{member}, 1}, "two": {[][]byte{member, named.Bytes()}, 2}, "empty ones": {[][]byte{empty, empty, member, empty}, 1},
		"zeros behind": {[][]byte{member, make([]byte, 700_000)}, 1}, "bytes behind": {[][]byte{member, []byte("the end")}, 1},
		"a byte behind": {[][]byte{named.Bytes(), {0x1f}}, 1}, "many empty": {[][]byte{bytes.Repeat(empty, 70_000)}, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if _, _, err := both(t, bytes.Join(c.parts, nil), bytes.Repeat(text, c.text)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestManyWriters restores members of several programs in one file, large ones and small ones.
func TestManyWriters(t *testing.T) {
	for _, n := range []int{800, 300_000} {
		text := fastq(n)
		var gz []byte
		for _, words := range []string{"gzip -6", "gzip -9", "libdeflate-gzip -c -1", "gzip -2", "libdeflate-gzip -c -9"} {
			gz = append(gz, program(t, text, strings.Fields(words)...)...)
		}
		d, _, err := both(t, gz, bytes.Repeat(text, 5))
		if err != nil || len(d) > 200 {
			t.Errorf("%d bytes describe %d: %v", len(d), len(gz), err)
		}
	}
}

// TestDamagedFiles refuses files that are cut off or have a damaged byte, unless they are described as they are.
func TestDamagedFiles(t *testing.T) {
	text := fastq(2000)
	gz := goGzip(t, text, gzip.HuffmanOnly)
	for i := 0; i < len(gz); i += 1 + testrun.Pick(30, 6, 0)*min(i/40, 1) { // all of the header
		if _, err := Describe(bytes.NewReader(gz[:i]), 1<<20, 1); !errors.Is(err, ErrInput) {
			t.Fatalf("cut off after %d bytes: %v", i, err)
		}
		damaged := bytes.Clone(gz)
		damaged[i] ^= 1 << (i % 8)
		d, err := Describe(bytes.NewReader(damaged), 1<<20, 1)
		if err == nil {
			var back bytes.Buffer
			if err := Restore(d, bytes.NewReader(text), &back, 1); err != nil || !bytes.Equal(back.Bytes(), damaged) {
				t.Fatalf("byte %d damaged: not restored, %v", i, err)
			}
		} else if !errors.Is(err, ErrInput) && !errors.Is(err, ErrUnknownWriter) {
			t.Fatalf("byte %d damaged: %v", i, err)
		}
	}
}

// describedAs returns the description of a file of one frame as by a writer.
func describedAs(t testing.TB, gz []byte, w writer) (stream []byte) {
	s := newScanner(bytes.NewReader(gz))
	f, err := s.next()
	if err != nil {
		t.Fatal(err)
	}
	s.finish(f, nil)
	f.setWriter(w, false)
	task := &task{frame: f, template: s.template}
	task.encode(nil)
	for _, b := range [][]byte{s.template.header, task.code, nil} {
		stream = parse.AppendBlock(stream, b)
	}
	return stream
}

// TestDamagedDescriptions finds damage of descriptions, or restores something.
func TestDamagedDescriptions(t *testing.T) {
	text := fastq(20_000)
	gz := goGzip(t, text, 6)
	stream := describedAs(t, gz, writer{gzipBlocks, 6}) // Describe would not describe a file of this writer
	restore := func(stream []byte, _, threads int) ([]byte, error) {
		var back bytes.Buffer
		err := Restore(stream, bytes.NewReader(text), &back, threads)
		if err != nil && !errors.Is(err, parse.ErrCorrupt) {
			t.Error(err)
		}
		return back.Bytes(), err
	}
	if got, err := restore(stream, 0, 1); err != nil || !bytes.Equal(got, gz) {
		t.Fatal(err)
	}
	for i := range stream {
		if _, err := restore(stream[:i], 0, 1); err == nil {
			t.Fatalf("no error after %d bytes of %d", i, len(stream))
		}
		damaged := bytes.Clone(stream)
		damaged[i] ^= 1 << (i % 8)
		restore(damaged, 0, 1)
	}
	for _, other := range [][]byte{text[:len(text)-1], append(bytes.Clone(text), 'A'), nil} {
		if err := Restore(stream, bytes.NewReader(other), io.Discard, 1); !errors.Is(err, parse.ErrCorrupt) {
			t.Errorf("text of %d bytes, not %d: %v", len(other), len(text), err)
		}
	}
}

func FuzzDescribe(f *testing.F) {
	text := fastq(2000)
	for _, level := range []int{-2, 0, 1, 6, 9} {
		f.Add(goGzip(&testing.T{}, text, level))
	}
	gz, _ := libdeflateFile(f, "newer-11")
	f.Add(gz)
	f.Fuzz(func(t *testing.T, gz []byte) {
		d, err := Describe(bytes.NewReader(gz), 1<<20, 1)
		if err != nil {
			if !errors.Is(err, ErrInput) && !errors.Is(err, ErrUnknownWriter) {
				t.Error(err)
			}
			return
		}
		r, err := gzip.NewReader(bytes.NewReader(gz))
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(r) // an error if there are bytes behind the last member
		var back bytes.Buffer
		if err := Restore(d, bytes.NewReader(text), &back, 1); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(back.Bytes(), gz) {
			t.Errorf("%d bytes instead of %d", back.Len(), len(gz))
		}
	})
}

func FuzzRestore(f *testing.F) {
	text := fastq(2000)
	for _, level := range []int{-2, 0} {
		d, err := Describe(bytes.NewReader(goGzip(&testing.T{}, text, level)), 1<<20, 1)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(d, text)
	}
	f.Add(describedAs(f, goGzip(&testing.T{}, text, 6), writer{libdeflateRules, 12}), text)
	f.Fuzz(func(t *testing.T, description, text []byte) {
		if err := Restore(description, bytes.NewReader(text), io.Discard, 1); err != nil && !errors.Is(err, parse.ErrCorrupt) {
			t.Error(err)
		}
	})
}

// TestRealFiles restores the gzip files of the folder that ORCOMGO_DATA names, but for large ones unless tests run long.
func TestRealFiles(t *testing.T) {
	folder := os.Getenv("ORCOMGO_DATA")
	if folder == "" {
		t.Skip("ORCOMGO_DATA names no folder")
	}
	known, all := 0, 0
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".gz") {
			return err
		}
		gz, err := os.ReadFile(path)
		if err != nil || len(gz) == 0 || len(gz) > testrun.Pick(1<<20, 4<<20, 1<<30) {
			return err
		}
		r, err := gzip.NewReader(bytes.NewReader(gz))
		if err != nil {
			return err
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		all++
		d, by, err := both(t, gz, text)
		t.Logf("%s: %d bytes of %d to describe %s, %v", path, len(d), len(gz), by, err)
		if err == nil && len(d) > 100+len(gz)/1000 {
			t.Errorf("%s: %d bytes describe %d", path, len(d), len(gz))
		}
		known += rangecoder.BitOf(err == nil)
		return nil
	})
	if err != nil || known*10 < all*9 {
		t.Errorf("%d of %d files are known: %v", known, all, err)
	}
}
