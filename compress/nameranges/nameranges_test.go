package nameranges

import (
	"strings"
	"testing"

	"orcomgo/compress/archive"
)

// TestRange: what ranges say of names, and which other names they may have.
func TestRange(t *testing.T) {
	for _, c := range []struct {
		names           string
		least, greatest string
		may, not        string
	}{
		{"", "", "", "a", ""},
		{"r:9:70 x,r:10:6/1 y", "", "", "z", ""}, // they differ in more
		{"r:9:70 1,r:10:6\t2", "r:9:6", "r:10:70", "r:9:70 r:10:6 r:010:06", "r:8:70 r:9:71 r:9 r:9:70: s:9:70 r:9:x"},
		{"a007b,a05b", "a5b", "a7b", "a6b a0000006b", "a4b a8b ab"},
		{"a123456789012345678", "a123456789012345678", "a123456789012345678", "a123456789012345678", "a123456789012345679"},
		{"a1234567890123456789", "", "", "b", ""}, // a number has too many digits
		{"a1,b1,a1", "", "", "c", ""},
		{strings.Repeat("x", archive.MaxWord) + "," + strings.Repeat("x", archive.MaxWord), strings.Repeat("x", archive.MaxWord),
			strings.Repeat("x", archive.MaxWord), strings.Repeat("x", archive.MaxWord), "x"},
		{strings.Repeat("x", archive.MaxWord) + "1", "", "", "y", ""},
	} {
		var r Range
		if c.names != "" {
			r.AddNames([]byte(strings.ReplaceAll(c.names, ",", "\n") + "\n"))
		}
		w := r.Words()
		if want := (archive.Words{Least: c.least, Greatest: c.greatest}); w != want {
			t.Errorf("%q: %q, want %q", c.names, w, want)
		}
		for want, list := range map[bool]string{true: c.may, false: c.not} {
			for _, s := range strings.Fields(list) {
				var x Word
				if !x.Cut([]byte(s)) {
					t.Fatalf("%q is not cut", s)
				}
				if got := MayHave(&w, []Word{x}); got != want {
					t.Errorf("%q: may have %q: %v", c.names, s, got)
				}
			}
		}
	}
	var x Word
	if x.Cut([]byte("a1234567890123456789")) {
		t.Error("19 digits are a number")
	}
	other := archive.Words{Least: "a1", Greatest: "b1"} // no writer's
	if !MayHave(&other, []Word{x}) {
		t.Errorf("%v bound a word", other)
	}
}
