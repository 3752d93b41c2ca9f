package groups

import (
	"bufio"
	"bytes"
	"context"
	"io"

	"orcomgo/binning"
	"orcomgo/bins/record"
)

// readText is how many bytes of the text of reads of a sample are looked at. Assemblies are looked at as a whole.
const readText = 128 << 20

// SketchInputs returns the sketch of the inputs of a sample, but for reads of an index. Of reads, some are looked at, from the beginning
// of each input. threads is how many goroutines inflate an input. Errors name the input. What is no FASTA or FASTQ has no sequences.
func SketchInputs(ctx context.Context, inputs []binning.InputSpec, threads int) (*Sketch, error) {
	var paths []string
	for _, in := range inputs {
		if !in.Further {
			paths = append(paths, in.Path)
		}
	}
	var s *Sketcher
	for _, path := range paths {
		err := func() error {
			text, err := binning.OpenText(ctx, path, threads)
			if err != nil {
				return err
			}
			defer text.Close()
			in := bufio.NewReaderSize(text, 1<<18)
			first, err := in.Peek(1)
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			kind, ok := record.KindOf(first[0])
			if !ok {
				return nil
			}
			least, limited := 1, io.Reader(in)
			if kind.Format().Quals {
				least, limited = 2, io.LimitReader(in, max(readText/int64(len(paths)), 1<<20))
			}
			if s == nil {
				s = NewSketcher(least)
			}
			return s.addText(ctx, bufio.NewReaderSize(limited, 1<<18), kind)
		}()
		if err != nil {
			return nil, err
		}
	}
	if s == nil {
		s = NewSketcher(1)
	}
	return s.Sketch(), nil
}

// addText adds the sequences of a text of FASTA or FASTQ, whose lines may be of any length.
func (s *Sketcher) addText(ctx context.Context, in *bufio.Reader, kind record.Kind) error {
	format := kind.Format()
	var (
		at    window
		where part
		begin = true // of a line
		bases int    // of the record
		quals int
	)
	for lines := 0; ; lines++ {
		line, err := in.ReadSlice('\n')
		if err == io.EOF && len(line) == 0 {
			return nil
		}
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return err
		}
		if lines&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		ends := line[len(line)-1] == '\n'
		line = bytes.TrimRight(line, "\r\n")
		if begin && len(line) > 0 {
			switch {
			case line[0] == format.Mark && (where != inQualities || quals >= bases):
				where, bases, quals, at = inName, 0, 0, window{}
			case (where == inName || where == inSequence) && format.Quals && line[0] == '+':
				where = inSeparator
			case where == inName:
				where = inSequence
			case where == inSeparator:
				where = inQualities
			}
		}
		switch where {
		case inSequence:
			s.add(&at, line)
			bases += len(line)
		case inQualities:
			quals += len(line)
		}
		begin = ends
	}
}

// part is a part of a record's text.
type part int

const (
	inName part = iota
	inSequence
	inSeparator
	inQualities
)
