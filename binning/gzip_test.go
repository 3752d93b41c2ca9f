package binning

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"orcomgo/binning/inflate"
	"orcomgo/bins/record"
)

// TestBehindGzip: zero bytes behind the last member are ignored, as gzip ignores them; what
// else is there is named.
func TestBehindGzip(t *testing.T) {
	text := simulate(1, 600, 100, 100, "1")
	zeros := func(n int) []byte { return make([]byte, n) }
	garbage := func(kind string, data []byte, found string, behind int) string {
		return fmt.Sprintf("x: trailing garbage after the %s data: found %s at offset %d, expected the end of the file",
			kind, found, len(data)+behind)
	}
	one, three, bgzf := gzipped(text, 1), gzipped(text, 3), bgzipped(text)
	noEnd := bgzf[:len(bgzf)-28]
	if !bytes.Equal(bgzf[len(bgzf)-28:len(bgzf)-24], []byte{0x1f, 0x8b, 8, 4}) {
		// the last member is empty; its length depends on how flate codes nothing
		noEnd = bgzf[:bytes.LastIndex(bgzf, []byte{0x1f, 0x8b, 8, 4})]
	}
	const truncated = "x: the compressed data ends too early: is the file truncated?"
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for _, tt := range []struct {
		name string
		data []byte
		want string // error
	}{
		{"a zero", join(one, zeros(1)), ""},
		{"two zeros", join(one, zeros(2)), ""},
		{"many zeros", join(one, zeros(1_000_000)), ""},
		{"members and zeros", join(three, zeros(511)), ""},
		{"bgzip and a zero", join(bgzf, zeros(1)), ""},
		{"bgzip and zeros", join(bgzf, zeros(600_000)), ""},
		{"bgzip, gzip and zeros", join(noEnd, gzipped(nil, 1), zeros(100)), ""},
		{"bgzip without its end, and zeros", join(noEnd, zeros(100)), "x: " + inflate.ErrBGZFEnd.Error()},

		{"a letter", join(one, []byte("x")), garbage("gzip", one, "'x'", 0)},
		{"text", join(three, []byte("hello")), garbage("gzip", three, "'h'", 0)},
		{"zeros and text", join(one, zeros(300_000), []byte("hello")), garbage("gzip", one, "'h'", 300_000)},
		{"zeros and a member", join(one, zeros(2), one), garbage("gzip", one, "byte 31", 2)},
		{"a byte that members begin with, and another", join(one, []byte("\x1fx")), garbage("gzip", one, "byte 31", 0)},
		{"bgzip and text", join(bgzf, []byte("hello")), garbage("gzip", bgzf, "'h'", 0)},
		{"bgzip, zeros and text", join(bgzf, zeros(50), []byte("hello")), garbage("gzip", bgzf, "'h'", 50)},
		{"bgzip, zeros and bgzip", join(bgzf, zeros(50), bgzf), garbage("gzip", bgzf, "byte 31", 50)},
		{"zstd and text", join(zstdCompressed(text), []byte("hello")), "x: " + errZstdGarbage.Error()},

		{"the first byte of a member", join(one, []byte("\x1f")), truncated},
		{"part of a member's header", join(one, one[:9]), truncated},
		{"part of a file name in a header", join(one, []byte("\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\xffreads.fa")), truncated},
		{"bgzip and part of a header", join(bgzf, bgzf[:12]), truncated},
		{"another method", join(one, []byte("\x1f\x8b\x07\x00\x00\x00\x00\x00\x00\xff")),
			"x: the gzip data is damaged: expected the header of a member"},
	} {
		dir, err := binTexts(t, Config{Threads: 2, Options: record.Options{BlockSize: 30_000}}, testInput{"x", tt.data})
		switch {
		case err != nil:
			if err.Error() != tt.want {
				t.Errorf("%s: error is %v, want %q", tt.name, err, tt.want)
			}
		case tt.want != "":
			t.Errorf("%s: no error, want %s", tt.name, tt.want)
		case !bytes.Equal(restore(t, dir)[0], text):
			t.Errorf("%s: the text differs", tt.name)
		}
	}
}

// TestBehindEmptyGzip: a member of nothing is an empty input, with zeros behind it too.
func TestBehindEmptyGzip(t *testing.T) {
	dir, err := binTexts(t, Config{}, testInput{"x", append(gzipped(nil, 1), make([]byte, 100)...)})
	if err != nil {
		t.Fatal(err)
	}
	if got := restore(t, dir)[0]; len(got) != 0 {
		t.Errorf("got %q", got)
	}
	_, err = binTexts(t, Config{}, testInput{"x", make([]byte, 100)})
	if err == nil || !strings.Contains(err.Error(), "record 1") {
		t.Errorf("nothing but zeros: %v", err)
	}
}
