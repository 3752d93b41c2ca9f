// Package testvector reads the test vectors in testdata/vectors: what goes into a model and the bytes that come out. Only tests import it.
// testdata/vectors/README.md describes the files.
package testvector

import (
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "compute the bytes in testdata/vectors anew (see the README.md there)")

// Vector is one vector of a file: a title, and fields in their order.
type Vector struct {
	Title  string
	fields []field
}

// field is a key and the lines of its value.
type field struct {
	key   string
	times int // the key has "times" and this number after it, or 0
	lines []string
}

// lineLength is how many characters of a long value are written in a line.
const lineLength = 116

// Run calls f for each vector of a file, and of the file of its name in the folder "large" beside it, if there is one; each in a subtest.
// f compares what Bytes returns with what the code under test does. With the flag -update, Bytes takes the latter over and Run writes
// the files.
func Run(t *testing.T, path string, f func(t *testing.T, v *Vector)) {
	t.Helper()
	large := filepath.Join(filepath.Dir(path), "large", filepath.Base(path))
	for _, path := range []string{path, large} {
		text, err := os.ReadFile(path)
		if path == large && errors.Is(err, fs.ErrNotExist) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		head, all := parse(t, string(text))
		if len(all) == 0 {
			t.Fatalf("%s has no vectors", path)
		}
		for _, v := range all {
			t.Run(v.Title, func(t *testing.T) { f(t, v) })
		}
		if *update && !t.Failed() {
			if err := os.WriteFile(path, []byte(render(head, all)), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// parse returns the comment at the start of a file, and the vectors.
func parse(t testing.TB, text string) (head string, all []*Vector) {
	var v *Vector
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch key, value, ok := strings.Cut(line, ":"); {
		case strings.HasPrefix(line, "## "):
			v = &Vector{Title: line[3:]}
			all = append(all, v)
		case v == nil:
			head += line + "\n"
		case line == "":
		case strings.HasPrefix(line, "  "):
			if len(v.fields) == 0 {
				t.Fatalf("%q belongs to no field", line)
			}
			last := &v.fields[len(v.fields)-1]
			last.lines = append(last.lines, line[2:])
		case ok:
			f := field{key: key}
			if base, n, ok := strings.Cut(key, " times "); ok {
				f.key, f.times = base, toInt(t, n)
			}
			v.fields = append(v.fields, f)
			if value = strings.TrimSpace(value); value != "" {
				v.fields[len(v.fields)-1].lines = []string{value}
			}
		default:
			t.Fatalf("%q is no line of a vector", line)
		}
	}
	return head, all
}

// render is the inverse of parse.
func render(head string, all []*Vector) string {
	var b strings.Builder
	b.WriteString(head)
	for i, v := range all {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "## %s\n", v.Title)
		for _, f := range v.fields {
			b.WriteString(f.key)
			if f.times > 0 {
				fmt.Fprintf(&b, " times %d", f.times)
			}
			b.WriteString(":")
			if len(f.lines) == 1 && !strings.HasPrefix(f.lines[0], `"`) && len(f.lines[0]) <= lineLength {
				b.WriteString(" " + f.lines[0] + "\n")
				continue
			}
			b.WriteString("\n")
			for _, l := range f.lines {
				b.WriteString("  " + l + "\n")
			}
		}
	}
	return b.String()
}

// Has reports whether there is a field.
func (v *Vector) Has(key string) bool { return v.field(key) != nil }

func (v *Vector) field(key string) *field {
	for i := range v.fields {
		if v.fields[i].key == key {
			return &v.fields[i]
		}
	}
	return nil
}

func (v *Vector) lines(t testing.TB, key string) []string {
	t.Helper()
	f := v.field(key)
	if f == nil {
		t.Fatalf("the vector has no field %q", key)
		return nil
	}
	if f.times > 0 {
		return repeated(t, f.lines, f.times)
	}
	return f.lines
}

// Text returns a field whose lines are one text.
func (v *Vector) Text(t testing.TB, key string) string {
	t.Helper()
	return strings.Join(v.lines(t, key), "")
}

// Words returns the words of a field.
func (v *Vector) Words(t testing.TB, key string) []string {
	t.Helper()
	return strings.Fields(strings.Join(v.lines(t, key), " "))
}

// Int returns a field that is a number.
func (v *Vector) Int(t testing.TB, key string) int {
	t.Helper()
	return toInt(t, v.Text(t, key))
}

// Ints returns a field of numbers.
func (v *Vector) Ints(t testing.TB, key string) []uint32 {
	t.Helper()
	list := []uint32{}
	for _, w := range v.Words(t, key) {
		list = append(list, uint32(toInt(t, w)))
	}
	return list
}

// Signed returns a field of numbers that may be negative.
func (v *Vector) Signed(t testing.TB, key string) []int32 {
	t.Helper()
	var list []int32
	for _, w := range v.Words(t, key) {
		n, err := strconv.ParseInt(w, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, int32(n))
	}
	return list
}

func toInt(t testing.TB, s string) int {
	t.Helper()
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

// Strings returns a field of strings in quotation marks, one a line, of any bytes: %XX is the byte XX.
func (v *Vector) Strings(t testing.TB, key string) []string {
	t.Helper()
	var list []string
	for _, l := range v.lines(t, key) {
		if len(l) < 2 || l[0] != '"' || l[len(l)-1] != '"' {
			t.Fatalf("%q is not in quotation marks", l)
		}
		var s []byte
		for l = l[1 : len(l)-1]; l != ""; l = l[1:] {
			if l[0] != '%' {
				s = append(s, l[0])
				continue
			}
			b, err := hex.DecodeString(l[1:min(3, len(l))])
			if err != nil || len(b) != 1 {
				t.Fatalf("%q: %%XX expected", l)
			}
			s, l = append(s, b...), l[2:]
		}
		list = append(list, string(s))
	}
	return list
}

// Hex returns a field of bytes in hexadecimal.
func (v *Vector) Hex(t testing.TB, key string) []byte {
	t.Helper()
	b, err := hex.DecodeString(v.Text(t, key))
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return b
}

// Bytes returns a field of bytes and reports an error if got, which the code under test makes, differs. With -update it sets the field.
func (v *Vector) Bytes(t testing.TB, key string, got []byte) []byte {
	t.Helper()
	v.compare(t, key, hex.EncodeToString(got))
	return v.Hex(t, key)
}

// Letters is Bytes for a field of letters.
func (v *Vector) Letters(t testing.TB, key string, got string) string {
	t.Helper()
	v.compare(t, key, got)
	return v.Text(t, key)
}

func (v *Vector) compare(t testing.TB, key, got string) {
	t.Helper()
	want := v.Text(t, key)
	if *update {
		f := v.field(key)
		f.lines = nil
		for text := got; text != ""; text = text[min(lineLength, len(text)):] {
			f.lines = append(f.lines, text[:min(lineLength, len(text))])
		}
		return
	}
	if got != want {
		i := 0
		for i < min(len(got), len(want)) && got[i] == want[i] {
			i++
		}
		t.Errorf("%s: %d characters, want %d, the first difference is at %d: %.40s, want %.40s", key, len(got), len(want), i, got[i:], want[i:])
	}
}
