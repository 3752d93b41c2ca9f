package binning

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orcomgo/bases"
	"orcomgo/bins/record"
	"orcomgo/internal/testrun"

	"orcomgo/bins"
	"orcomgo/digest"
)

// input4 is an input of a test.
type testInput struct {
	name string
	text []byte
}

// binTexts writes texts to files, bins them, and returns the archive's directory.
func binTexts(t testing.TB, c Config, inputs ...testInput) (string, error) {
	t.Helper()
	dir := t.TempDir()
	for i, in := range inputs {
		path := filepath.Join(dir, in.name)
		if err := os.WriteFile(path, in.text, 0o666); err != nil {
			t.Fatal(err)
		}
		if i == len(c.Inputs) {
			c.Inputs = append(c.Inputs, InputSpec{Mate: -1})
		}
		c.Inputs[i].Path = path
	}
	c.OutDir = filepath.Join(dir, "out")
	if testrun.Race && c.Options.BlockSize == 0 {
		c.Options.BlockSize = 1 << 20 // the race detector marks all of a buffer
	}
	_, err := Run(context.Background(), c)
	if err != nil {
		if entries, e := os.ReadDir(c.OutDir); e == nil {
			t.Errorf("after an error %s is there, with %d files", c.OutDir, len(entries))
		}
		// Errors begin with the path; the rest is what tests look at.
		err = errors.New(strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""))
	}
	return c.OutDir, err
}

// restore gives back the texts of all inputs of an archive from its columns, and checks
// them against the hashes.
func restore(t testing.TB, dir string) [][]byte {
	t.Helper()
	r, err := bins.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	m := r.Meta()
	texts := make([][]byte, len(m.Inputs))
	for i := range m.Blocks {
		var b bins.Block
		if err := errors.Join(r.ReadColumns(i, bins.WantAll, &b), r.ReadBins(i, 0, bins.NBin, &b)); err != nil {
			t.Fatal(err)
		}
		checkBlock(t, &b)
		text := render(t, &b, m.Inputs[b.Input].Kind, &m.Options)
		if m.Options == (record.Options{BlockSize: m.Options.BlockSize}) &&
			(digest.TextHash(text, serial) != b.TextHash || uint64(len(text)) != b.TextLen) {
			t.Errorf("block %d: hash or length of the text differs", i)
		}
		texts[b.Input] = append(texts[b.Input], text...)
	}
	return texts
}

// render puts a block's text together.
func render(t testing.TB, b *bins.Block, kind record.Kind, o *record.Options) []byte {
	t.Helper()
	seqs, err := b.AppendSequencesOf(nil, 0, b.Records)
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	names, quals := b.Names, b.Quals
	for k := range b.Records {
		n := b.Lengths.Of(k)
		seq := seqs[:n]
		seqs = seqs[n:]
		if o.ReadsOnly {
			text = append(append(text, seq...), '\n')
			continue
		}
		var name, qual []byte
		if names != nil {
			i := bytes.IndexByte(names, '\n')
			name, names = names[:i], names[i+1:]
		}
		if quals != nil {
			qual, quals = quals[:n], quals[n:]
		}
		if text, err = record.AppendRecord(text, kind, name, seq, qual, b.Forms.Of(uint32(k))); err != nil {
			t.Fatal(err)
		}
	}
	return text
}

// checkBlock checks what the format promises of a block.
func checkBlock(t testing.TB, b *bins.Block) {
	t.Helper()
	at, packed := 0, b.Packed
	for i, bin := range b.Bins {
		if i > 0 && bin.Signature <= b.Bins[i-1].Signature {
			t.Fatal("bins do not ascend")
		}
		total := uint64(0)
		for k := at; k < at+int(bin.Reads); k++ {
			if k > at && b.Order[k] <= b.Order[k-1] {
				t.Fatal("reads of a bin do not ascend")
			}
			n := b.Lengths.Of(int(b.Order[k]))
			total += uint64(n)
			if bin.Signature == bins.NBin && b.Place[k] != 0 {
				t.Fatal("a read of the N bin has a place")
			}
			if n%4 != 0 && packed[n/4]>>(n%4*2) != 0 {
				t.Fatal("unused bits are set")
			}
			if bin.Signature != bins.NBin {
				pos := int(b.Place[k] >> 1)
				got := uint32(0)
				for j := pos; j < pos+8; j++ {
					got = got<<2 | uint32(packed[j/4]>>(j%4*2)&3)
				}
				if got != bin.Signature {
					t.Fatalf("read %d: %x stands at the signature's place, not %x", b.Order[k], got, bin.Signature)
				}
			}
			packed = packed[bases.PackedLen(n):]
		}
		if total != bin.Bases {
			t.Fatal("a bin's bases are wrong")
		}
		at += int(bin.Reads)
	}
}

var roundTrips = []struct{ name, text string }{
	{"empty file", ""},
	{"one record", "@a\nACGT\n+\nIIII\n"},
	{"no last newline", "@a\nACGT\n+\nIIII"},
	{"two, no last newline", "@a\nACGT\n+\nIIII\n@b\nAC\n+\nII"},
	{"empty reads", "@a\n\n+\n\n@b\n\n+\n\n"},
	{"empty last read without newline", "@a\nA\n+\nI\n@b\n\n+\n"},
	{"empty last read without lines", "@a\nA\n+\nI\n@b\n\n+"},
	{"empty names", "@\nACGT\n+\nIIII\n@\nA\n+\nI\n"},
	{"CRLF", "@a\r\nACGT\r\n+\r\nIIII\r\n@b\r\nACGT\r\n+\r\nIIII\r\n"},
	{"CRLF, no last newline", "@a\r\nACGT\r\n+\r\nIIII\r\n@b\r\nACGT\r\n+\r\nIIII"},
	{"CRLF, last LF missing", "@a\r\nACGT\r\n+\r\nIIII\r"},
	{"CR here and there", "@a\nACGT\r\n+\nIIII\n@b\nACGT\n+\r\nIIII\n@c\r\nAC\n+\nII\n@d\nA\n+\nI\r\n"},
	{"CR in names", "@a\rb\nACGT\n+\nIIII\n@c\r\r\nACGT\n+\nIIII\n"},
	{"name after plus", "@a b\nACGT\n+a b\nIIII\n@c\nACGT\n+c\nIIII\n"},
	{"other text after plus", "@a b\nACGT\n+a\nIIII\n@c\nACGT\n+\nIIII\n@d\nACGT\n+d\nIIII\n"},
	{"nothing but other text after plus", "@a\nACGT\n+x\nIIII\n@b\nACGT\n+x\nIIII\n"},
	{"blank lines at the end", "@a\nACGT\n+\nIIII\n\n\n\r\n"},
	{"four blank lines at the end", "@a\nACGT\n+\nIIII\n\n\n\n\n"},
	{"many blank lines at the end", "@a\nACGT\n+\nIIII\n" + strings.Repeat("\n", 1000)},
	{"blank line after an empty read", "@a\n\n+\n\n\n"},
	{"letters", "@a\nACGTNacgtnURYKMSWBDHVurykmswbdhv.-*\n+\n" + strings.Repeat("I", 35) + "\n"},
	{"lower case", "@a\nacgtacgtacgtacgtacgtacgtacgt\n+\n" + strings.Repeat("I", 28) + "\n"},
	{"N at both ends of a reversed read", "@a\nNTTGTTGTTGTTGTTGTTGTTGTTGN\n+\n" + strings.Repeat("#", 26) + "\n"},
	{"all N", "@a\nNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN\n+\n" + strings.Repeat("!", 35) + "\n"},
	{"qualities 33 to 126", "@a\n" + strings.Repeat("A", 94) + "\n+\n" + allQuals() + "\n"},
	{"quality lines like other lines", "@a\nACGT\n+\n@@@@\n@b\nACGT\n+\n++++\n@c\nA\n+\n@\n@d\nA\n+\n+\n"},
	{"odd bytes in names", "@\x00\xff\x80\t;>@+\nACGT\n+\nIIII\n"},
	{"long name", "@" + strings.Repeat("x", 65536) + "\nACGT\n+\nIIII\n@y\nACGT\n+\nIIII\n"},
	{"long read", "@a\n" + strings.Repeat("ACGGTCATTTACG", 80000) + "\n+\n" + strings.Repeat("IIH#5IIIIIIII", 80000) + "\n@b\nA\n+\nI\n"},

	{"wrapped", "@a\nACGT\nACGT\nAC\n+\nIIII\nIIII\nII\n@b\nACG\n+\nIII\n"},
	{"wrapped, quality like a header", "@a\nACGT\nACGT\n+\nIIII\n@@@@\n@b\nACG\n+\n+@I\n"},
	{"wrapped unevenly", "@a\nAC\nACGT\nA\n+a\nIIIII\nII\n@b\nACG\n+\nIII\n"},
	{"wrapped, CRLF", "@a\r\nACGT\r\nAC\r\n+\r\nIIII\r\nII\r\n@b\r\nA\r\n+\r\nI\r\n"},
	{"blank lines between records", "@a\nACGT\n+\nIIII\n\n@b\nACGT\n+\nIIII\n\n\n@c\nA\n+\nI\n"},

	{"FASTA", ">a\nACGT\n>b\nTTTT\n"},
	{"FASTA, width 4", ">a\nACGT\nACGT\nAC\n>b\nTTTT\n>c\nA\n>d\nACGTA\n"},
	{"FASTA, uneven", ">a\nAC\nACGT\nAC\n>b\nTTTT\nTT\nTTT\n"},
	{"FASTA, blank lines", "> a \n\nACGT\n\nACGT\n\n>b\nTTTT\n\n>c\nTT\n\n\n"},
	{"FASTA, empty records", ">a\n>b\n\n>c\nACGT\n>d\n"},
	{"FASTA, nothing but a header", ">a"},
	{"FASTA, nothing but the mark", ">"},
	{"FASTA, empty names", ">\nACGT\nACGT\nA\n>\n>\r\nAC\r\nGT\r\nA\r\n>x\nA\n"},
	{"FASTA, no last newline", ">a\nACGT\nACGT\n>b\nACGT\nAC"},
	{"FASTA, lower case, U and N", ">a\nacgtACGTNNNNuuuuUUUU\nRYKMacgt\n"},
	{"FASTA, CRLF", ">a\r\nACGT\r\nACGT\r\nA\r\n>b\r\nACGT\r\n"},
	{"FASTA, CR here and there", ">a\r\nACGT\nACGT\r\nA\r\n>b\nACGT\r\n"},
	{"FASTA, long line", ">a\n" + strings.Repeat("ACGGTCATTTACG", 30000) + "\n>b\nACGT\n"},
	{"FASTA, marks in names", ">a>b\nACGT\n>>\nAC\n>@\nGT\n"},
}

func allQuals() string {
	var b []byte
	for c := byte(33); c < 127; c++ {
		b = append(b, c)
	}
	return string(b)
}

func TestRoundTrips(t *testing.T) {
	for _, tt := range roundTrips {
		for _, size := range testrun.Pick([]uint64{16}, []uint64{0, 16, 100}, []uint64{0, 16, 100}) {
			t.Run(fmt.Sprintf("%s/%d", tt.name, size), func(t *testing.T) {
				dir, err := binTexts(t, Config{Threads: 2, Options: record.Options{BlockSize: size}}, testInput{"x", []byte(tt.text)})
				if err != nil {
					t.Fatal(err)
				}
				if got := restore(t, dir); string(got[0]) != tt.text {
					t.Errorf("got %.200q, want %.200q", got[0], tt.text)
				}
			})
		}
	}
}

func TestMalformed(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nonsense", "hello\n", "x: record 1: expected '@' (FASTQ) or '>' (FASTA), found 'h'"},
		{"blank first", "\n@a\nA\n+\nI\n", "x: record 1: expected '@' (FASTQ) or '>' (FASTA), found the end of the line"},
		{"quality too short", "@a\nACGT\n+\nIII\n@b\nA\n+\nI\n", "x: record 1: expected 4 qualities, as many as bases, found 3"},
		{"quality too long", "@b\nA\n+\nI\n@a\nACGT\n+\nIIIII\n", "x: record 2: expected 4 qualities, as many as bases, found 5"},
		{"no plus", "@a\nACGT\nIIII\n@b\nACGT\n+\nIIII\n", "x: record 1: expected a line with '+', found 'I'"},
		{"cut in name", "@a\nACGT\n+\nIIII\n@b", "x: record 2: expected a sequence line, found the end of the file"},
		{"cut in sequence", "@a\nACGT\n+\nIIII\n@b\nACG", "x: record 2: expected a line with '+', found the end of the file"},
		{"cut after sequence", "@a\nACGT\n+\nIIII\n@b\nACG\n", "x: record 2: expected a line with '+', found the end of the file"},
		{"cut in plus", "@a\nACGT\n+\nIIII\n@b\nACG\n+", "x: record 2: expected a quality line, found the end of the file"},
		{"cut in quality", "@a\nACGT\n+\nIIII\n@b\nACG\n+\nII", "x: record 2: expected 3 qualities, as many as bases, found 2"},
		{"space in sequence", "@a\nAC GT\n+\nIIIII\n", "x: record 1: expected a base (a letter, '.', '-' or '*'), found a space"},
		{"digit in sequence", "@a\nACGT\n+\nIIII\n@b\nAC1GT\n+\nIIIII\n", "x: record 2: expected a base (a letter, '.', '-' or '*'), found '1'"},
		{"NUL in sequence", "@a\nAC\x00GT\n+\nIIIII\n", "x: record 1: expected a base (a letter, '.', '-' or '*'), found byte 0"},
		{"high byte in sequence", "@a\nAC\xc1GT\n+\nIIIII\n", "x: record 1: expected a base (a letter, '.', '-' or '*'), found byte 193"},
		{"NUL in quality", "@a\nACGTACGTACGT\n+\nIII\x00IIIIIIII\n", "x: record 1: expected a quality from '!' to '~', found byte 0"},
		{"DEL in quality", "@a\nACGT\n+\nIII\x7f\n", "x: record 1: expected a quality from '!' to '~', found byte 127"},
		{"space in quality", "@a\nACGT\n+\nII I\n", "x: record 1: expected a quality from '!' to '~', found a space"},
		{"text behind", "@a\nACGT\n+\nIIII\nrubbish\n", "x: record 2: expected '@', found 'r'"},
		{"the first of two errors", "@a\nAC1T\n+\nIIII\n@b\nACGT\n+\nII\n",
			"x: record 1: expected a base (a letter, '.', '-' or '*'), found '1'"},
		{"FASTA, space", ">a\nACGT\n>b\nAC GT\n", "x: record 2: expected a base (a letter, '.', '-' or '*'), found a space"},
		{"FASTA, comment", ">a\nACGT\n;b\nACGT\n", "x: record 1: expected a base (a letter, '.', '-' or '*'), found ';'"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := binTexts(t, Config{Threads: 2}, testInput{"x", []byte(tt.text)})
			if err == nil || err.Error() != tt.want {
				t.Errorf("error is %v, want %s", err, tt.want)
			}
		})
	}
}

// TestWrappedLate: what shows only far into a file that it is wrapped is read again; what
// is neither wrapped nor not is refused for what was wrong first.
func TestWrappedLate(t *testing.T) {
	plain := string(simulate(1, 12_000, 100, 100, "1"))
	if len(plain) < 2*sniffLen {
		t.Fatal("the text is too short")
	}
	for _, tt := range []struct{ name, late, want string }{
		{"wrapped", "@w\nACGT\nAC\n+\nIIII\nII\n@x\nA\n+\nI\n", ""},
		{"blank line", "\n@x\nA\n+\nI\n", ""},
		{"broken", "@w\nACGT\n+\nIIII\nII\n@x\nA\n+\nI\n", "x: record 12002: expected '@', found 'I'"},
		{"not FASTQ", "@w\nACGT\nIIII\n", "x: record 12001: expected a line with '+', found 'I'"},
	} {
		for _, size := range []uint64{0, 1 << 20} {
			if testrun.Short() && (size == 0 || tt.name == "blank line" || tt.name == "not FASTQ") {
				continue
			}
			text := []byte(plain + tt.late)
			dir, err := binTexts(t, Config{Threads: 2, Streams: 3, Options: record.Options{BlockSize: size}}, testInput{"x", text})
			switch {
			case err != nil:
				if err.Error() != tt.want {
					t.Errorf("%s: error is %v, want %q", tt.name, err, tt.want)
				}
			case tt.want != "":
				t.Errorf("%s: no error", tt.name)
			case !bytes.Equal(restore(t, dir)[0], text):
				t.Errorf("%s: the text differs", tt.name)
			}
		}
	}
}

// realFiles returns the files that match pattern in the folder of real runs, ORCOMGO_DATA, or
// skips the test.
func realFiles(t *testing.T, pattern string) []string {
	t.Helper()
	dir := testrun.Data(t)
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Skipf("no %s in ORCOMGO_DATA, %s", pattern, dir)
	}
	return paths
}

// TestOddFiles bins every file of the collection: the names of the broken ones say so.
func TestOddFiles(t *testing.T) {
	for _, path := range realFiles(t, "odd/*") {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := data
			if strings.HasSuffix(name, ".gz") {
				want = gunzip(t, data)
			}
			dir, err := binTexts(t, Config{Threads: 2}, testInput{name, data})
			if err != nil {
				t.Log(err)
				if !strings.HasPrefix(name, "error_") && !strings.HasPrefix(name, "mismatched_") && !strings.HasPrefix(name, "broken_") {
					t.Error("refused")
				}
				if !strings.HasPrefix(err.Error(), name+": record ") || strings.Contains(err.Error(), "\n") {
					t.Errorf("the error names no record of the file")
				}
				return
			}
			if !bytes.Equal(restore(t, dir)[0], want) {
				t.Error("the text differs")
			}
			if strings.HasPrefix(name, "error_") || strings.HasPrefix(name, "mismatched_") {
				t.Error("accepted")
			}
		})
	}
}

func gunzip(t testing.TB, data []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
