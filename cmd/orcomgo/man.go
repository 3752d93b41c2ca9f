package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"orcomgo/bins/vfs"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

var manCommand = command{
	name:     "man",
	group:    selfGroup,
	synopsis: "DIR/",
	about:    "write man pages",
	bare:     true,
	help: `man writes a man page for the program and one for each command to a directory, which is made if it
is missing: orcomgo.1, orcomgo-bin.1 and so on. Pages of these names that are there already are
replaced.

Examples:
  orcomgo man man/ && man -l man/orcomgo-bin.1
  orcomgo man ~/.local/share/man/man1/
`,
	flags: func(*pflag.FlagSet) action {
		return func(_ context.Context, s *streams, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return usagef("give one directory")
			}
			return writePages(commandTree(s), args[0])
		}
	},
}

// writePages writes all man pages.
func writePages(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("%s: %w", dir, vfs.Cause(err))
	}
	for _, c := range append(root.Commands(), root) {
		c.Long = "```\n" + c.Long + "\n```" // else asterisks in it would be marks of Markdown
		c.Flags().VisitAll(func(f *pflag.Flag) {
			f.Usage = strings.ReplaceAll(f.Usage, "*", `\*`)
			if f.Name == "threads" { // of this machine, and the page is for all
				f.DefValue = "N"
			}
		})
	}
	return doc.GenManTree(root, &doc.GenManHeader{Source: "orcomgo " + version, Manual: "orcomgo"}, dir)
}
