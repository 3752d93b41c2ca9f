// Command orcomgo archives sequencing runs: bin sorts reads by signature, pack compresses
// them, archive does both, unpack restores the files byte for byte, verify checks archives, info describes them.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/storage"

	"golang.org/x/term"
)

// The exit statuses. A command that a signal ended has 128 and the signal's number, as shells
// report it: 129 for SIGHUP, 130 for SIGINT, 141 for SIGPIPE, 143 for SIGTERM.
const (
	exitFailure = 1
	exitUsage   = 2
	exitSignal  = 128
)

// After a signal a command says so if it does not end at once, and is abandoned soon after: some stages compute for many seconds before
// they would look. Only while an archive is being given its names it may take longer, as the disk may have to finish earlier writes.
const (
	abortSaid     = 100 * time.Millisecond
	abortAfter    = 500 * time.Millisecond
	abortPatience = 20 * time.Second
)

// usageError is a mistake in the command line of a command, or of the program if that is "".
type usageError struct {
	error
	command string
}

func usagef(format string, args ...any) error { return usageError{error: fmt.Errorf(format, args...)} }

// inCommand adds the name of the command to a mistake in its command line, and returns other errors as they are.
func inCommand(name string, err error) error {
	if usage := (usageError{}); errors.As(err, &usage) {
		return usageError{fmt.Errorf("%s: %w", name, err), name}
	}
	return err
}

func main() { runProcess(tuning{}) }

// runProcess runs the command of the process and ends that.
func runProcess(t tuning) {
	s := &streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, terminal: term.IsTerminal(int(os.Stderr.Fd())), tuning: t, log: new(runLog)}
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
		line := ""
		if s.terminal {
			line = "\r\x1b[K" // of a bar
		}
		time.Sleep(abortSaid)
		fmt.Fprint(s.err, line, "orcomgo: interrupting\n")
		time.Sleep(abortAfter)
		commit.Abandon(abortPatience)
		fmt.Fprint(s.err, line)
		status := fail(s, signalled{got})
		s.log.end(status, signalled{got})
		os.Exit(status)
	}()
	storage.MountS3(ctx)
	storage.MountWeb(ctx, "https")
	storage.MountWeb(ctx, "http")
	os.Exit(run(ctx, s, localPaths(os.Args[1:])))
}

// localPaths makes paths as ./s3://x, which would be URLs once they are cleaned, absolute ones.
func localPaths(args []string) []string {
	list := slices.Clone(args)
	for i, arg := range list {
		if whole, err := filepath.Abs(arg); err == nil && !vfs.IsRemote(arg) && vfs.IsRemote(filepath.Clean(arg)) {
			list[i] = whole
		}
	}
	return list
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
func (s signalled) status() int { return exitSignal + int(s.Signal.(syscall.Signal)) }

// run is main without the process: it returns the exit status.
func run(ctx context.Context, standard *streams, args []string) int {
	out, s := &stdoutWriter{to: standard.out, refused: standard.noOut}, *standard
	s.out, s.err, s.log = out, stderrWriter{standard.err}, cmp.Or(s.log, new(runLog))
	root := commandTree(&s)
	root.SetArgs(append([]string{}, args...)) // cobra takes those of the process for nil
	err := root.ExecuteContext(ctx)
	if err == nil {
		out.close()
		err = out.err
	}
	status := report(ctx, &s, err)
	if err := s.log.end(status, err); err != nil && status == 0 {
		return fail(&s, err)
	}
	return status
}

// report prints the reason of a failure, if there is one, and returns the exit status.
func report(ctx context.Context, s *streams, err error) int {
	var usage usageError
	var signal signalled
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(s.err, "orcomgo: %s (see %s --help)\n", oneLine(err.Error()), strings.TrimSpace("orcomgo "+usage.command))
		return exitUsage
	case ctx.Err() != nil && errors.As(context.Cause(ctx), &signal):
		err = signal
	case brokenStdout(err):
		// The reader of standard output has ended, as head does. No message is needed.
		return signalled{syscall.SIGPIPE}.status()
	case errors.Is(err, errNothingFound):
		return exitFailure
	}
	return fail(s, err)
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
