package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
)

var manCommand = command{
	name:     "man",
	group:    selfGroup,
	synopsis: "DIR/",
	about:    "write man pages",
	bare:     true,
	help: `man writes a man page for the program and one for each command to a directory, which is made if it is missing:
orcomgo.1, orcomgo-bin.1 and so on. Pages of these names that are there already are replaced.

Examples:
  orcomgo man man/ && man -l man/orcomgo-bin.1
  orcomgo man ~/.local/share/man/man1/
`,
	flags: func(*pflag.FlagSet) action {
		return func(_ context.Context, _ *streams, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return usagef("man: give one directory")
			}
			return writePages(args[0])
		}
	},
	complete: completeDirs,
}

// writePages writes all man pages.
func writePages(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("%s: %w", dir, cause(err))
	}
	pages := map[string][]byte{"orcomgo.1": programPage()}
	for _, c := range commands {
		pages["orcomgo-"+c.name+".1"] = c.page()
	}
	for name, page := range pages {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, page, 0o666); err != nil {
			return fmt.Errorf("%s: %w", path, cause(err))
		}
	}
	return nil
}

// programPage is orcomgo(1).
func programPage() []byte {
	b := newPage("orcomgo", "archives sequencing runs and restores them byte for byte")
	b.section("SYNOPSIS")
	fmt.Fprintf(b, ".B orcomgo\n.I COMMAND\n.RI [ flags ]\n.RI [ arguments ]\n")
	for _, g := range helpGroups {
		b.section(g)
		for _, c := range commands {
			if c.group == g {
				fmt.Fprintf(b, ".TP\n.BR orcomgo-%s (1)\n%s\n", roff(c.name), roff(c.about))
			}
		}
	}
	b.environment(func(string) bool { return true })
	b.section("EXIT STATUS")
	b.paragraphs(afterOverview[strings.Index(afterOverview, "Exit status: ")+len("Exit status: "):])
	return b.Bytes()
}

// page is the man page of a command.
func (c *command) page() []byte {
	b := newPage("orcomgo-"+c.name, c.about)
	long, examples := c.texts()
	b.section("SYNOPSIS")
	fmt.Fprintf(b, ".B orcomgo %s\n.RI [ flags ]\n%s\n", roff(c.name), roff(c.synopsis))
	b.section("DESCRIPTION")
	b.paragraphs(long)
	own, common := c.flagSets()
	for _, set := range []struct {
		title string
		flags *pflag.FlagSet
	}{{"FLAGS", own}, {"FLAGS OF MOST COMMANDS", common}} {
		if set.flags.HasFlags() {
			b.section(set.title)
			set.flags.VisitAll(b.flag)
		}
	}
	if examples != "" {
		b.section("EXAMPLES")
		fmt.Fprintf(b, ".nf\n%s\n.fi\n", roff(examples))
	}
	b.environment(func(flag string) bool { return own.Lookup(flag) != nil || common.Lookup(flag) != nil })
	b.section("SEE ALSO")
	fmt.Fprint(b, ".BR orcomgo (1)\n")
	return b.Bytes()
}

// manPage is a page while it is written.
type manPage struct{ bytes.Buffer }

func newPage(name, about string) *manPage {
	b := new(manPage)
	fmt.Fprintf(b, ".TH %s 1 \"\" \"orcomgo %s\" \"orcomgo\"\n", roff(strings.ToUpper(name)), version)
	b.WriteString(".nh\n.ad l\n") // neither hyphens in words nor spaces to fill lines
	b.section("NAME")
	fmt.Fprintf(b, "%s \\- %s\n", roff(name), roff(about))
	return b
}

func (b *manPage) section(title string) { fmt.Fprintf(b, ".SH %s\n", roff(strings.ToUpper(title))) }

// paragraphs writes text.
func (b *manPage) paragraphs(text string) { fmt.Fprintf(b, "%s\n", roff(strings.TrimSpace(text))) }

// flag writes a flag with what it does.
func (b *manPage) flag(f *pflag.Flag) {
	value, usage := pflag.UnquoteUsage(f)
	names := "--" + f.Name
	if f.Shorthand != "" {
		names = "-" + f.Shorthand + ", " + names
	}
	fmt.Fprintf(b, ".TP\n\\fB%s\\fR", roff(names))
	if value != "" {
		fmt.Fprintf(b, " \\fI%s\\fR", roff(value))
	}
	fmt.Fprintf(b, "\n%s\n", roff(usage))
	switch {
	case f.Name == "threads": // of this machine, and the page is for all
		fmt.Fprintln(b, "(default: the CPUs that machine and control group grant)")
	case f.DefValue != "" && f.DefValue != "0" && f.DefValue != "false" && f.DefValue != "[]":
		fmt.Fprintf(b, "(default %s)\n", roff(f.DefValue))
	}
}

// environment lists the variables of flags that a command has.
func (b *manPage) environment(has func(flag string) bool) {
	titled := false
	for _, v := range variables {
		if !has(v.flag) {
			continue
		}
		if !titled {
			b.section("ENVIRONMENT")
			titled = true
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", v.name, roff(v.about))
	}
}

// roff escapes text: backslashes, hyphens that must be copied as they are, and lines that would be requests.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
