package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// command is a subcommand.
type command struct {
	name     string
	group    string // one of helpGroups
	synopsis string // what follows the name
	about    string // one line
	help     string // paragraphs, and examples after a line examplesTitle
	bare     bool   // has no --log
	// flags defines the flags and returns what to do once they are parsed.
	flags func(f *pflag.FlagSet) action
	// complete returns what the next argument may be, if not nil.
	complete completion
}

type action func(ctx context.Context, s *streams, args []string) error

// The groups of commands in the overview.
const (
	wholeGroup  = "From reads to an archive and back"
	stepGroup   = "The two steps of archive"
	lookGroup   = "Look into archives and check them"
	searchGroup = "Search archives"
	selfGroup   = "The program itself"
)

var helpGroups = []string{wholeGroup, stepGroup, lookGroup, searchGroup, selfGroup}

const examplesTitle = "\nExamples:\n"

// commands in the order of the overview.
var commands []*command

func init() {
	commands = []*command{&archiveCommand, &unpackCommand, &planCommand, &binCommand, &packCommand, &verifyCommand, &infoCommand,
		&reportCommand, &indexCommand, &findCommand, &versionCommand, &completionCommand, &manCommand}
}

const overview = `orcomgo archives sequencing runs and restores them byte for byte.
`

const afterOverview = `
Example:
  orcomgo archive -1 run_R1.fastq.gz -2 run_R2.fastq.gz run/   archive a pair, checked
  orcomgo unpack run/ -o restored/                             the original text again

The same in two steps:
  orcomgo bin -1 run_R1.fastq.gz -2 run_R2.fastq.gz run/       sort the reads into bins
  orcomgo pack run/                                            compress, verify, remove the bins

orcomgo COMMAND --help explains a command, orcomgo --version prints the version.

Exit status: 0 when all went well; 1 when something failed, standard output that can't be written
included; 2 for a mistake in the command line; 129 after a hangup, 130 when interrupted, 141 when
the reader of standard output went away, 143 when terminated. One line on standard error says why
(not for 141). No temporary files are left behind.
`

func writeOverview(w io.Writer) {
	var b bytes.Buffer
	b.WriteString(overview)
	for _, g := range helpGroups {
		fmt.Fprintf(&b, "\n%s:\n", g)
		for _, c := range commands {
			if c.group == g {
				fmt.Fprintf(&b, "  orcomgo %-10s %-17s %s\n", c.name, c.synopsis, c.about)
			}
		}
	}
	b.WriteString("\nVariables of the environment:\n")
	for _, v := range variables {
		fmt.Fprintf(&b, "  %-15s %s\n", v.name, v.about)
	}
	b.WriteString(afterOverview)
	w.Write(b.Bytes())
}

// dispatch runs the command that the arguments ask for.
func dispatch(ctx context.Context, s *streams, args []string) error {
	root := commandTree(s)
	root.SetArgs(append([]string{}, args...)) // cobra takes those of the process for nil
	return root.ExecuteContext(ctx)
}

// commandTree returns the command line: the program and its subcommands.
func commandTree(s *streams) *cobra.Command {
	cobra.MousetrapHelpText = "" // Windows: work without a terminal, too
	root := &cobra.Command{
		Use:                        "orcomgo",
		Args:                       cobra.ArbitraryArgs,
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		CompletionOptions:          cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	version := standardFlags(root)
	root.RunE = func(_ *cobra.Command, args []string) error {
		switch {
		case *version:
			return writeVersion(s.out)
		case len(args) == 0:
			return usagef("no command given")
		}
		return noCommand(root, args[0])
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		err = plainFlagError(err)
		if c == root {
			return usageError{err}
		}
		return usageError{fmt.Errorf("%s: %w", c.Name(), err)}
	})
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		if c := find(c.Name()); c != nil {
			writeHelp(s.out, c)
			return
		}
		writeOverview(s.out)
	})
	root.SetHelpCommand(helpCommand(s, root))
	for _, c := range commands {
		root.AddCommand(c.cobra(s))
	}
	return root
}

// standardFlags defines --help and --version; the result is the value of the latter.
func standardFlags(c *cobra.Command) *bool {
	f := c.Flags()
	f.SortFlags = false
	version := f.Bool("version", false, "print the version and exit")
	f.Lookup("version").Hidden = c.HasParent() || c.Use != "orcomgo"
	f.BoolP("help", "h", false, "print this help and exit")
	return version
}

// cobra returns the command as the library knows it.
func (c *command) cobra(s *streams) *cobra.Command {
	long, examples := c.texts()
	cmd := &cobra.Command{
		Use:     strings.TrimSpace(c.name + " " + c.synopsis),
		Short:   c.about,
		Long:    long,
		Example: examples,
		Args:    cobra.ArbitraryArgs,
	}
	f := cmd.Flags()
	do := c.flags(f)
	log := ""
	if !c.bare {
		f.StringVar(&log, "log", "", "append what happens to `FILE`, a JSON object a line: start, stages, notes, end")
	}
	version := standardFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *version {
			return writeVersion(s.out)
		}
		if err := fromEnvironment(f); err != nil {
			return usagef("%s: %w", c.name, err)
		}
		if log != "" {
			if err := s.log.open(log, c.name, args, f); err != nil {
				return err
			}
		}
		return do(cmd.Context(), s, args)
	}
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if c.complete == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c.complete(args, word)
	}
	completeFlags(cmd)
	return cmd
}

// texts returns the paragraphs and the examples of the help.
func (c *command) texts() (long, examples string) {
	long, examples, _ = strings.Cut(c.help, examplesTitle)
	return long, strings.TrimSuffix(examples, "\n")
}

// writeHelp prints what --help says about a command.
func writeHelp(w io.Writer, c *command) {
	own, common := c.flagSets()
	var b bytes.Buffer
	fmt.Fprintf(&b, "orcomgo %s: %s\n\nUsage:\n  orcomgo %s\n\n%s", c.name, c.about, c.usage(), c.help)
	if own.HasAvailableFlags() {
		fmt.Fprintf(&b, "\nFlags:\n%s", own.FlagUsages())
	}
	fmt.Fprintf(&b, "\nFlags of most commands:\n%s", common.FlagUsages())
	w.Write(b.Bytes())
}

// usage is a command line in general terms, without the program.
func (c *command) usage() string { return strings.TrimSpace(c.name + " [flags] " + c.synopsis) }

// commonFlags are those that most commands have.
var commonFlags = map[string]bool{"threads": true, "memory": true, "quiet": true, "json": true, "log": true, "help": true}

// flagSets returns the flags of a command: its own, and those that most commands have. Hidden ones are left out.
func (c *command) flagSets() (own, common *pflag.FlagSet) {
	own, common = pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	own.SortFlags, common.SortFlags = false, false
	c.cobra(&streams{}).Flags().VisitAll(func(f *pflag.Flag) {
		switch {
		case f.Hidden:
		case commonFlags[f.Name]:
			common.AddFlag(f)
		default:
			own.AddFlag(f)
		}
	})
	return own, common
}

// helpCommand is the command help.
func helpCommand(s *streams, root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "explain a command",
		Args:  cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				writeOverview(s.out)
				return nil
			}
			if c := find(args[0]); c != nil {
				writeHelp(s.out, c)
				return nil
			}
			return noCommand(root, args[0])
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, word string) (list []string, _ cobra.ShellCompDirective) {
			for _, c := range commands {
				if len(args) == 0 && strings.HasPrefix(c.name, word) {
					list = append(list, cobra.CompletionWithDesc(c.name, c.about))
				}
			}
			return list, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// noCommand is a usage error about a command that doesn't exist. It says which ones have a similar name.
func noCommand(root *cobra.Command, name string) error {
	if similar := root.SuggestionsFor(name); name != "" && len(similar) > 0 {
		return usagef("no command %q: did you mean %s?", name, strings.Join(similar, " or "))
	}
	return usagef("no command %q", name)
}

func find(name string) *command {
	for _, c := range commands {
		if c.name == name {
			return c
		}
	}
	return nil
}

// plainFlagError says in words what a number has to be, where the error names functions of Go.
func plainFlagError(err error) error {
	var number *strconv.NumError
	if !errors.As(err, &number) {
		return err
	}
	what := "expected a whole number"
	switch {
	case errors.Is(number, strconv.ErrRange):
		what = "the number is too large"
	case number.Func == "ParseBool":
		what = "expected true or false"
	case number.Func == "ParseUint":
		what = "expected a whole number that is not negative"
	}
	return errors.New(strings.TrimSuffix(err.Error(), number.Error()) + what)
}
