package compress

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"orcomgo/binning"
	"orcomgo/bins/record"
	"orcomgo/internal/testrun"
)

// openText is a file of a test, given to Options.Text.
type openText struct {
	io.Reader
	close func()
}

func (o *openText) Close() error { o.close(); return nil }

// textFiles are the files that Options.Text of a test opens.
type textFiles struct {
	texts []string // by input
	err   error    // of open
	none  bool     // there are no files

	mu     sync.Mutex
	opened []int // how often, by input
	open   int   // now
}

func (f *textFiles) text(input int) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.opened == nil {
		f.opened = make([]int, len(f.texts))
	}
	f.opened[input]++
	if f.none || f.err != nil {
		return nil, f.err
	}
	f.open++
	return &openText{strings.NewReader(f.texts[input]), func() {
		f.mu.Lock()
		f.open--
		f.mu.Unlock()
	}}, nil
}

// TestFileTexts: MD5 and SHA-256 of text that is in files are those of the text, and the archive is the same: where the files are as
// they were binned, and where they are shorter, longer, other text, gone, or none.
func TestFileTexts(t *testing.T) {
	smallSlices(t)
	r1, r2 := simulated(71, testrun.Pick(500, 800, 1200), true)
	o := record.Options{BlockSize: 64 << 10}
	plain := stored{record: binning.RecordCompressed}
	dir := binStored(t, pair(r1, r2), o, plain)
	packTo(t, dir, PackOptions{Threads: manyThreads, KeepBins: true})
	want := filesIn(t, dir)
	info, err := infoOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{r1, r2} {
		if in := info.Inputs[i]; in.SHA256 != fmt.Sprintf("%x", sha256.Sum256([]byte(text))) {
			t.Errorf("%s: SHA-256 %s", in.Name, in.SHA256)
		}
	}
	changed := []byte(r2)
	changed[len(changed)-2] ^= 1
	for name, files := range map[string]*textFiles{
		"as binned":         {texts: []string{r1, r2}},
		"longer":            {texts: []string{r1 + "@", r2}},
		"one is other text": {texts: []string{r1, string(changed)}},
		"one is shorter":    {texts: []string{r1[:len(r1)-1], r2}},
		"one is empty":      {texts: []string{"", r2}},
		"gone":              {texts: []string{"", ""}, err: errors.New("gone")},
		"no files":          {texts: []string{"", ""}, none: true},
	} {
		t.Run(name, func(t *testing.T) {
			packTo(t, dir, PackOptions{Threads: manyThreads, KeepBins: true, Force: true, Text: files.text})
			sameFiles(t, filesIn(t, dir), want)
			if files.open != 0 || files.opened[0] != 1 || files.opened[1] != 1 {
				t.Errorf("files opened: %v, open in the end: %d", files.opened, files.open)
			}
		})
	}
}

// TestFileTextsStop: packing that fails ends the reading of files.
func TestFileTextsStop(t *testing.T) {
	smallSlices(t)
	r1, _ := simulated(73, 300, false)
	dir := binStored(t, single("r", r1), record.Options{}, stored{record: binning.RecordCompressed})
	ctx, cancel := context.WithCancel(context.Background())
	closed := false
	text := func(int) (io.ReadCloser, error) {
		return &openText{&endless{cancel: cancel}, func() { closed = true }}, nil
	}
	before := filesIn(t, dir)
	if _, err := Pack(ctx, dir, limited(PackOptions{Threads: manyThreads, Text: text})); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if !closed {
		t.Error("the file is open")
	}
	sameFiles(t, filesIn(t, dir), before)
}

// endless ends the context when it is read; it gives a byte at a time.
type endless struct{ cancel func() }

func (e *endless) Read(p []byte) (int, error) {
	e.cancel()
	return copy(p, "@"), nil
}
