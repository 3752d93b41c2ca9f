package binning

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"orcomgo/bins"
	"orcomgo/internal/testrun"
	"orcomgo/minimizer"

	"github.com/klauspost/compress/gzip"
)

// Text that is much larger than its compressed form suggests is binned like the same text from a plain file.
func TestUnlikelyRatio(t *testing.T) {
	testrun.NoRace(t)
	text := bytes.Repeat([]byte("@r\nACGTACGTAC\n+\nIIIIIIIIII\n"), 40000)
	wrapped := bytes.Repeat([]byte(">r\nACGTACGTAC\nACGTA\n"), 40000)
	for name, text := range map[string][]byte{"x.fastq": text, "y.fasta": wrapped} {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(text)
		z.Close()
		if b.Len()*likelyRatio*4 > len(text) {
			t.Fatalf("%s: %d bytes of text in %d", name, len(text), b.Len())
		}
		var bins [3][]byte
		for i, content := range [][]byte{text, b.Bytes(), bgzipped(text)} {
			path := filepath.Join(t.TempDir(), name+[]string{"", ".gz", ".gz"}[i])
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if _, err := Run(t.Context(), Config{Inputs: []InputSpec{{Path: path, Mate: -1}}, OutDir: dir, Name: "x", Threads: 2}); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(dir, "x.bdna"))
			if err != nil {
				t.Fatal(err)
			}
			bins[i] = data[24:] // without the ID
			if !bytes.Equal(bins[i], bins[0]) {
				t.Errorf("%s: compressed text (%d) has other bins than plain text", name, i)
			}
		}
	}
}

// TestPackedRoom: packed reads, before they are sorted, take memory by their bases, not by their text.
func TestPackedRoom(t *testing.T) {
	const records = 20_000
	text := simulate(1, records, 60, 60, "a name that is longer than the read")
	c := NewCPU(Resources{Threads: 1, Streams: 1, Run: serial}).(*cpu)
	defer c.Close()
	var b bins.Block
	if err := c.Assign(t.Context(), &Text{Data: text, Last: true}, &b); err != nil {
		t.Fatal(err)
	}
	segments := len(text)/fillPiece + 1
	if n, most := len((<-c.jobs).packed), records*(60/4+1)+segments*2*minimizer.Pad; n > most {
		t.Errorf("%d reads of 60 bases take %d bytes, want %d at most", b.Records, n, most)
	}
}
