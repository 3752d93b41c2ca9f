package batches

import (
	"os"
	"path/filepath"
	"testing"

	"orcomgo/binning"
)

// TestTextOfInput: text is read again from inputs that are files, not from those that could give other bytes, or none.
func TestTextOfInput(t *testing.T) {
	a := &Archive{Config: binning.Config{Inputs: []binning.InputSpec{{Path: "rerun.go"}, {Path: "-"}, {Path: os.DevNull},
		{Path: filepath.Join(t.TempDir(), "missing")}}}}
	for i, want := range []struct{ file, fails bool }{{true, false}, {false, false}, {false, false}, {false, true}} {
		f, err := a.text(i)
		if (f != nil) != want.file || (err != nil) != want.fails {
			t.Errorf("input %d: %v, %v", i, f, err)
		}
		if f != nil {
			f.Close()
		}
	}
}
