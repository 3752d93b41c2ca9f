package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCompletionScripts: a script for each shell.
func TestCompletionScripts(t *testing.T) {
	for shell, part := range map[string]string{"bash": "complete -o default", "zsh": "#compdef orcomgo", "fish": "complete -c orcomgo"} {
		var out, errs bytes.Buffer
		if status := run(context.Background(), &streams{out: &out, err: &errs}, []string{"completion", shell}); status != 0 ||
			!strings.Contains(out.String(), part) {
			t.Errorf("%s: status %d, %s", shell, status, errs.String())
		}
	}
	var out, errs bytes.Buffer
	if run(context.Background(), &streams{out: &out, err: &errs}, []string{"completion", "tcsh"}) != exitUsage || out.Len() > 0 {
		t.Error("tcsh is no usage error")
	}
}

// TestBashCompletes has bash load the script and complete lines in a directory with files.
func TestBashCompletes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	program := playedBy(t, "orcomgo")
	dir := t.TempDir()
	data, err := os.ReadFile(input)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"reads_1.fastq", "reads_2.fastq", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var errs bytes.Buffer
	for _, name := range []string{"reads_1.fastq", "reads_2.fastq"} {
		if status := run(context.Background(), &streams{out: &errs, err: &errs},
			[]string{"bin", "-q", filepath.Join(dir, name), filepath.Join(dir, "runs")}); status != 0 {
			t.Fatal(errs.String())
		}
	}
	const script = `
		source <("$PROGRAM" completion bash)
		while IFS= read -r line; do
			COMP_LINE=$line COMP_POINT=${#line} COMP_TYPE=9 COMP_KEY=9 COMPREPLY=()
			__start_orcomgo
			printf '%s|' "${COMPREPLY[@]}"
			echo
		done`
	cases := []struct{ line, want string }{
		{"orcomgo unp", "unpack"},
		{"orcomgo bin --reads", "--reads-only"},
		{"orcomgo bin --quality ", "bin8 drop keep"},
		{"orcomgo bin --quality=bi", "bin8"},
		{"orcomgo pack --level m", "max"},
		{"orcomgo bin rea", "reads_1.fastq reads_2.fastq"},
		{"orcomgo bin no", ""},
		{"orcomgo archive -1 reads_1.fastq -2 reads_2", "reads_2.fastq"},
		{"orcomgo unpack ru", "runs/"},
		{"orcomgo unpack runs/", "runs/reads_1 runs/reads_2"},
		{"orcomgo unpack runs/reads_2", "runs/reads_2"},
		{"orcomgo unpack runs/reads_2 -o r", "runs/"},
		{"orcomgo verify --log no", "notes.txt"},
		{"orcomgo unpack --mate ", "1 2"},
		{"orcomgo unpack runs/reads_2 --input re", "reads_2.fastq"},
		{"orcomgo unpack --names-from no", "notes.txt"},
		{"orcomgo completion f", "fish"},
		{"orcomgo help ver", "verify version"},
	}
	lines := ""
	for _, c := range cases {
		lines += c.line + "\n"
	}
	cmd := exec.Command(bash, "--norc", "-c", script)
	cmd.Dir, cmd.Stdin, cmd.Stderr = dir, strings.NewReader(lines), &errs
	cmd.Env = append(os.Environ(), "PROGRAM="+program, "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	got := strings.Split(string(out), "\n")
	for i, c := range cases {
		var words []string
		for w := range strings.SplitSeq(got[i], "|") {
			w, _, _ = strings.Cut(w, " (") // the description
			if w = strings.TrimSpace(w); w != "" {
				words = append(words, w)
			}
		}
		slices.Sort(words)
		if strings.Join(words, " ") != c.want {
			t.Errorf("%q becomes %q, want %q", c.line, words, c.want)
		}
	}
}
