package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
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
	// flags defines the flags and returns what to do once they are parsed. It is nil for a text that help prints.
	flags func(f *pflag.FlagSet) action
}

type action func(ctx context.Context, s *streams, args []string) error

// The groups of commands in the overview.
const (
	wholeGroup  = "From reads to an archive and back:"
	stepGroup   = "The two steps of archive:"
	lookGroup   = "Look into archives and check them:"
	searchGroup = "Search archives:"
	selfGroup   = "The program itself:"
)

var helpGroups = []string{wholeGroup, stepGroup, lookGroup, searchGroup, selfGroup}

const examplesTitle = "\nExamples:\n"

// helpWidth is how many columns help takes.
const helpWidth = 100

// commands in the order of the overview.
var commands []*command

func init() {
	cobra.EnableCommandSorting = false
	cobra.MousetrapHelpText = "" // Windows: work without a terminal, too
	commands = []*command{&archiveCommand, &unpackCommand, &planCommand, &binCommand, &packCommand, &verifyCommand, &infoCommand,
		&repairCommand, &protectCommand, &recipientsCommand, &reportCommand, &indexCommand, &findCommand, &versionCommand, &manCommand,
		&directoriesTopic, &groupsTopic, &againTopic}
}

// commandTree returns the command line: the program and its subcommands.
func commandTree(s *streams) *cobra.Command {
	root := &cobra.Command{
		Use:                        "orcomgo",
		Short:                      "archives sequencing runs and restores them byte for byte",
		Long:                       overview(),
		Example:                    overviewExamples,
		Version:                    version,
		Args:                       cobra.ArbitraryArgs,
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		DisableAutoGenTag:          true,
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.Flags().Bool("version", false, "print the version and exit")
	root.SetVersionTemplate(versionText())
	root.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("no command given")
		}
		return noCommand(root, args[0])
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		err = usageError{error: plainFlagError(c.Flags(), err)}
		if c == root {
			return err
		}
		return inCommand(c.Name(), err)
	})
	wrapped := fmt.Sprint(".LocalFlags.FlagUsagesWrapped ", helpWidth)
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), ".LocalFlags.FlagUsages", wrapped, 1))
	for _, g := range helpGroups {
		root.AddGroup(&cobra.Group{ID: g, Title: g})
	}
	for _, c := range commands {
		root.AddCommand(c.cobra(s))
	}
	root.SetCompletionCommandGroupID(selfGroup)
	root.SetHelpCommand(&cobra.Command{Use: "help [COMMAND]", Short: "explain a command", GroupID: selfGroup,
		RunE: func(_ *cobra.Command, args []string) error {
			if c, rest, err := root.Find(args); err == nil && len(rest) == 0 {
				return c.Help()
			}
			return noCommand(root, args[0])
		}})
	return root
}

// cobra returns the command as the library knows it.
func (c *command) cobra(s *streams) *cobra.Command {
	long, examples, _ := strings.Cut(c.help, examplesTitle)
	cmd := &cobra.Command{
		Use:     strings.TrimSpace(c.name + " [flags] " + c.synopsis),
		Short:   c.about,
		Long:    long,
		Example: strings.TrimSuffix(examples, "\n"),
		GroupID: c.group,
		Args:    cobra.ArbitraryArgs,
	}
	if c.flags == nil {
		cmd.Use = c.name
		return cmd
	}
	f := cmd.Flags()
	f.SortFlags = false
	do := c.flags(f)
	var e encryption
	e.define(f, c)
	log := ""
	if !c.bare {
		f.StringVar(&log, "log", "", "append what happens to `FILE`, a JSON object a line")
	}
	brief := f.BoolP("brief", "h", false, "print the flags that are used most, and examples, and exit")
	f.Bool("help", false, "print this help and exit")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *brief {
			return briefHelp(cmd, s.out)
		}
		if err := fromEnvironment(f); err != nil {
			return inCommand(c.name, usageError{error: err})
		}
		if log != "" {
			if err := s.log.open(log, c.name, args, f); err != nil {
				return err
			}
		}
		if err := e.begin(s); err != nil {
			return err
		}
		return inCommand(c.name, do(cmd.Context(), s, args))
	}
	for flag, words := range flagWords {
		if f.Lookup(flag) != nil {
			cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	return cmd
}

// rareFlags are those that the brief help leaves out, of all commands.
var rareFlags = strings.Fields(`third fourth unpaired reads-only order names source device two-bit parity slice-size no-verify tmpdir jobs
	include exclude as-is exact-gzip delete-originals text format tags names-from grep salvage touch owner quiet encrypt-to
	key log brief help`)

// briefHelp prints what a newcomer needs of a command: the first examples, and the flags that are used most.
func briefHelp(cmd *cobra.Command, w io.Writer) error {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SortFlags = false
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(rareFlags, f.Name) {
			flags.AddFlag(f)
		}
	})
	examples := strings.SplitN(cmd.Example, "\n", 5)
	_, err := fmt.Fprintf(w, "%[1]s: %s\n\nUsage:\n  %s\n\nExamples:\n%s\n\nFlags:\n%s\n%[1]s --help explains more and has all flags.\n",
		cmd.CommandPath(), cmd.Short, cmd.UseLine(), strings.Join(examples[:min(len(examples), 4)], "\n"),
		flags.FlagUsagesWrapped(helpWidth))
	return err
}

// flagWords are the values of flags that take one of a few words, for the completion by shells.
var flagWords = map[string][]string{
	"order": {"original", "any"}, "names": {"keep", "drop"}, "quality": {"keep", "bin8", "drop"},
	"device": {"auto", "cpu", "gpu"}, "source": {"auto", "all", "time", "none"}, "group": {"none", "auto"}, "mate": {"1", "2"},
	"parity": {"1%", "5%", "none"}, "exact-gzip": {"auto", "require", "no"},
}

const overviewExamples = `  orcomgo archive -1 run_R1.fastq.gz -2 run_R2.fastq.gz run/   archive a pair, checked
  orcomgo unpack run/ -o restored/                             the original text again`

// overview is the text of the help of the program.
func overview() string {
	var b bytes.Buffer
	b.WriteString("orcomgo archives sequencing runs and restores them byte for byte.\n\nVariables of the environment:\n")
	for _, v := range variables {
		fmt.Fprintf(&b, "  %-15s %s\n", v.name, v.about)
	}
	b.WriteString(`
Exit status: 0 when all went well; 1 when something failed, standard output that can't be written
included; 2 for a mistake in the command line; 129 after a hangup, 130 when interrupted, 141 when
the reader of standard output went away, 143 when terminated. One line on standard error says why
(not for 141). No temporary files are left behind.`)
	return b.String()
}

// noCommand is a usage error about a command that doesn't exist. It says which ones have a similar name.
func noCommand(root *cobra.Command, name string) error {
	if similar := root.SuggestionsFor(name); name != "" && len(similar) > 0 {
		return usagef("no command %q: did you mean %s?", name, strings.Join(similar, " or "))
	}
	return usagef("no command %q", name)
}

// plainFlagError says which flags have a similar name to one that doesn't exist, and in words what a number has to be, where the error
// names functions of Go.
func plainFlagError(flags *pflag.FlagSet, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		list := &cobra.Command{SuggestionsMinimumDistance: 2} // which compares names
		flags.VisitAll(func(f *pflag.Flag) {
			list.AddCommand(&cobra.Command{Use: "--" + f.Name, Run: func(*cobra.Command, []string) {}})
		})
		if similar := list.SuggestionsFor("--" + unknown.GetSpecifiedName()); len(similar) > 0 {
			return fmt.Errorf("%w: did you mean %s?", err, strings.Join(similar, " or "))
		}
	}
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
