package compress

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orcomgo/internal/testrun"
)

// readerDir holds a reader of archives in Python that was written from docs/FORMAT.md alone. Where it and this program
// disagree, the format and its specification do.
const readerDir = "../testdata/reader"

// readerCase is an archive that the reader is asked for, and what it must say of it.
type readerCase struct {
	name string
	path string // DIR/NAME
	want *expectation
}

// runReader runs a script of readerDir and returns what it prints. An exit status of 1 is how the scripts report damage.
func runReader(t *testing.T, script string, args ...string) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: the second reader was not run")
	}
	cmd := exec.CommandContext(t.Context(), python, append([]string{"-B", filepath.Join(readerDir, script)}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) || stderr.Len() > 0 {
		t.Fatalf("%s: %v\n%s", script, err, stderr.Bytes())
	}
	return string(out)
}

// checkReader asks the reader for the cases and compares: which inputs it restores, their lengths and SHA-256, and whether it reports
// damage.
func checkReader(t *testing.T, cases []readerCase) {
	t.Helper()
	args := []string{"--outcome"}
	for _, c := range cases {
		args = append(args, c.path)
	}
	outcomes := strings.Split(runReader(t, "orcomgo_reader.py", args...), "archive: ")[1:]
	if len(outcomes) != len(cases) {
		t.Fatalf("the reader reports %d archives, want %d", len(outcomes), len(cases))
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path, text, _ := strings.Cut(outcomes[i], "\n")
			if path != c.path {
				t.Fatalf("this is %s, want %s", path, c.path)
			}
			got := parseExpectation(t, text)
			if got.result != c.want.result {
				t.Errorf("the result is %q, want %q (%s)", got.result, c.want.result, got.what)
			}
			if !slices.Equal(got.inputs, c.want.inputs) {
				t.Errorf("inputs are\n%+v\nwant\n%+v\n(%s)", got.inputs, c.want.inputs, got.what)
			}
		})
	}
}

// whole returns what must be said of an archive that gives back the texts, by name, in the order of names.
func whole(texts map[string]string, names []string) *expectation {
	e := &expectation{result: kitWhole}
	for _, name := range names {
		text := texts[name]
		e.inputs = append(e.inputs,
			expectedInput{name: name, restored: true, length: len(text), sha256: fmt.Sprintf("%x", sha256.Sum256([]byte(text)))})
	}
	return e
}

// restoredNames returns the names under which the inputs are restored, given those of the texts.
func restoredNames(t *testing.T, ins []input, texts map[string]string) []string {
	t.Helper()
	var names []string
	for _, in := range ins {
		stem := strings.TrimSuffix(in.name, filepath.Ext(in.name))
		for _, name := range []string{in.name, stem + ".fasta", stem + ".reads"} {
			if _, ok := texts[name]; ok {
				names = append(names, name)
			}
		}
	}
	if len(names) != len(ins) || len(texts) != len(ins) {
		t.Fatalf("texts of %v for %d inputs", names, len(ins))
	}
	return names
}

// TestReaderGolden: the second reader restores every golden archive, packed and as bins, and one of the former version.
func TestReaderGolden(t *testing.T) {
	testrun.NoRace(t)
	short := []string{"single", "pair-mixed-lengths", "reads-only", "qualities-by-bases"}
	var cases []readerCase
	for i := range goldens {
		g := &goldens[i]
		if !testrun.Long() && !slices.Contains(short, g.name) || strings.HasSuffix(g.inputs, ".bam") { // which the reader refuses
			continue
		}
		dir := filepath.Join(goldenDir, g.name)
		ins, files := g.load(t), folder(t, dir)
		unpacked := texts(ins)
		fromBins := unpacked
		if !g.exact() {
			unpacked = folder(t, filepath.Join(dir, "unpacked"))
			fromBins = g.model(t, ins, unpacked)
		}
		name := ""
		parts := map[string]string{".cdna": t.TempDir(), ".bdna": t.TempDir()}
		parts[".cmeta"], parts[".bmeta"] = parts[".cdna"], parts[".bdna"]
		for file, content := range files {
			if to, ok := parts[filepath.Ext(file)]; ok {
				writeFile(t, filepath.Join(to, file), content)
				name = strings.TrimSuffix(file, filepath.Ext(file))
			}
		}
		names := restoredNames(t, ins, unpacked)
		cases = append(cases,
			readerCase{g.name + "/packed", filepath.Join(parts[".cdna"], name), whole(unpacked, names)},
			readerCase{g.name + "/bins", filepath.Join(parts[".bdna"], name), whole(fromBins, names)})
	}
	checkReader(t, cases)
}

// TestReaderTestkit: the second reader does with every vector of the test kit what its expect.txt says. It restores what can be restored
// of damaged archives, and nothing else.
func TestReaderTestkit(t *testing.T) {
	testrun.NoRace(t)
	entries, err := os.ReadDir(kitDir)
	if err != nil {
		t.Fatal(err)
	}
	var cases []readerCase
	for i, entry := range entries {
		if !entry.IsDir() || !testrun.Long() && i%20 != 0 {
			continue
		}
		dir := filepath.Join(kitDir, entry.Name())
		want := parseExpectation(t, readFile(t, filepath.Join(dir, "expect.txt")))
		cases = append(cases, readerCase{entry.Name(), filepath.Join(dir, "x"), want})
	}
	checkReader(t, cases)
}

// TestReaderVectors: the models of the second reader decode testdata/vectors, in make test-long the large ones too.
func TestReaderVectors(t *testing.T) {
	testrun.NoRace(t)
	args := []string{"../testdata/vectors"}
	if testrun.Long() {
		args = append([]string{"--all"}, args...)
	}
	out := runReader(t, "check_vectors.py", args...)
	if !strings.HasSuffix(out, " vectors, 0 decoded otherwise\n") {
		t.Error(out)
	}
}
