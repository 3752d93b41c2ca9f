package binning

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"orcomgo/bins/record"
	"orcomgo/internal/testrun"
)

// TestWrappedErrors: once a text looks wrapped, its errors are those of the wrapped reading,
// with its record; else they are those of four lines a record.
func TestWrappedErrors(t *testing.T) {
	const good = "@a\nACGT\nAC\n+\nIIII\nII\n"
	tests := []struct{ name, text, want string }{
		{"qualities cut off", good + good + "@b\nACGT\nAC\n+\nIIII\n",
			"record 3: expected 6 qualities, as many as bases, found 4 before the end of the file"},
		{"too few qualities", good + "@b\nACGT\nAC\n+\nIIII\n@cde\nA\n+\nI\n",
			"record 2: expected 6 qualities, as many as bases, found 4 before a line that begins with '@'"},
		{"too few in the first record", "@b\nACGT\nAC\n+\nIIII\n@cd\nA\n+\nI\n",
			"record 1: expected 6 qualities, as many as bases, found 4 before a line that begins with '@'"},
		{"too many qualities", good + "@b\nACGT\nAC\n+\nIIII\nIII\n", "record 2: expected 6 qualities, as many as bases, found 7"},
		{"a line of qualities too many", good + "@b\nACGT\nAC\n+\nIIII\nII\nI\n", "record 3: expected '@', found 'I'"},
		{"too many in the first line", good + "@b\nACG\n+\n@III\n", "record 2: expected 3 qualities, as many as bases, found 4"},
		{"no plus", good + "@b\nACGT\nAC\n@c\nA\n+\nI\n", "record 2: expected a line with '+', found '@'"},
		{"no plus up to the end", good + "@b\nACGT\nAC\n", "record 2: expected a line with '+', found the end of the file"},
		{"nothing but a name", good + "@b", "record 2: expected a line with '+', found the end of the file"},
		{"no bases, but qualities", good + "@b\n+\nII\n", "record 2: expected 0 qualities, as many as bases, found 2"},
		{"no bases and no quality line", good + "@b\n\n+\n@c\nA\n+\nI\n",
			"record 2: expected an empty quality line, as there are no bases, found '@'"},
		{"no header", good + "b\nACGT\nAC\n+\nIIII\nII\n", "record 2: expected '@', found 'b'"},
		{"a header of FASTA", good + ">b\nACGT\n", "record 2: expected '@', found '>'"},
		{"a bad base", good + "@b\nACGT\nA!\n+\nIIII\nII\n", "record 2: expected a base (a letter, '.', '-' or '*'), found '!'"},
		{"a bad quality", good + "@b\nACGT\nAC\n+\nII I\nII\n", "record 2: expected a quality from '!' to '~', found a space"},
		{"CR inside a line", good + "@b\nAC\rT\nAC\n+\nIIII\nII\n",
			"record 2: expected a base (a letter, '.', '-' or '*'), found a carriage return inside the line"},
		{"CR twice", good + "@b\nACGT\r\r\nAC\n+\nIIII\nII\n",
			"record 2: expected a base (a letter, '.', '-' or '*'), found a carriage return inside the line"},
		{"the first of two errors", good + "@b\nACGT\nA!\n+\nIIII\nII\n" + good + "@c\nACGT\nAC\n",
			"record 2: expected a base (a letter, '.', '-' or '*'), found '!'"},
		{"blank lines, then an error", "@a\nA\n+\nI\n\n@b\nACGT\n+\nIII\n",
			"record 2: expected 4 qualities, as many as bases, found 3 before the end of the file"},
		{"qualities alone are wrapped", "@a\nACGT\n+\nII\nII\n@b\nACGT\n+\nII\nI\n",
			"record 2: expected 4 qualities, as many as bases, found 3 before the end of the file"},

		{"four lines, too few qualities", "@a\nACGTA\n+\nIII\n@b\nA\n+\nI\n", "record 1: expected 5 qualities, as many as bases, found 3"},
		{"four lines, no plus", "@a\nACGT\nIIII\n@b\nACGT\n+\nIIII\n", "record 1: expected a line with '+', found 'I'"},
		{"four lines, text behind", "@a\nACGT\n+\nIIII\nIIII\n", "record 2: expected '@', found 'I'"},
	}
	for _, tt := range tests {
		for _, size := range []uint64{0, 30} {
			_, err := binTexts(t, Config{Threads: 2, Options: record.Options{BlockSize: size}}, testInput{"x", []byte(tt.text)})
			if err == nil || err.Error() != "x: "+tt.want {
				t.Errorf("%s: error is %v, want %s", tt.name, err, tt.want)
			}
		}
	}
}

// TestEmptyNames: a record may have no name, however its sequence is laid out.
func TestEmptyNames(t *testing.T) {
	for _, text := range []string{
		"@\nACGT\nAC\n+\nIIII\nII\n@\nA\nC\n+\nI\nI\n",
		"@\r\nACGT\r\nAC\r\n+\r\nIIII\r\nII\r\n@\r\nA\r\n+\r\nI\r\n",
		"@\nAC\nGT\n+x\n@@\n++\n\n@\n\n+\n\n",
		"@a\nAC\nGT\n+\nII\nII\n@\nAC\nGT\n+\nII\nII",
		">\nAC\nGT\n>\n>\nA\n",
	} {
		dir, err := binTexts(t, Config{}, testInput{"x", []byte(text)})
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := restore(t, dir)[0]; string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestWalkerReads: records are the same however the text comes in, and wherever the walker
// has to read on.
func TestWalkerReads(t *testing.T) {
	testrun.NoRace(t)
	var texts []string
	for _, tt := range roundTrips {
		if tt.text != "" && len(tt.text) < 2000 {
			texts = append(texts, tt.text)
		}
	}
	texts = append(texts, unusualTexts(1, 15)...)
	for _, text := range texts {
		kind := record.FASTQ
		if text[0] == '>' {
			kind = record.FASTA
		}
		var want []wrappedRecord
		for i, in := range []io.Reader{
			strings.NewReader(text),
			iotest.OneByteReader(strings.NewReader(text)),
			iotest.HalfReader(strings.NewReader(text)),
			iotest.DataErrReader(strings.NewReader(text)),
		} {
			got := walkAll(t, &walker{kind: kind, in: in})
			if i == 0 {
				want = got
				continue
			}
			if len(got) != len(want) {
				t.Fatalf("%q: %d records, not %d", text, len(got), len(want))
			}
			for k := range got {
				if got[k] != want[k] {
					t.Fatalf("%q: record %d is %+v, not %+v", text, k+1, got[k], want[k])
				}
			}
		}
	}
}

type wrappedRecord struct {
	name, seq, qual, text, bad string
	hash                       [16]byte
}

func walkAll(t *testing.T, w *walker) (all []wrappedRecord) {
	for {
		bad, err := w.record()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if bad != nil {
			return append(all, wrappedRecord{bad: bad.expected + bad.found})
		}
		w.hashUsed()
		all = append(all, wrappedRecord{string(w.name), string(w.seq), string(w.qual), string(w.text()[:w.textLen]), "", w.hash.Sum()})
	}
}

// TestWalkerReadError: an error of reading is not taken for the end of the text.
func TestWalkerReadError(t *testing.T) {
	const text = "@a\nACGT\nAC\n+\nIIII\nII\n\n\n@b\nACGT\nAC\n+\nIIII\nII\n"
	for n := range len(text) + 1 {
		w := walker{in: io.MultiReader(strings.NewReader(text[:n]), iotest.ErrReader(errTest))}
		for {
			bad, err := w.record()
			if bad != nil {
				t.Fatalf("after %d bytes: %+v", n, bad)
			}
			if err != nil {
				if !errors.Is(err, errTest) {
					t.Fatalf("after %d bytes: %v", n, err)
				}
				break
			}
		}
	}
}

// repeatReader gives a text several times, and counts the bytes.
type repeatReader struct {
	text  []byte
	times int
	given int
}

func (r *repeatReader) Read(p []byte) (int, error) {
	if r.times == 0 {
		return 0, io.EOF
	}
	r.times--
	r.given += copy(p, r.text)
	return min(len(p), len(r.text)), nil
}

// TestWalkerMemory: the text behind which a walker is does not stay in memory.
func TestWalkerMemory(t *testing.T) {
	testrun.NoRace(t)
	r := &repeatReader{text: bytes.Repeat([]byte(">a\nACGT\nAC\n"), 20_000), times: 30}
	w := walker{kind: record.FASTA, in: r}
	records := 0
	for {
		bad, err := w.record()
		if err == io.EOF {
			break
		}
		if bad != nil || err != nil {
			t.Fatal(bad, err)
		}
		records++
	}
	if records != 30*20_000 {
		t.Errorf("%d records", records)
	}
	if cap(w.buf) > 4*walkStep {
		t.Errorf("the walker has %d bytes of text of %d", cap(w.buf), r.given)
	}
}

// TestWalkerBuffer: a buffer is not much longer than the text, however much of it is asked for; all that was asked for is there.
func TestWalkerBuffer(t *testing.T) {
	testrun.NoRace(t)
	const ask = 65 << 20 // as with 16 threads
	for _, n := range []int{0, 1000, 3 << 20, 40 << 20, ask + 5} {
		w := walker{kind: record.FASTA, in: bytes.NewReader(make([]byte, n))}
		w.fillTo(ask)
		if got, want := len(w.text()), min(n, ask); got != want {
			t.Errorf("%d bytes of text: %d of them in the buffer, want %d", n, got, want)
		}
		if most := max((bufferGrowth+1)*n, 2*bufferGrowth*walkStep); cap(w.buf) > most {
			t.Errorf("%d bytes of text in a buffer of %d bytes, want %d at most", n, cap(w.buf), most)
		}
	}
}

// unusualTexts draws texts of unusual forms, most of them valid.
func unusualTexts(seed int64, n int) []string {
	rng := rand.New(rand.NewSource(seed))
	texts := make([]string, n)
	for i := range texts {
		var b strings.Builder
		fasta := rng.Intn(2) == 0
		ends := []string{"\n", "\r\n"}
		end := func() {
			b.WriteString(ends[rng.Intn(2)])
			for rng.Intn(5) == 0 {
				b.WriteString(ends[rng.Intn(2)])
			}
		}
		wrap := func(letters string, n int) {
			for n > 0 {
				k := min(n, 1+rng.Intn(5))
				for range k {
					b.WriteByte(letters[rng.Intn(len(letters))])
				}
				end()
				n -= k
			}
		}
		for range 1 + rng.Intn(5) {
			n := 1 + rng.Intn(20)
			if fasta {
				b.WriteString(">a")
				end()
				wrap("ACGTNn", n)
				continue
			}
			b.WriteString("@a")
			end()
			wrap("ACGTNn", n)
			b.WriteString("+")
			end()
			wrap("@+I", n)
		}
		texts[i] = b.String()
	}
	return texts
}

// TestManyLate: of many inputs that turn out to be wrapped far into the file, each makes the run begin once more.
func TestManyLate(t *testing.T) {
	testrun.NoRace(t)
	plain := simulate(1, 8_000, 60, 60, "1")
	if len(plain) < sniffLen {
		t.Fatal("the text is too short")
	}
	late := append(bytes.Clone(plain), "@w\nAC\nGT\n+\nII\nII\n"...)
	inputs := make([]testInput, 7)
	size := 0
	for i := range inputs {
		inputs[i] = testInput{string(rune('a' + i)), late}
		if i%3 == 2 {
			inputs[i].text = plain
		}
		size += len(inputs[i].text)
	}
	var mu sync.Mutex
	var most uint64
	c := Config{Threads: 1, Streams: 1, Options: record.Options{BlockSize: 300_000}}
	runs := 0
	c.NewAssigner = func(r *Resources) (Assigner, error) {
		runs++
		return NewCPU(*r), nil
	}
	c.Progress = func(_ string, done, _ uint64) {
		mu.Lock()
		defer mu.Unlock()
		most = max(most, done)
	}
	dir, err := binTexts(t, c, inputs...)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range restore(t, dir) {
		if !bytes.Equal(text, inputs[i].text) {
			t.Errorf("%s: the text differs", inputs[i].name)
		}
	}
	if runs != 6 { // one for each of the five inputs that are wrapped late, and the last one
		t.Errorf("%d runs", runs)
	}
}

// TestLateBesideStdin: an input that turns out to be wrapped far into the file would have all
// inputs read again, and standard input is used up by then: that is an error, not an archive
// without its reads.
func TestLateBesideStdin(t *testing.T) {
	late := append(simulate(1, 8_000, 60, 60, "1"), "@w\nAC\nGT\n+\nII\nII\n"...)
	stdin := simulate(2, 100, 60, 60, "1")
	path := filepath.Join(t.TempDir(), "a.fastq")
	if err := os.WriteFile(path, late, 0o666); err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]io.Reader{"pipe": bytes.NewReader(stdin), "file": openText(t, stdin)} {
		c := Config{OutDir: filepath.Join(t.TempDir(), "out"), Stdin: in, Inputs: []InputSpec{{Path: "-", Mate: -1}, {Path: path, Mate: -1}}}
		_, err := Run(context.Background(), c)
		var bad *RecordError
		if !errors.As(err, &bad) || bad.Record != 8001 || !strings.HasSuffix(err.Error(), "and stdin can be read only once") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(c.OutDir); err == nil {
			t.Errorf("%s: the output directory is there", name)
		}
	}
}

// openText returns a file that holds a text.
func openText(t *testing.T, text []byte) *os.File {
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
