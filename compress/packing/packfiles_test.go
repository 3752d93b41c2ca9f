package packing

import (
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/digest"
)

// files are the files that Options.Text of a test opens.
type files struct {
	texts  []string // by input
	mu     sync.Mutex
	opened []int // inputs
}

// errGone is the error of a file that is "".
var errGone = errors.New("gone")

func (f *files) text(input int) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opened = append(f.opened, input)
	if f.texts[input] == "" {
		return nil, errGone
	}
	return io.NopCloser(strings.NewReader(f.texts[input])), nil
}

// sumsOfFiles returns what is computed of the files of two inputs, which were binned as they are in texts.
func sumsOfFiles(t *testing.T, bin record.Options, texts []string, f *files, o Options) []*digest.Sums {
	t.Helper()
	bin.BlockSize, o.Text = 64<<10, f.text
	p, err := newPacker(t.Context(), binned(t, bin, texts...), archive.CreateAlone, o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.w.Abort()
	read := p.readFiles(t.Context())
	defer read.stop()
	<-read.done
	return read.sums
}

// TestFileTexts: the checksums of a file are those of the text that was binned, or they are not known.
func TestFileTexts(t *testing.T) {
	a, b := randomReads(900), randomReads(700)
	changed := []byte(b)
	changed[len(changed)-2] ^= 1
	for name, c := range map[string]struct {
		texts []string
		known [2]bool
	}{
		"as binned":         {[]string{a, b}, [2]bool{true, true}},
		"longer":            {[]string{a + "@", b}, [2]bool{true, true}}, // what is behind the text is not read
		"one is other text": {[]string{a, string(changed)}, [2]bool{true, false}},
		"one is shorter":    {[]string{a[:len(a)-1], b}, [2]bool{false, true}},
		"gone":              {[]string{"", ""}, [2]bool{}},
	} {
		sums := sumsOfFiles(t, record.Options{}, []string{a, b}, &files{texts: c.texts}, Options{Threads: manyThreads})
		for i, text := range []string{a, b} {
			if (sums[i] != nil) != c.known[i] {
				t.Fatalf("%s, input %d: known %v, want %v", name, i, sums[i] != nil, c.known[i])
			}
			if s := sums[i]; s != nil && (s.MD5 != md5.Sum([]byte(text)) || s.SHA256 != sha256.Sum256([]byte(text))) {
				t.Errorf("%s, input %d: %x", name, i, *s)
			}
		}
	}
}

// TestFileTextsAreRead says where files are read: with many threads, verification, memory for them, and text that is the file's.
func TestFileTextsAreRead(t *testing.T) {
	text := randomReads(300)
	good := Options{Threads: manyThreads, Memory: uint64(len(text))}
	few, noVerify, small := good, good, good
	few.Threads--
	noVerify.NoVerify = true
	small.Memory--
	for name, c := range map[string]struct {
		o     Options
		bin   record.Options
		reads bool
	}{
		"read":            {good, record.Options{}, true},
		"few threads":     {few, record.Options{}, false},
		"no verification": {noVerify, record.Options{}, false},
		"little memory":   {small, record.Options{}, false},
		"other text":      {good, record.Options{DropNames: true}, false},
	} {
		f := &files{texts: []string{text}}
		if sums := sumsOfFiles(t, c.bin, f.texts, f, c.o); c.reads != (sums[0] != nil) || c.reads != (f.opened != nil) {
			t.Errorf("%s: sums %v, opened %v", name, sums[0], f.opened)
		}
	}
}

// TestReadsFile: what came from a pipe or from standard input, and so has no name, is not read again; nor is what is compressed, or not
// recorded.
func TestReadsFile(t *testing.T) {
	o := Options{Threads: manyThreads, Text: new(files).text}
	for name, c := range map[string]struct {
		source *record.Source
		want   bool
	}{
		"file":       {&record.Source{Name: "r.fq", Plain: true}, true},
		"pipe":       {&record.Source{Plain: true}, false},
		"compressed": {&record.Source{Name: "r.fq.gz"}, false},
		"nothing":    {nil, false},
	} {
		in := &archive.Input{Blocks: []archive.TextBlock{}}
		if in.Source = c.source; o.readsFile(in) != c.want {
			t.Errorf("%s: want %v", name, c.want)
		}
	}
}
