package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/pflag"
)

// TestEveryFlagIsTested: each flag of each command is used by a script or by a test in Go, in a line with the command's name.
func TestEveryFlagIsTested(t *testing.T) {
	var lines []string
	for _, pattern := range []string{"testdata/*.txt", "*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) < 5 {
			t.Fatal(len(files), err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "//") &&
					!strings.HasPrefix(line, "stdout ") && !strings.HasPrefix(line, "stderr ") {
					lines = append(lines, line)
				}
			}
		}
	}
	// in a script: orcomgo bin --flag, fails 2 bin --flag; in Go: "bin", "--flag"
	used := func(command, flag string) bool {
		use := regexp.MustCompile(`(?:orcomgo|fails \d+|failing \d+|exec) (?:orcomgo )?` + command + `\s(?:.*\s)?` + flag + `(?:[ ='"]|$)` +
			`|"` + command + `",.*"` + flag + `["=]`)
		for _, line := range lines {
			if use.MatchString(line) {
				return true
			}
		}
		return false
	}
	for _, c := range commandTree(&streams{}).Commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			// --help is the same for all, and tested for many
			if f.Name != "help" && f.Name != "brief" && !used(c.Name(), "--"+f.Name) && (f.Shorthand == "" || !used(c.Name(), "-"+f.Shorthand)) {
				t.Errorf("no test uses orcomgo %s --%s", c.Name(), f.Name)
			}
		})
	}
}

// flagLine is how a line of help about a flag begins.
var flagLine = regexp.MustCompile(`(?m)^ +-`)

// binaryUnit is a unit of bytes that messages do not have: sizes are in powers of 1000.
var binaryUnit = regexp.MustCompile(`\b[KMGTE]iB\b`)

// TestHelpFitsScreen: what --help prints has 60 lines of 100 characters at most, and -h a dozen flags.
func TestHelpFitsScreen(t *testing.T) {
	for _, c := range commandTree(&streams{}).Commands() {
		var brief strings.Builder
		if err := briefHelp(c, &brief); err != nil || len(flagLine.FindAllString(brief.String(), -1)) > 13 {
			t.Errorf("%s -h: %v\n%s", c.Name(), err, brief.String())
		}
		lines := strings.Split(strings.TrimSuffix(c.Long+"\n\n"+c.UsageString(), "\n"), "\n")
		if most := 60; len(lines) > most {
			t.Errorf("%s --help has %d lines", c.Name(), len(lines))
		}
		for _, line := range lines {
			if utf8.RuneCountInString(line) > helpWidth {
				t.Errorf("%s --help: %q has %d characters", c.Name(), line, utf8.RuneCountInString(line))
			}
			if binaryUnit.MatchString(line) {
				t.Errorf("%s --help: %q has a unit that is no power of 1000", c.Name(), line)
			}
		}
	}
}
