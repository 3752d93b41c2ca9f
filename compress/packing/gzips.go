package packing

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"

	"orcomgo/bins/record"
	"orcomgo/compress/gzexact"
	"orcomgo/compress/workers"
	"orcomgo/digest"
)

// GzipStage is the stage of Options.Progress in which it is found out how .gz are made again of their texts. It counts their bytes.
const GzipStage = "describing .gz"

// describeGzips sets Source.Gzip of the inputs whose files the bins have.
func (p *packer) describeGzips(ctx context.Context) error {
	total := p.bins.FileBytes()
	if total == 0 {
		return nil
	}
	meter := workers.NewMeter(p.o.Progress, GzipStage, total, 0)
	for i := range p.man.Inputs {
		in := &p.man.Inputs[i]
		file := p.bins.File(i)
		if file == nil {
			continue
		}
		sums := digest.New(true, false)
		description, err := gzexact.Describe(readerFunc(func(b []byte) (int, error) {
			n, err := file.Read(b)
			sums.Write(b[:n])
			meter.Add(uint64(n))
			return n, cmp.Or(ctx.Err(), err)
		}), record.MaxGzip, max(p.o.Threads, 1))
		s := *in.Source
		unknown := errors.Is(err, gzexact.ErrUnknownWriter) || errors.Is(err, gzexact.ErrLarge) || errors.Is(err, gzexact.ErrInput)
		switch {
		case unknown && bytes.Equal(s.Gzip, record.GzipNeeded):
			return fmt.Errorf("%s: only its text could come back: %w", s.Name, err)
		case unknown && p.o.GzipNote != nil:
			back := "only its text comes back"
			if in.Kind == record.BAM {
				back = "its header and records come back in another file"
			}
			p.o.GzipNote(fmt.Sprintf("%s: %s: %v", s.Name, back, err))
		case err != nil && !unknown:
			return err
		case unknown || sums.Sums().SHA256 == s.Sums.SHA256:
		case p.bins.Unnamed():
			return fmt.Errorf("%s: the file was changed after it was binned", s.Name)
		default:
			return p.bins.CheckFile(i, meter.Add)
		}
		s.Gzip = description
		in.Source = &s
	}
	runtime.GC() // the writers that were tried are many megabytes, which the layout of the reads can use
	return nil
}

type readerFunc func(b []byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
