package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"orcomgo/bins/vfs"
	"orcomgo/compress"
)

// streams are the standard streams of a run.
type streams struct {
	in       io.Reader
	out, err io.Writer
	terminal bool // err is one
	// noOut is the reason why data must not be written to out, or nil.
	noOut  error
	log    *runLog
	tuning tuning
}

// heldShare is the share of --memory, one of so many, that bins may take.
const heldShare = 6

// tuning is how a run differs from that of a user.
type tuning struct {
	heldShare uint64                     // instead of the constant, if it is more
	packing   func(compress.PackOptions) // called with the options of packing, unless nil
}

// pack says with which options a command packs.
func (t *tuning) pack(o compress.PackOptions) {
	if t.packing != nil {
		t.packing(o)
	}
}

var (
	errNoStdin  = errors.New("standard input is closed (or is /dev/null, open for writing too)")
	errNoStdout = errors.New("standard output is closed (or is /dev/null, open for reading too: verify --quiet writes nothing)")
)

// closedInput is a standard input that is closed.
type closedInput struct{}

func (closedInput) Read([]byte) (int, error) { return 0, errNoStdin }

// stdoutWriter is standard output. It keeps the first error, so that a command that prints line by
// line fails even if it does not check each error.
type stdoutWriter struct {
	to      io.Writer
	refused error // why nothing can be written; nil: it can
	written bool
	err     error
}

func (r *stdoutWriter) Write(b []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	if r.refused != nil {
		r.err = stdoutError{r.refused}
		return 0, r.err
	}
	r.written = true
	n, err := r.to.Write(b)
	r.keep(err)
	return n, r.err
}

// close closes standard output: network file systems and quotas may report errors only then.
func (r *stdoutWriter) close() {
	if f, ok := r.to.(*os.File); ok && r.written && r.err == nil {
		r.keep(f.Close())
	}
}

func (r *stdoutWriter) keep(err error) {
	if err != nil {
		r.err = stdoutError{fmt.Errorf("standard output: %w", vfs.Cause(err))}
	}
}

// stdoutError is a failure to write to standard output.
type stdoutError struct{ error }

func (e stdoutError) Unwrap() error { return errors.Unwrap(e.error) }

// brokenStdout reports whether an error is that the reader of standard output has ended.
func brokenStdout(err error) bool {
	var out stdoutError
	return errors.As(err, &out) && errors.Is(out, syscall.EPIPE)
}

// stderrWriter is standard error. What is written there (progress, summaries, the line about a
// failure) is not a command's result, so errors of writing it are ignored.
type stderrWriter struct{ to io.Writer }

func (r stderrWriter) Write(b []byte) (int, error) {
	r.to.Write(b)
	return len(b), nil
}
