// Command orcomgo archives sequencing runs: bin sorts reads by signature, pack compresses
// them, archive does both, unpack restores the files byte for byte, verify checks archives, info describes them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// The exit statuses. A command that a signal ended has 128 and the signal's number, as shells
// report it: 129 for SIGHUP, 130 for SIGINT, 141 for SIGPIPE, 143 for SIGTERM.
const (
	exitFailure = 1
	exitUsage   = 2
	exitSignal  = 128
)

// abortGrace is how long an interrupted command may take to clean up. The disk may first have to
// finish earlier writes.
const abortGrace = 20 * time.Second

// command is a subcommand.
type command struct {
	name     string
	synopsis string // what follows the name
	about    string // one line
	help     string // paragraphs and examples
	// flags defines the flags and returns what to do once they are parsed.
	flags func(f *pflag.FlagSet) action
}

type action func(ctx context.Context, s *streams, args []string) error

// commands in the order of their use: archive, or the two steps that it consists of.
var commands = []*command{&archiveCommand, &binCommand, &packCommand, &unpackCommand, &verifyCommand, &infoCommand}

// usageError is a mistake in the command line.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func main() {
	s := &streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, terminal: term.IsTerminal(int(os.Stderr.Fd()))}
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, abortSignals()...)
	// Without this, Go ends the process when a line of progress is written to a closed pipe.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	if closedAtStart(0) {
		s.in = closedInput{}
	}
	if closedAtStart(1) {
		s.noOut = errNoStdout
	}
	go func() {
		got := <-signals
		signal.Stop(signals) // a second one ends the process at once
		cancel(signalled{got})
		// a call that blocks on a pipe or a file system may never return
		time.Sleep(abortGrace)
		os.Exit(fail(s, signalled{got}))
	}()
	os.Exit(run(ctx, s, os.Args[1:]))
}

// abortSignals are the signals that end a command early. Those that the caller had ignored,
// as nohup does with SIGHUP and shells with SIGINT in the background, stay ignored.
func abortSignals() []os.Signal {
	list := []os.Signal{syscall.SIGTERM}
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			list = append(list, s)
		}
	}
	return list
}

// signalled is the cause of a cancelled run: a signal.
type signalled struct{ os.Signal }

func (s signalled) Error() string {
	if s.Signal == os.Interrupt {
		return "interrupted"
	}
	return "ended by signal: " + s.String()
}

// status is the exit status.
func (s signalled) status() int {
	if number, ok := s.Signal.(syscall.Signal); ok {
		return exitSignal + int(number)
	}
	return exitFailure
}

// run is main without the process: it returns the exit status.
func run(ctx context.Context, standard *streams, args []string) int {
	out, s := &stdoutWriter{to: standard.out}, *standard
	s.out, s.err = out, stderrWriter{standard.err}
	err := dispatch(ctx, &s, args)
	if err == nil {
		out.close()
		err = out.err
	}
	var usage usageError
	var signal signalled
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(s.err, "orcomgo: %s (see orcomgo --help)\n", oneLine(err.Error()))
		return exitUsage
	case ctx.Err() != nil && errors.As(context.Cause(ctx), &signal):
		err = signal
	case out.err != nil && errors.Is(err, out.err) && brokenPipe(err):
		// The reader of standard output has ended, as head does. No message is needed.
		return signalled{syscall.SIGPIPE}.status()
	}
	return fail(&s, err)
}

// fail prints the reason and returns the exit status.
func fail(s *streams, err error) int {
	fmt.Fprintf(s.err, "orcomgo: %s\n", oneLine(err.Error()))
	var signal signalled
	if errors.As(err, &signal) {
		return signal.status()
	}
	return exitFailure
}

// oneLine returns a text as one line of printable characters. A file name in it may have line
// ends, or control codes of terminals.
func oneLine(text string) string {
	text = strings.TrimSpace(text)
	clean := true
	for _, r := range text {
		clean = clean && r != utf8.RuneError && unicode.IsPrint(r)
	}
	if clean {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[n:]
	}
	return b.String()
}

const overview = `orcomgo archives sequencing runs and restores them byte for byte.

Usage:
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
	fmt.Fprint(w, overview)
	for _, c := range commands {
		fmt.Fprintf(w, "  orcomgo %-7s %-26s %s\n", c.name, c.synopsis, c.about)
	}
	fmt.Fprint(w, afterOverview)
}

func dispatch(ctx context.Context, s *streams, args []string) error {
	if len(args) == 0 {
		return usagef("no command given")
	}
	name, rest := args[0], args[1:]
	switch name {
	case "--help", "-h", "help":
		if name == "help" && len(rest) == 1 {
			if c := find(rest[0]); c != nil {
				return c.run(ctx, s, []string{"--help"})
			}
			return usagef("no command %q", rest[0])
		}
		writeOverview(s.out)
		return nil
	case "--version":
		fmt.Fprintln(s.out, versionText())
		return nil
	}
	if c := find(name); c != nil {
		return c.run(ctx, s, rest)
	}
	if strings.HasPrefix(name, "-") {
		return usagef("unknown flag %s", name)
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

func (c *command) run(ctx context.Context, s *streams, args []string) error {
	f := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	f.SortFlags = false
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	do := c.flags(f)
	version := f.Bool("version", false, "print the version and exit")
	f.Lookup("version").Hidden = true
	switch err := f.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprintf(s.out, "orcomgo %s: %s\n\nUsage:\n  orcomgo %s [flags] %s\n\n%s\nFlags:\n%s",
			c.name, c.about, c.name, c.synopsis, c.help, f.FlagUsages())
		return nil
	case err != nil:
		return usageError{fmt.Errorf("%s: %w", c.name, err)}
	case *version:
		fmt.Fprintln(s.out, versionText())
		return nil
	}
	return do(ctx, s, f.Args())
}
