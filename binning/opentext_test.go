package binning

import (
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"orcomgo/internal/testrun"
)

// TestExtent: from a part of an input that was read, Extent says how much text all of it has, although readers of gzip read more of the
// file than they have given text of.
func TestExtent(t *testing.T) {
	testrun.NoRace(t)
	text := simulate(1, 60_000, 100, 100, "1")
	for name, stored := range map[string][]byte{"plain": text, "gzip": gzipped(text, 1), "members": gzipped(text, 7), "bgzip": bgzipped(text),
		"zstd": zstdCompressed(text)} {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, stored, 0o666); err != nil {
			t.Fatal(err)
		}
		in, err := OpenText(context.Background(), path, 2)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if _, err := io.CopyN(io.Discard, in, int64(len(text)/4)); err != nil {
			t.Fatal(err)
		}
		some, of := in.Extent()
		all := float64(len(stored)) * float64(some) / float64(of)
		t.Logf("%s: %.0f bytes of text expected, %d there, %d of %d bytes read", name, all, len(text), in.Stored(), len(stored))
		if off := math.Abs(all/float64(len(text)) - 1); off > 0.1 {
			t.Errorf("%s: %.0f bytes of text expected, %d there", name, all, len(text))
		}
	}
}
