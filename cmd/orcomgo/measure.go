package main

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"orcomgo/binning"
	"orcomgo/bins/record"
	"orcomgo/compress"
	"orcomgo/compress/estimate"

	"github.com/spf13/pflag"
)

// measureCommand is what plan starts to measure an archive: the peak of memory is known of a process only.
var measureCommand = command{
	name:   "measure",
	group:  selfGroup,
	about:  "make an archive as plan asks on standard input, print what it took",
	hidden: true,
	bare:   true,
	help: `measure makes the archive that plan describes on standard input, as a value of Go's encoding/gob, and prints what it took, as JSON.
`,
	flags: func(*pflag.FlagSet) action {
		return measure
	},
}

// trial is an archive to be made and measured. It is passed to a process by encoding/gob, since paths need not be UTF-8, as JSON is.
type trial struct {
	Side            *sideTrial  // a side archive; else
	Batch           *batchTrial // several archives; else one of Inputs
	Inputs          []binning.InputSpec
	Options         record.Options
	Record          binning.RecordMode
	Streams         int
	Level           compress.Level
	Slice           uint64
	NoVerify        bool
	OutDir, TempDir string
	Threads         int
	Memory          uint64
}

func measure(ctx context.Context, s *streams, args []string) error {
	var t trial
	if len(args) > 0 {
		return usagef("measure takes no arguments")
	}
	if err := gob.NewDecoder(s.in).Decode(&t); err != nil {
		return fmt.Errorf("standard input: expected what plan writes: %w", err)
	}
	o := resources{threads: t.Threads, memory: size(t.Memory), quiet: true}
	bar, err := o.start(s)
	if err != nil {
		return err
	}
	defer bar.close()
	p := estimate.Point{Program: peakMemory()}
	switch {
	case t.Side != nil:
		err = t.makeSide(ctx, o, &p)
	case t.Batch != nil:
		err = t.makeBatch(ctx, o)
	default:
		err = t.makeArchive(ctx, o, bar, &p)
	}
	if err != nil {
		return hint(err)
	}
	r := o.runJSON("measure")
	p.Peak, p.Seconds, p.CPU = r.PeakMemory, r.Seconds, cpuTime().Seconds()
	return writeJSON(s.out, p)
}

// makeArchive makes the archive and says how large it is.
func (t *trial) makeArchive(ctx context.Context, o resources, bar *progress, p *estimate.Point) error {
	a := archiving{
		config: binning.Config{Inputs: t.Inputs, OutDir: t.OutDir, Name: "measured", Options: t.Options, Record: t.Record, Streams: t.Streams,
			Threads: o.threads, Memory: uint64(o.memory), Hold: uint64(o.memory / heldShare), TempDir: t.TempDir, Tool: tool},
		pack: compress.PackOptions{Threads: o.threads, Memory: uint64(o.memory), Tool: tool, Level: t.Level, SliceText: t.Slice,
			NoVerify: t.NoVerify},
		report: bar.report, finish: bar.finish, note: bar.note,
	}
	a.binned = func(s *binning.Summary) { p.Bins, p.BinPeak = s.BinBytes, peakMemory() }
	summary, _, err := a.run(ctx)
	if err != nil {
		return err
	}
	p.Text, p.Records, p.Bases, p.Archive = summary.TextBytes, summary.Records, summary.Bases, summary.ArchiveBytes
	summary.Columns.Each(func(name string, bytes uint64) {
		if name == "sequences" {
			p.Sequences = bytes
		}
	})
	return nil
}

// measure makes an archive in a process of its own and returns what it took. The error is that of the archive.
func (t *trial) measure(ctx context.Context) (p estimate.Point, err error) {
	self, err := os.Executable()
	if err != nil {
		return p, cause(err)
	}
	var in bytes.Buffer
	if err := gob.NewEncoder(&in).Encode(t); err != nil {
		return p, err
	}
	cmd := exec.CommandContext(ctx, self, measureCommand.name)
	cmd.Args[0] = os.Args[0] // tests are a program that looks at its name
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	var out, message bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &message
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if lines := strings.Split(strings.TrimSpace(message.String()), "\n"); errors.As(err, &exit) && lines[0] != "" {
			err = errors.New(strings.TrimPrefix(lines[len(lines)-1], "orcomgo: "))
		}
		return p, err
	}
	err = json.Unmarshal(out.Bytes(), &p)
	return p, err
}
