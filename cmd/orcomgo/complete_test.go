package main

import (
	"bytes"
	"context"
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
}

// TestCompletes asks as the scripts do. Names of files are left to the shell.
func TestCompletes(t *testing.T) {
	for line, want := range map[string]string{
		"unp": "unpack", "help ver": "", "bin --reads": "--reads-only", "bin --quality ": "keep bin8 drop",
		"unpack --mate ": "1 2", "archive --gpu": "", "bin rea": "",
	} {
		var out, errs bytes.Buffer
		args := append([]string{"__complete"}, strings.Split(line, " ")...)
		if status := run(context.Background(), &streams{out: &out, err: &errs}, args); status != 0 {
			t.Fatal(errs.String())
		}
		var words []string
		for l := range strings.Lines(out.String()) {
			if word, _, _ := strings.Cut(strings.TrimSpace(l), "\t"); !strings.HasPrefix(word, ":") {
				words = append(words, word)
			}
		}
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%q becomes %q, want %q", line, got, want)
		}
	}
}
