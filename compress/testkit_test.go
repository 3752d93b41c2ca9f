package compress

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"orcomgo/internal/testrun"
)

const kitDir = "../testdata/testkit"

// expectation is what must happen with a vector of the test kit: the content of its expect.txt, which testdata/testkit/README.md specifies.
type expectation struct {
	what   string
	result string
	inputs []expectedInput // in the order of the archive; empty if nothing is known of them
}

// expectedInput is an input of a vector. One that must be restored has the length and SHA-256 of the text.
type expectedInput struct {
	name     string // of the restored file, or of the input if it can't be restored
	restored bool
	length   int
	sha256   string
}

// The results.
const (
	kitWhole      = "whole"           // all inputs are restored, nothing is reported
	kitNoted      = "noted"           // all inputs are restored, damage is reported
	kitDamaged    = "damaged"         // some inputs or all are not restored
	kitVersion    = "unknown version" // nothing is restored
	kitNotArchive = "not an archive"  // nothing is restored
)

func (e *expectation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\nresult: %s\n", e.what, e.result)
	for _, in := range e.inputs {
		if in.restored {
			fmt.Fprintf(&b, "restored: %s %d %s\n", in.sha256, in.length, escaped(in.name))
		} else {
			fmt.Fprintf(&b, "damaged: %s\n", escaped(in.name))
		}
	}
	return b.String()
}

// escaped writes %XX for the bytes of a name that are not printable ASCII, for spaces and for %.
func escaped(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if c <= ' ' || c >= 127 || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func unescaped(t *testing.T, s string) string {
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		v, err := strconv.ParseUint(s[i+1:min(i+3, len(s))], 16, 8)
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		b = append(b, byte(v))
		i += 2
	}
	return string(b)
}

// parseExpectation is the inverse of String.
func parseExpectation(t *testing.T, text string) *expectation {
	t.Helper()
	e := new(expectation)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		key, value, ok := strings.Cut(line, ": ")
		f := strings.Fields(value)
		switch {
		case strings.HasPrefix(line, "# "):
			e.what = line[2:]
		case key == "result" && ok:
			e.result = value
		case key == "damaged" && len(f) == 1:
			e.inputs = append(e.inputs, expectedInput{name: unescaped(t, f[0])})
		case key == "restored" && len(f) == 3:
			n, err := strconv.Atoi(f[1])
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			e.inputs = append(e.inputs, expectedInput{name: unescaped(t, f[2]), restored: true, length: n, sha256: f[0]})
		default:
			t.Fatalf("%q is no line of an expect.txt", line)
		}
	}
	return e
}

// TestTestkit unpacks and verifies every vector of testdata/testkit and compares with what its expect.txt says.
func TestTestkit(t *testing.T) {
	testrun.NoRace(t)
	if *update {
		makeKit(t)
	}
	entries, err := os.ReadDir(kitDir)
	if err != nil {
		t.Fatal(err)
	}
	results := make(map[string]int)
	t.Run("vectors", func(t *testing.T) {
		for _, entry := range entries {
			if !entry.IsDir() {
				continue
			}
			dir := filepath.Join(kitDir, entry.Name())
			e := parseExpectation(t, readFile(t, filepath.Join(dir, "expect.txt")))
			results[e.result]++
			t.Run(entry.Name(), func(t *testing.T) {
				t.Parallel()
				e.check(t, dir)
			})
		}
	})
	for _, r := range []string{kitWhole, kitNoted, kitDamaged, kitVersion, kitNotArchive} {
		if results[r] == 0 {
			t.Errorf("no vector has the result %q", r)
		}
		delete(results, r)
	}
	for r := range results {
		t.Errorf("%q is not a result", r)
	}
}

// check unpacks and verifies the vector in dir.
func (e *expectation) check(t *testing.T, dir string) {
	for _, in := range e.inputs {
		if escaped(in.name) != in.name && runtime.GOOS != "linux" {
			t.Skipf("%q may not be a file name on this system", in.name)
		}
	}
	parent := t.TempDir()
	out := filepath.Join(parent, "a", "b") // so that names that lead upwards lead to where it is seen
	if err := os.Mkdir(filepath.Dir(out), 0o777); err != nil {
		t.Fatal(err)
	}
	s, err := Unpack(context.Background(), dir, UnpackOptions{Threads: 2, OutDir: out})
	e.checkError(t, "unpack", err)
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("unpack: the error has more than a line: %q", err)
	}
	if noted := s != nil && len(s.Notes) > 0; err == nil && noted != (e.result == kitNoted) {
		t.Errorf("unpack: the result is %s, notes %q", e.result, s.Notes)
	}
	if s != nil {
		if len(s.Files) != len(e.inputs) {
			t.Fatalf("unpack: %d inputs, want %d", len(s.Files), len(e.inputs))
		}
		for i, f := range s.Files {
			if f.OK != e.inputs[i].restored || !f.OK && f.Problem == "" {
				t.Errorf("unpack: status %+v", f)
			}
		}
	}
	e.checkFiles(t, parent, out)

	status, err := verifyPath(context.Background(), dir, VerifyOptions{Threads: 2})
	if err == nil {
		e.checkStatus(t, status)
		return
	}
	// Verify reports damage of inputs and of copies in the status, all else by an error.
	if len(e.inputs) > 0 {
		t.Fatalf("verify: %v", err)
	}
	e.checkError(t, "verify", err)
}

// checkError compares the class of an error with the result.
func (e *expectation) checkError(t *testing.T, what string, err error) {
	t.Helper()
	classes := map[string]error{kitDamaged: ErrCorrupt, kitVersion: ErrVersion, kitNotArchive: ErrNotArchive}
	want := classes[e.result]
	if want == nil && err != nil {
		t.Errorf("%s: %v, want no error", what, err)
	}
	for _, class := range classes {
		if want != nil && errors.Is(err, class) != (class == want) {
			t.Errorf("%s: the error is %q, want one of class %q", what, fmt.Sprint(err), want)
		}
	}
}

// checkFiles compares what unpack wrote in out, and that it wrote nothing anywhere else.
func (e *expectation) checkFiles(t *testing.T, parent, out string) {
	t.Helper()
	want := make(map[string]string)
	for _, in := range e.inputs {
		if in.restored {
			want[filepath.Join(out, in.name)] = in.sha256
		}
	}
	err := filepath.WalkDir(parent, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if path == out && len(want) == 0 {
				t.Error("unpack made a directory and restored nothing")
			}
			return err
		}
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte(readFile(t, path))))
		if want[path] != sum {
			t.Errorf("unpack wrote %q with SHA-256 %s, want %q", path, sum, want[path])
		}
		delete(want, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range want {
		t.Errorf("unpack did not restore %q", path)
	}
}

// checkStatus compares what verify found with the result. After the inputs come files of the archive that are damaged though
// no input depends on it.
func (e *expectation) checkStatus(t *testing.T, status []FileStatus) {
	t.Helper()
	if len(e.inputs) == 0 && e.result != kitWhole || len(status) < len(e.inputs) {
		t.Fatalf("verify: %d inputs and no error, want the result %q", len(status), e.result)
	}
	for i, in := range e.inputs {
		if status[i].OK != in.restored {
			t.Errorf("verify: status %+v", status[i])
		}
	}
	copies := status[len(e.inputs):]
	if len(copies) > 0 && e.result == kitWhole || len(copies) == 0 && e.result == kitNoted {
		t.Errorf("verify: the result is %s, copies %+v", e.result, copies)
	}
	for _, s := range copies {
		if s.OK {
			t.Errorf("verify: status %+v", s)
		}
	}
}
