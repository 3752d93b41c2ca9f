package record

import (
	"slices"
	"testing"
)

// TestFormats: every format of text has a whole row, and text can be told apart by its first byte.
func TestFormats(t *testing.T) {
	var exts []string
	for k := range BAM {
		f := k.Format()
		if f == nil || f.Name == "" || f.appendRecord == nil || len(f.Exts) == 0 {
			t.Fatalf("kind %d: %+v", k, f)
		}
		if got, ok := KindOf(f.Mark); !ok || got != k {
			t.Errorf("%s: %q is the mark of kind %d, %v", f.Name, f.Mark, got, ok)
		}
		for _, ext := range f.Exts {
			if slices.Contains(exts, ext) {
				t.Errorf("%s: %s is another format's extension", f.Name, ext)
			}
			if stem, got := CutTextExt("a" + ext); stem != "a" || got != ext {
				t.Errorf("a%s is cut into %q and %q", ext, stem, got)
			}
		}
		exts = append(exts, f.Exts...)
		text, err := AppendRecord(nil, k, []byte("n"), []byte("AC"), []byte("IJ"), &Form{})
		if err != nil || len(text) < 5 || text[0] != f.Mark || f.Quals != slices.Contains(text, 'J') {
			t.Errorf("%s: a record is %q, %v", f.Name, text, err)
		}
	}
	if text, err := AppendRecord(nil, BAM, []byte("n"), []byte("AC"), []byte("IJ"), &Form{}); err == nil {
		t.Errorf("BAM without fields is %q", text)
	}
	for _, mark := range []byte{0, '\n', 'A', '+', ';'} {
		if k, ok := KindOf(mark); ok {
			t.Errorf("%q is the mark of kind %d", mark, k)
		}
	}
}
