package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"orcomgo/bins/vfs"

	"github.com/spf13/pflag"
)

// runLog is the log of a run: a file of JSON lines, one for each event. Until it is opened it takes events and writes nothing,
// and so does a nil runLog.
type runLog struct {
	path  string
	file  *os.File
	out   *slog.Logger
	began time.Time
	first sync.Once
	start func() // writes the event of the start
	err   error  // the first one of writing
}

// Write implements io.Writer for slog, which does not return errors, and calls it for one event after another.
func (l *runLog) Write(b []byte) (int, error) {
	n, err := l.file.Write(b)
	if l.err == nil {
		l.err = err
	}
	return n, err
}

// open opens the log, for a command with arguments and flags. A file that holds anything but JSON lines is refused: it could be
// one of reads.
func (l *runLog) open(path, command string, args []string, f *pflag.FlagSet) error {
	if err := checkLog(path); err != nil {
		return fmt.Errorf("log %s: %w", path, err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return fmt.Errorf("log %s: %w", path, vfs.Cause(err))
	}
	flags := map[string]string{}
	f.Visit(func(f *pflag.Flag) { flags[f.Name] = f.Value.String() })
	l.path, l.file, l.began, l.out = path, file, time.Now(), slog.New(slog.NewJSONHandler(l, nil))
	l.start = func() {
		dir, _ := os.Getwd()
		l.out.Info("start", "command", command, "arguments", args, "flags", flags, "directory", dir, "version", version,
			"process", os.Getpid())
	}
	return nil
}

// checkLog returns an error for a file that must not be appended to.
func checkLog(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil
	}
	if err != nil {
		return vfs.Cause(err)
	}
	f, err := os.Open(path)
	if err != nil {
		return vfs.Cause(err)
	}
	defer f.Close()
	var one [1]byte
	switch _, err := f.Read(one[:]); {
	case err == io.EOF || err == nil && one[0] == '{':
		return nil
	case err != nil:
		return vfs.Cause(err)
	}
	return errors.New("the file exists and is no log: it does not begin with {")
}

// opened reports whether events are written.
func (l *runLog) opened() bool { return l != nil && l.out != nil }

// info describes the file; nil if there is none.
func (l *runLog) info() fs.FileInfo {
	if !l.opened() {
		return nil
	}
	info, err := l.file.Stat()
	if err != nil {
		return nil
	}
	return info
}

// event writes a line, after that of the start. pairs are keys and values.
func (l *runLog) event(what string, pairs ...any) {
	if !l.opened() {
		return
	}
	l.first.Do(l.start)
	l.out.Info(what, pairs...)
}

// end writes the last line and closes the log. The error is the first one of all writes.
func (l *runLog) end(status int, failure error) error {
	if !l.opened() {
		return nil
	}
	if failure != nil {
		l.first.Do(l.start)
		l.out.Error("error", "text", oneLine(failure.Error()))
	}
	l.event("end", "status", status, "seconds", time.Since(l.began).Seconds(), "peak_memory", peakMemory())
	if err := errors.Join(l.err, l.file.Close()); err != nil {
		return fmt.Errorf("log %s: %w", l.path, vfs.Cause(err))
	}
	return nil
}
