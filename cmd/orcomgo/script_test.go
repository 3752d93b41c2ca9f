package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

const input = "../../testdata/rna8.fastq"

// programs are what the test binary plays when it is started under one of these names.
var programs = map[string]func(){"orcomgo": main, "orcomgo-peak": playPeak}

// The scripts in testdata run the test binary itself under the name orcomgo.
func TestMain(m *testing.M) {
	testscript.Main(allTests{m}, programs)
}

// playedBy returns the path of a program that the test binary plays.
func playedBy(t *testing.T, program string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), program)
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestScripts(t *testing.T) {
	data, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOTMPDIR", memoryDir(t)) // where the scripts run
	few := t.TempDir()                 // the first 60 records of each of three files
	for _, name := range []string{"pair41_R1.fastq", "pair41_R2.fastq", "rna8.fastq"} {
		lines := strings.SplitAfterN(readFile(t, filepath.Join(data, name)), "\n", 241)[:240]
		put(t, few, map[string][]byte{name: []byte(strings.Join(lines, ""))})
	}
	commands := map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"orcomgo":     scriptSucceeds,
		"fails":       scriptFails,
		"failing":     scriptFailing,
		"shell":       scriptShell,
		"refused":     scriptRefused,
		"unzip":       scriptUnzip,
		"tozstd":      scriptToZstd,
		"cut":         scriptCut,
		"flip":        scriptFlip,
		"head":        scriptHead,
		"sorted":      scriptSorted,
		"firstfields": scriptFirstFields,
		"validjson":   scriptValidJSON,
		"jsonlines":   scriptJSONLines,
		"text":        scriptText,
		"togzip":      scriptToGzip,
		"sametime":    scriptSameTime,
		"join":        scriptJoin,
	}
	maps.Copy(commands, archiveCommands)
	testscript.Run(t, testscript.Params{
		Dir:  "testdata",
		Cmds: commands,
		Setup: func(env *testscript.Env) error {
			env.Setenv("DATA", data)
			env.Setenv("FEW", few)
			env.Setenv("SMALL", filepath.Join(filepath.Dir(data), "binning", "testdata", "compressed"))
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "cuda":
				return gpu != nil, nil
			case "root":
				return os.Geteuid() == 0, nil
			}
			return false, errors.New("no condition " + cond)
		},
	})
}

// scriptSucceeds: orcomgo ARGS... must exit with status 0.
func scriptSucceeds(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("write: fails STATUS ARGS...")
	}
	ts.Check(ts.Exec("orcomgo", args...))
}

// scriptFails: fails STATUS ARGS... runs orcomgo, which must exit with the status after
// exactly one line on standard error.
func scriptFails(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec("orcomgo", args[1:]...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		ts.Fatalf("orcomgo %s: %v, want exit status %s", strings.Join(args[1:], " "), err, args[0])
	}
	if got := strconv.Itoa(exit.ExitCode()); got != args[0] {
		ts.Fatalf("orcomgo %s: exit status %s, want %s", strings.Join(args[1:], " "), got, args[0])
	}
	text := ts.ReadFile("stderr")
	see(text)
	if strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "orcomgo: ") || !strings.HasSuffix(text, "\n") {
		ts.Fatalf("not one line for the user: %q", text)
	}
}

// scriptFailing: failing STATUS ARGS... runs orcomgo, which must exit with the status after one line or more on standard error.
func scriptFailing(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec("orcomgo", args[1:]...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || strconv.Itoa(exit.ExitCode()) != args[0] {
		ts.Fatalf("orcomgo %s: %v, want exit status %s", strings.Join(args[1:], " "), err, args[0])
	}
	text := ts.ReadFile("stderr")
	see(text)
	if !strings.HasSuffix(text, "\n") || !strings.Contains(text, "orcomgo: ") {
		ts.Fatalf("no line for the user: %q", text)
	}
}

// scriptShell: shell STATUS LINE runs a line in the system's shell, which must exit with the
// status.
func scriptShell(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("write: shell STATUS LINE")
	}
	got, err := 0, ts.Exec("sh", "-c", args[1])
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got, err = exit.ExitCode(), nil
	}
	ts.Check(err)
	see(ts.ReadFile("stderr"))
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("%s: exit status %d, want %s: %s", args[1], got, args[0], ts.ReadFile("stderr"))
	}
}

// scriptRefused: refused FILE N: bin must fail, naming the file and record N, and leave
// nothing in the output directory, or not even make it.
func scriptRefused(ts *testscript.TestScript, _ bool, args []string) {
	scriptFails(ts, false, []string{"1", "bin", args[0], "refused"})
	text := ts.ReadFile("stderr")
	if !strings.Contains(text, args[0]) || !strings.Contains(text, "record "+args[1]+":") && !strings.Contains(text, "record "+args[1]+" ") {
		ts.Fatalf("%q names not both %s and record %s", text, args[0], args[1])
	}
	left, err := os.ReadDir(ts.MkAbs("refused"))
	if err != nil && !os.IsNotExist(err) {
		ts.Fatalf("%v", err)
	}
	for _, f := range left {
		if strings.HasSuffix(f.Name(), "dna") || strings.HasSuffix(f.Name(), "meta") {
			ts.Fatalf("%s was left behind", f.Name())
		}
	}
}

func transform(ts *testscript.TestScript, from, to string, f func([]byte) []byte) {
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(to)), 0o777))
	ts.Check(os.WriteFile(ts.MkAbs(to), f([]byte(ts.ReadFile(from))), 0o666))
}

// scriptUnzip: unzip FROM TO.
func scriptUnzip(ts *testscript.TestScript, _ bool, args []string) {
	transform(ts, args[0], args[1], func(b []byte) []byte {
		r, err := gzip.NewReader(bytes.NewReader(b))
		ts.Check(err)
		text, err := io.ReadAll(r)
		ts.Check(err)
		return text
	})
}

// scriptToZstd: tozstd FROM TO.
func scriptToZstd(ts *testscript.TestScript, _ bool, args []string) {
	transform(ts, args[0], args[1], func(b []byte) []byte {
		w, err := zstd.NewWriter(nil)
		ts.Check(err)
		return w.EncodeAll(b, nil)
	})
}

// scriptCut: cut FROM TO N keeps the first N bytes.
func scriptCut(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	transform(ts, args[0], args[1], func(b []byte) []byte { return b[:n] })
}

// scriptFlip: flip FROM TO N changes one bit of byte N.
func scriptFlip(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	transform(ts, args[0], args[1], func(b []byte) []byte {
		b[n] ^= 4
		return b
	})
}

// scriptHead: head N FROM TO keeps the first N lines.
func scriptHead(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	transform(ts, args[1], args[2], func(b []byte) []byte {
		return bytes.Join(bytes.SplitAfter(b, []byte("\n"))[:n], nil)
	})
}

// scriptSorted: sorted FROM TO sorts the lines.
func scriptSorted(ts *testscript.TestScript, _ bool, args []string) {
	transform(ts, args[0], args[1], func(b []byte) []byte {
		lines := strings.SplitAfter(string(b), "\n")
		slices.Sort(lines)
		return []byte(strings.Join(lines, ""))
	})
}

// scriptFirstFields: firstfields FROM TO keeps the names of a FASTQ file up to a space.
func scriptFirstFields(ts *testscript.TestScript, _ bool, args []string) {
	transform(ts, args[0], args[1], func(b []byte) (names []byte) {
		for i, line := range strings.Split(string(b), "\n") {
			if i%4 == 0 {
				name, _, _ := strings.Cut(line, " ")
				names = append(append(names, name...), '\n')
			}
		}
		return names
	})
}

// scriptValidJSON: validjson FILE.
func scriptValidJSON(ts *testscript.TestScript, _ bool, args []string) {
	if text := ts.ReadFile(args[0]); !json.Valid([]byte(text)) {
		ts.Fatalf("no JSON: %s", text)
	}
}

// scriptJSONLines: jsonlines FILE: each line is JSON.
func scriptJSONLines(ts *testscript.TestScript, _ bool, args []string) {
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		if !strings.HasSuffix(line, "\n") || !json.Valid([]byte(line)) {
			ts.Fatalf("no JSON: %q", line)
		}
	}
}

// scriptText: text FILE PART... writes the parts, each as in a Go string without its quotes,
// and so often as a *N at its end says.
func scriptText(ts *testscript.TestScript, _ bool, args []string) {
	var text []byte
	for _, part := range args[1:] {
		times := 1
		if i := strings.LastIndexByte(part, '*'); i >= 0 {
			if n, err := strconv.Atoi(part[i+1:]); err == nil {
				part, times = part[:i], n
			}
		}
		s, err := strconv.Unquote(`"` + part + `"`)
		ts.Check(err)
		text = append(text, strings.Repeat(s, times)...)
	}
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[0])), 0o777))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o666))
}

// scriptToGzip: togzip FROM TO.
func scriptToGzip(ts *testscript.TestScript, _ bool, args []string) {
	transform(ts, args[0], args[1], func(b []byte) []byte {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		_, err := w.Write(b)
		ts.Check(errors.Join(err, w.Close()))
		return z.Bytes()
	})
}

// scriptSameTime: sametime A B: both files were last written to at the same time; ! sametime: they were not.
func scriptSameTime(ts *testscript.TestScript, neg bool, args []string) {
	var times [2]time.Time
	for i := range times {
		info, err := os.Stat(ts.MkAbs(args[i]))
		ts.Check(err)
		times[i] = info.ModTime()
	}
	if times[0].Equal(times[1]) == neg {
		ts.Fatalf("%s is of %s, %s of %s", args[0], times[0], args[1], times[1])
	}
}

// scriptJoin: join TO FROM... puts files one after another.
func scriptJoin(ts *testscript.TestScript, _ bool, args []string) {
	var all []byte
	for _, from := range args[1:] {
		all = append(all, ts.ReadFile(from)...)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), all, 0o666))
}
