package names

import (
	"strings"
	"testing"

	"orcomgo/internal/testvector"
)

// TestVectors codes the names of testdata/vectors/names.txt and decodes them.
func TestVectors(t *testing.T) {
	column := func(t *testing.T, v *testvector.Vector, key string) (text []byte, n int) {
		for _, name := range v.Strings(t, key) {
			text = append(append(text, name...), '\n')
			n++
		}
		return text, n
	}
	rulesSeen, continued := make(map[byte]bool), make(map[bool]bool)
	testvector.Run(t, "../../testdata/vectors/names.txt", func(t *testing.T, v *testvector.Vector) {
		names, n := column(t, v, "names")
		var first []byte
		if v.Has("first") {
			first, _ = column(t, v, "first")
			f := v.Ints(t, "rule")
			r := rule{byte(f[0]), byte(f[1]), byte(f[2])}
			if found := findRule(names, first, n); found != r {
				t.Errorf("the encoder finds the rule %v, want %v", found, r)
			}
			rulesSeen[r.mark] = true
		}
		var e Encoder
		code := v.Bytes(t, "bytes", e.Encode(names, first, n, nil))
		var d Decoder
		got, err := d.Decode(code, first, n, n, uint64(len(names)))
		if err != nil || string(got) != string(names) {
			t.Fatalf("decoded %q, %v; want %q", got, err, names)
		}
		if v.Has("next-names") {
			next, count := column(t, v, "next-names")
			if first != nil {
				first, _ = column(t, v, "next-first")
			}
			code := v.Bytes(t, "next", e.Encode(next, first, count, nil))
			got, err := d.Decode(code, first, count, count, uint64(len(next)))
			if err != nil || string(got) != string(next) || !Continues(code) {
				t.Fatalf("decoded %q, %v; want %q", got, err, next)
			}
			continued[first != nil] = true
		}
	})
	if len(rulesSeen) != 3 || len(continued) != 2 {
		t.Errorf("the vectors have rules %v, and continue names without and with mates: %v", rulesSeen, continued)
	}
}

// TestCutVectors checks the shapes of a few names by hand: docs/FORMAT.md, section Names, Cutting a name.
func TestCutVectors(t *testing.T) {
	const word, number, padded3 = "\x80", "\x81", "\x85"
	for _, c := range []struct {
		name  string
		shape string
		words string // the fields, joined by spaces
	}{
		{"M1:22:ab 007", word + number + ":" + number + ":" + word + " " + padded3, "M 1 22 ab 007"},
		{"1234567890", number + number, "123456789 0"},
		{"::", "::", ""},
		{"", "", ""},
		{"0", number, "0"},
		{"\xc3\xa9\t\r\x01", word + "\t\r" + word, "\xc3\xa9 \x01"},
	} {
		var got tokens
		got.cut([]byte(c.name))
		var words []string
		for _, f := range got.field[:got.n] {
			words = append(words, c.name[f.from:f.to])
		}
		if string(got.key) != c.shape || strings.Join(words, " ") != c.words {
			t.Errorf("%q: shape %q, fields %q; want %q, %q", c.name, got.key, words, c.shape, c.words)
		}
	}
}
