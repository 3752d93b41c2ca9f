package binning

import (
	"context"
	"fmt"
	"io"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"orcomgo/bins/record"
	"orcomgo/internal/tasks"
	"orcomgo/internal/testrun"
)

// cutAll returns what a cutter of records makes of a text, as a string for each block, the last of which is the error.
func cutAll(text string, blockSize, threads, piece int) (blocks []string) {
	kind := record.FASTQ
	if text[0] == '>' {
		kind = record.FASTA
	}
	c := newRecordCutter(&source{path: "x", close: func() {}}, kind, blockSize, 0, nil, false)
	c.walker.in = iotest.HalfReader(strings.NewReader(text))
	if threads > 1 {
		c.parallel(tasks.NewPool(threads), threads*piecesAThread)
		c.ahead.piece, c.walker.longSequence = piece, 1+piece/5
	}
	a := NewCPU(Resources{Run: serial})
	for !c.done {
		t, err := c.next(context.Background(), a)
		if err != nil {
			return append(blocks, err.Error())
		}
		forms := fmt.Sprintf("%+v", t.forms.Default)
		for _, e := range t.forms.Exceptions {
			forms += fmt.Sprintf("\n%d %+v", e.Read, *e.Form)
		}
		blocks = append(blocks, fmt.Sprintf("%d %v %d %d %x\n%q\n%s", t.FirstRecord, t.Last, t.records, t.textLen, t.textHash, t.Data, forms))
		t.buffer.Free()
	}
	return blocks
}

// Records that are parsed ahead make the same blocks, and give the same errors, as those that one walker parses.
func TestParsedAhead(t *testing.T) {
	var texts []string
	for _, tt := range roundTrips {
		if tt.text != "" && len(tt.text) < 2000 {
			texts = append(texts, tt.text)
		}
	}
	texts = append(texts, unusualTexts(2, testrun.Pick(10, 16, 40))...)
	for i := range len(texts) {
		texts = append(texts, strings.Repeat(texts[i], 5), texts[i]+texts[i]+"@\n!", texts[i]+">x\n1\n"+texts[i])
	}
	r := rand.New(rand.NewSource(3))
	for range testrun.Pick(10, 16, 40) {
		texts = append(texts, wrappedReads(r, 60), longSequences(r))
	}
	ahead := 0
	for _, text := range texts {
		for _, blockSize := range []int{50, 3000} {
			want := cutAll(text, blockSize, 1, 0)
			for _, piece := range []int{1, 30, 200, 5000} {
				if got := cutAll(text, blockSize, 3, piece); !reflect.DeepEqual(got, want) {
					t.Fatalf("%q in blocks of %d, pieces of %d:\n%q\nwant\n%q", text, blockSize, piece, got, want)
				}
			}
		}
		ahead += parsedAhead(text)
	}
	if ahead < 1000 {
		t.Errorf("%d records were parsed ahead", ahead)
	}
}

// wrappedReads returns FASTQ in lines of equal lengths, with qualities that often begin with '@'.
func wrappedReads(r *rand.Rand, n int) string {
	var b strings.Builder
	width := 3 + r.Intn(20)
	for i := range n {
		size := r.Intn(60)
		fmt.Fprintf(&b, "@%d\n", i)
		for k := 0; k < size; k += width {
			b.WriteString(strings.Repeat("ACGTN", 20)[:min(width, size-k)] + "\n")
		}
		b.WriteString("+\n")
		for k := 0; k < size; k += width {
			line := []byte("@A+IIIIIIIIIIIIIIIIIIIIII"[r.Intn(3):])
			b.Write(append(line[:min(width, size-k):min(width, size-k)], '\n'))
		}
		if size == 0 {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// longSequences returns FASTA of sequences of many even lines, among which there may be others.
func longSequences(r *rand.Rand) string {
	var b strings.Builder
	for i := range 1 + r.Intn(4) {
		width, end := 1+r.Intn(70), []string{"\n", "\r\n"}[r.Intn(2)]
		fmt.Fprintf(&b, ">%d%s", i, end)
		for range r.Intn(100) {
			line := strings.Repeat("ACGTNacgt-", 8)[:width] + end
			switch r.Intn(150) {
			case 0:
				line = end
			case 1:
				line = line[1:]
			case 2:
				line = "A" + line
			case 3:
				line = strings.TrimRight(line, "\r\n") + "\n"
			case 4:
				line = strings.Replace(line, "A", "!", r.Intn(2))
			}
			b.WriteString(line)
		}
	}
	return b.String()[:b.Len()-r.Intn(2)]
}

// parsedAhead returns how many records of a text are parsed ahead in pieces of 100 bytes.
func parsedAhead(text string) (n int) {
	w := walker{kind: record.FASTQ, buf: []byte(text), err: io.EOF}
	if text[0] == '>' {
		w.kind = record.FASTA
	}
	a := ahead{run: serial, pieces: 12, piece: 100}
	a.fill(&w)
	for r, _ := a.next(); r != nil; r, _ = a.next() {
		n++
	}
	return n
}

// checkContent finds each byte that is no letter, wherever it is.
func TestCheckContent(t *testing.T) {
	for n := 1; n < 20; n++ {
		for at := range n {
			for c := range 256 {
				seq := []byte(strings.Repeat("AczZ", 5)[:n])
				seq[at] = byte(c)
				bad := checkContent(seq, nil)
				if ok := isLetter(byte(c)); (bad == nil) != ok || bad != nil && *bad != *badLetter(byte(c)) {
					t.Fatalf("%q: %+v", seq, bad)
				}
			}
		}
	}
}
