package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orcomgo/bins/record"
	"orcomgo/internal/testrun"

	"orcomgo/binning"
	"orcomgo/compress"
)

// unusualText is a text that somebody's program might write, or part of one. If sound is set
// nothing in it is a reason to refuse it.
type unusualText struct {
	text  []byte
	sound bool
}

// textDrawer draws the parts of an unusualText.
type textDrawer struct {
	*rand.Rand
	bytes.Buffer
	fasta   bool
	wrapped bool
	eols    []string // line ends
	blanks  int      // a blank line follows one line in so many; 0 for none
	letters string
	quals   string
	names   int
	plus    int
	broken  int // a record in so many has something wrong with it; 0 for none
	sound   bool
}

func (d *textDrawer) oneIn(n int) bool { return n > 0 && d.Intn(n) == 0 }

func pickText(d *textDrawer, choices ...string) string { return choices[d.Intn(len(choices))] }

// end ends a line; blank ones may follow.
func (d *textDrawer) end() {
	d.WriteString(pickText(d, d.eols...))
	for d.oneIn(d.blanks) {
		d.WriteString(pickText(d, d.eols...))
	}
}

func (d *textDrawer) draw(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[d.Intn(len(alphabet))]
	}
	return string(b)
}

// lines writes a sequence or qualities.
func (d *textDrawer) lines(s string, width int) {
	if d.wrapped {
		for len(s) > 0 {
			n := min(len(s), width)
			if d.oneIn(20) {
				n = 1 + d.Intn(n)
			}
			d.WriteString(s[:n])
			d.end()
			s = s[n:]
		}
		return
	}
	d.WriteString(s)
	d.end()
}

func (d *textDrawer) name() string {
	switch d.names {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("read.%d/1 length=%d", d.Len(), d.Intn(100))
	case 2:
		return pickText(d, "@", "@a", "@@ @", "+", "+x", ">", ">>a b", "a>b", "a@b+c")
	case 3:
		return pickText(d, " ", "  a", "a ", "\t", "a\tb", "a  b")
	case 4:
		return d.draw("abc\x00\x01\x7f\x80\xff\r;\\/", d.Intn(30)) + "."
	case 5:
		return strings.Repeat("long ", d.Intn(400))
	}
	return d.draw("AB:0123456789", 1+d.Intn(40))
}

const (
	allLetters = "ACGTacgtNnRYKMSWBDHVUurykmswbdhvEFIJLOPQXZ.-*"
	iupac      = "ACGTNRYKMSWBDHV"
)

func allQualities() string {
	var b []byte
	for c := byte('!'); c <= '~'; c++ {
		b = append(b, c)
	}
	return string(b)
}

// record writes a record of up to so many bases.
func (d *textDrawer) record(longest int) {
	n := d.Intn(longest + 1)
	name, seq, qual := d.name(), d.draw(d.letters, n), d.draw(d.quals, n)
	plus := [...]string{"", name, "other " + name}[d.plus]
	if d.oneIn(4) {
		plus = ""
	}
	mark, sign := "@", "+"
	if d.fasta {
		mark = ">"
	}
	drop := -1
	if d.oneIn(d.broken) {
		d.sound = false
		spoil := func(s string) string {
			if s == "" {
				return pickText(d, " ", "1", "\x00")
			}
			i := d.Intn(len(s))
			return s[:i] + pickText(d, " ", "1", "!", "\x00", "\xff", "\r", "@", "+", ">", "\x7f", ";", "\t") + s[i+1:]
		}
		switch d.Intn(9) {
		case 0:
			seq = spoil(seq)
		case 1:
			qual = spoil(qual)
		case 2:
			qual += d.draw(d.quals, 1+d.Intn(3))
		case 3:
			qual = qual[:d.Intn(len(qual)+1)]
		case 4:
			drop = d.Intn(4)
		case 5:
			mark = pickText(d, "", ">", "@", "+", "x", " @")
		case 6:
			sign = pickText(d, "", "-", "@", " +")
		case 7:
			name += "\n" + name
		case 8:
			d.WriteString(pickText(d, "\n", "\r\n", "junk\n", ";comment\n", "\x00", "\r"))
		}
	}
	width := 1 + d.Intn(80)
	if d.oneIn(3) {
		width = 1 + d.Intn(3)
	}
	for i, write := range []func(){
		func() { d.WriteString(mark + name); d.WriteString(pickText(d, d.eols...)) },
		func() { d.lines(seq, width) },
		func() { d.WriteString(sign + plus); d.WriteString(pickText(d, d.eols...)) },
		func() {
			d.lines(qual, width)
			if qual == "" && d.wrapped {
				d.WriteString("\n") // a record has one line of qualities at least
			}
		},
	} {
		if i != drop && (i < 2 || !d.fasta) {
			write()
		}
	}
}

func drawUnusual(seed int64) unusualText {
	d := &textDrawer{Rand: rand.New(rand.NewSource(seed)), sound: true}
	d.fasta, d.wrapped = d.oneIn(3), d.oneIn(2)
	d.eols = [][]string{{"\n"}, {"\n"}, {"\r\n"}, {"\n", "\r\n"}}[d.Intn(4)]
	d.letters = pickText(d, "ACGT", "ACGT", "ACGTN", iupac, allLetters, "acgtN", "N", "A")
	d.quals = pickText(d, "FFFF:,#", "@", "+", "@+", "@+>I", allQualities(), "!~", "I")
	d.names, d.plus = d.Intn(7), d.Intn(3)
	if (d.wrapped || d.fasta) && d.oneIn(2) {
		d.blanks = 1 << (1 + d.Intn(8))
	}
	if d.oneIn(2) {
		d.broken = 1 + d.Intn(20)
	}
	size, longest := d.Intn(2000), 1+d.Intn(150)
	if d.oneIn(30) {
		size, longest = 100_000, 1+d.Intn(100_000)
	}
	for d.record(longest); d.Len() < size; d.record(longest) {
		if d.oneIn(400) {
			d.fasta, d.sound = !d.fasta, false // another format in mid-file
		}
	}
	text := d.Bytes()
	switch {
	case d.oneIn(6):
		text, d.sound = text[:1+d.Intn(len(text))], false
	case d.oneIn(6):
		// No newline at the end. Without it a last line of nothing is no line.
		if end := bytes.TrimRight(text, "\r\n"); len(end) > 0 {
			text = end
		}
		d.sound = d.sound && !strings.ContainsRune("+@>", rune(text[len(text)-1])) && !bytes.HasSuffix(text, []byte("+"))
	case d.oneIn(6):
		d.WriteString(strings.Repeat(pickText(d, d.eols...), d.Intn(2000)))
		text = d.Bytes()
	case d.oneIn(20):
		text, d.sound = append([]byte(pickText(d, "\n", "\r\n", " ", "\xef\xbb\xbf", "\x00")), text...), false
	}
	return unusualText{bytes.Clone(text), d.sound}
}

// binOutcome is the result of binning a text.
type binOutcome struct {
	refused error
	lost    string // what is wrong with the outcome, "" if nothing is
	bin     time.Duration
}

// binUnusual brings a text through stage 1 and back, and with packed through stage 2 as well.
func binUnusual(dir string, text []byte, blockSize uint64, packed bool) (o binOutcome) {
	path, out := filepath.Join(dir, "unusual.txt"), filepath.Join(dir, "out")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		return binOutcome{lost: err.Error()}
	}
	began := time.Now()
	_, o.refused = binning.Run(context.Background(), binning.Config{
		Inputs: []binning.InputSpec{{Path: path, Mate: -1}}, OutDir: out, Threads: 1, Streams: 1, Options: record.Options{BlockSize: blockSize}})
	o.bin = time.Since(began)
	defer os.RemoveAll(out)
	if o.refused != nil {
		message := strings.TrimPrefix(o.refused.Error(), path+": ")
		if message == o.refused.Error() || strings.Contains(message, "\n") || !namesRecord.MatchString(message) {
			o.lost = "the error does not name the file and a record: " + o.refused.Error()
		} else if _, err := os.Stat(out); !os.IsNotExist(err) {
			o.lost = "something was left behind"
		}
		return o
	}
	restore := func(stage string) {
		var b bytes.Buffer
		if _, err := compress.Unpack(context.Background(), out, compress.UnpackOptions{Threads: 1, Stream: &b}); err != nil {
			o.lost = stage + ": " + err.Error()
		} else if !bytes.Equal(b.Bytes(), text) {
			o.lost = stage + ": another text came back"
		}
	}
	if restore("bins"); packed && o.lost == "" {
		if _, err := compress.Pack(context.Background(), out, compress.PackOptions{Threads: 1}); err != nil {
			o.lost = "pack: " + err.Error()
			return o
		}
		restore("packed")
	}
	return o
}

// memoryDir returns a directory for the test, in memory where there is such a place: with
// thousands of small files most of the time would go into syncing them.
func memoryDir(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "orcomgo-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

var namesRecord = regexp.MustCompile(`^record [1-9][0-9]*: expected .+, found .+$`)

// TestUnusualTexts: 3,000 unusual texts are each archived and restored byte for byte, or are refused
// with the file and the record; none takes long.
func TestUnusualTexts(t *testing.T) {
	const workers = 4
	n := testrun.Pick[int64](300, 300, 20_000)
	var next, sound, refused, slow atomic.Int64
	var wait sync.WaitGroup
	for range workers {
		dir := memoryDir(t)
		wait.Add(1)
		go func() {
			defer wait.Done()
			for seed := next.Add(1); seed <= n; seed = next.Add(1) {
				unusual := drawUnusual(seed)
				size := uint64(0)
				if seed%3 == 0 {
					size = 1<<10 + uint64(seed)%5000
				}
				o := binUnusual(dir, unusual.text, size, seed%8 == 0)
				// A busy machine may be slow once.
				for try := 0; try < 3 && o.bin > unusualLimit(unusual.text); try++ {
					o = binUnusual(dir, unusual.text, size, false)
				}
				switch {
				case o.lost != "":
					t.Errorf("seed %d, %d bytes %.300q: %s", seed, len(unusual.text), unusual.text, o.lost)
				case o.bin > unusualLimit(unusual.text):
					slow.Add(1)
					t.Errorf("seed %d: %d bytes took %s", seed, len(unusual.text), o.bin)
				case unusual.sound && o.refused != nil:
					t.Errorf("seed %d, %d bytes %.300q: sound, but %v", seed, len(unusual.text), unusual.text, o.refused)
				}
				if unusual.sound {
					sound.Add(1)
				}
				if o.refused != nil {
					refused.Add(1)
				}
			}
		}()
	}
	wait.Wait()
	t.Logf("%d texts: %d sound, %d refused", n, sound.Load(), refused.Load())
	// The drawing of texts is no good if nearly all are alike.
	if s, r := sound.Load(), refused.Load(); s < n/4 || r < n/4 {
		t.Errorf("of %d texts %d are sound and %d refused", n, s, r)
	}
}

// unusualLimit is how long a text may take: a second for each 100 kB, and as long for a small one.
func unusualLimit(text []byte) time.Duration {
	return time.Second * time.Duration(1+len(text)/110_000)
}
