package compress

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"orcomgo/binning"
	"orcomgo/bins"
	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/packing"
	"orcomgo/compress/workers"
	"orcomgo/digest"
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
	packTo(t, dir, PackOptions{Threads: packing.EarlyThreads, KeepBins: true})
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
	for name, c := range map[string]struct {
		files *textFiles
		known [2]bool
	}{
		"as binned":         {&textFiles{texts: []string{r1, r2}}, [2]bool{true, true}},
		"longer":            {&textFiles{texts: []string{r1 + "@", r2}}, [2]bool{true, true}},
		"one is other text": {&textFiles{texts: []string{r1, string(changed)}}, [2]bool{true, false}},
		"one is shorter":    {&textFiles{texts: []string{r1[:len(r1)-1], r2}}, [2]bool{false, true}},
		"one is empty":      {&textFiles{texts: []string{"", r2}}, [2]bool{false, true}},
		"gone":              {&textFiles{texts: []string{"", ""}, err: errors.New("gone")}, [2]bool{}},
		"no files":          {&textFiles{texts: []string{"", ""}, none: true}, [2]bool{}},
	} {
		t.Run(name, func(t *testing.T) {
			files := c.files
			sums := sumsFromFiles(t, dir, PackOptions{Threads: packing.EarlyThreads, Text: files.text})
			for i, text := range []string{r1, r2} {
				if (sums[i] != nil) != c.known[i] {
					t.Fatalf("input %d: known %v, want %v", i, sums[i] != nil, c.known[i])
				}
				if s := sums[i]; s != nil && (s.MD5 != md5.Sum([]byte(text)) || s.SHA256 != sha256.Sum256([]byte(text))) {
					t.Errorf("input %d: %x", i, *s)
				}
			}
			files.opened = nil
			packTo(t, dir, PackOptions{Threads: packing.EarlyThreads, KeepBins: true, Force: true, Text: files.text})
			sameFiles(t, filesIn(t, dir), want)
			if files.open != 0 || files.opened[0] != 1 || files.opened[1] != 1 {
				t.Errorf("files opened: %v, open in the end: %d", files.opened, files.open)
			}
		})
	}
}

// sumsFromFiles returns what ReadFiles computes for the bins in dir.
func sumsFromFiles(t *testing.T, dir string, o PackOptions) []*digest.Sums {
	t.Helper()
	e, err := commit.One(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := bins.OpenEntry(e)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f := (&packing.Packer{R: r, O: o, Pool: workers.NewPool(1)}).ReadFiles(context.Background())
	defer f.Stop()
	<-f.Done
	return f.Sums
}

// TestFileTextsAreRead says where files are read: with many threads, verification, memory for them, and text that is the file's.
func TestFileTextsAreRead(t *testing.T) {
	smallSlices(t)
	r1, _ := simulated(72, 300, false)
	good := PackOptions{Threads: packing.EarlyThreads, Memory: uint64(len(r1))}
	few, noVerify, small := good, good, good
	few.Threads--
	noVerify.NoVerify = true
	small.Memory--
	for name, c := range map[string]struct {
		pack   PackOptions
		o      record.Options
		record binning.RecordMode
		gzip   []string
		reads  bool
	}{
		"read":             {pack: good, record: binning.RecordCompressed, reads: true},
		"all checksums":    {pack: good, record: binning.RecordAll, reads: true},
		"few threads":      {pack: few, record: binning.RecordCompressed},
		"no verification":  {pack: noVerify, record: binning.RecordCompressed},
		"little memory":    {pack: small, record: binning.RecordCompressed},
		"no MD5":           {pack: good, record: binning.RecordTime, reads: true},
		"nothing recorded": {pack: good},
		"gzip":             {pack: good, record: binning.RecordCompressed, gzip: []string{"r"}},
		"other text":       {pack: good, record: binning.RecordCompressed, o: record.Options{DropNames: true}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := binStored(t, single("r", r1), c.o, stored{record: c.record, gzip: c.gzip})
			files := &textFiles{texts: []string{r1}}
			c.pack.Text = files.text
			sums := sumsFromFiles(t, dir, c.pack)
			if c.reads != (sums[0] != nil) || c.reads != (files.opened != nil) {
				t.Errorf("sums %v, opened %v", sums[0], files.opened)
			}
			if noMD5 := c.record == binning.RecordTime; c.reads && noMD5 != (sums[0].MD5 == [16]byte{}) {
				t.Errorf("MD5 %x", sums[0].MD5)
			}
			packTo(t, dir, c.pack)
		})
	}
}

// TestFileTextsOfPipes: what came from a pipe or from standard input, and so has no name, is not read again.
func TestFileTextsOfPipes(t *testing.T) {
	p := &packing.Packer{O: PackOptions{Threads: packing.EarlyThreads, Text: new(textFiles).text}}
	in := &archive.Input{Blocks: []archive.TextBlock{}}
	in.Source = &record.Source{Name: "r.fq", Plain: true}
	if !p.Asks(in) {
		t.Error("the file is not read")
	}
	if in.Source.Name = ""; p.Asks(in) {
		t.Error("a pipe is read")
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
	if _, err := Pack(ctx, dir, PackOptions{Threads: packing.EarlyThreads, Text: text}); !errors.Is(err, context.Canceled) {
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
