package groups

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"math"
	"slices"

	"orcomgo/binning"
	"orcomgo/bins/record"
)

// readText is how many bytes of the text of reads of a sample are looked at. Assemblies are looked at as a whole.
const readText = 128 << 20

// firstStep is how many bytes of each input are looked at before the k-mers are counted for the first time.
const firstStep = 1 << 16

// SketchInputs returns the sketch of the inputs of a sample, but for reads of an index. Of reads, some are looked at, from the beginning
// of each input. Errors name the input. What is no FASTA or FASTQ has no sequences.
func SketchInputs(ctx context.Context, inputs []binning.InputSpec) (*Sketch, error) {
	var list []*textReader
	defer func() {
		for _, r := range list {
			r.text.Close()
		}
	}()
	least := 1
	inputs = slices.DeleteFunc(slices.Clone(inputs), func(in binning.InputSpec) bool { return in.Further })
	for _, in := range inputs {
		r, err := openText(ctx, in.Path, int64(max(readText/len(inputs), firstStep)))
		if err != nil {
			return nil, err
		}
		list = append(list, r)
		if r.format.Quals {
			least = 2
		}
	}
	s := NewSketcher(least)
	read := int64(0)
	for until, left := int64(firstStep), true; left; until += until/2 + 1 {
		left, read = false, 0
		for _, r := range list {
			if err := r.advance(ctx, s, until); err != nil {
				return nil, err
			}
			left = left || !r.ended
			read += r.read
		}
	}
	k := s.Sketch()
	k.Text, k.Assembly = uint64(read), least == 1
	return k, nil
}

// textReader gives the sequences of an input to a Sketcher.
type textReader struct {
	text   *binning.TextReader
	in     *bufio.Reader
	format *record.Format
	limit  int64 // bytes to read
	read   int64
	ended  bool

	at     window
	where  part
	inLine bool // the line goes on
	bases  int  // of the record
	quals  int
}

// part is a part of a record's text.
type part int

const (
	inName part = iota
	inSequence
	inSeparator
	inQualities
)

// openText opens an input, of which up to limit bytes are read if it has qualities.
func openText(ctx context.Context, path string, limit int64) (*textReader, error) {
	text, err := binning.OpenText(ctx, path, 1)
	if err != nil {
		return nil, err
	}
	r := &textReader{text: text, in: bufio.NewReaderSize(text, 1<<18), limit: limit}
	first, err := r.in.Peek(1)
	if err != nil && err != io.EOF {
		text.Close()
		return nil, err
	}
	r.ended = true
	r.format = record.Kind(0).Format()
	if len(first) > 0 {
		if kind, ok := record.KindOf(first[0]); ok {
			r.format, r.ended = kind.Format(), false
		}
	}
	if !r.format.Quals {
		r.limit = math.MaxInt64
	}
	return r, nil
}

// advance adds what follows to s, until so many bytes of the text were read.
func (r *textReader) advance(ctx context.Context, s *Sketcher, until int64) error {
	for lines := 0; !r.ended && r.read < until; lines++ {
		if lines&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, err := r.in.ReadSlice('\n')
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return err
		}
		r.read += int64(len(line))
		r.ended = err == io.EOF || r.read >= r.limit
		r.add(s, line)
	}
	return nil
}

// add adds a line, or a part of it.
func (r *textReader) add(s *Sketcher, line []byte) {
	ends := len(line) > 0 && line[len(line)-1] == '\n'
	line = bytes.TrimRight(line, "\r\n")
	if !r.inLine && len(line) > 0 {
		switch {
		case line[0] == r.format.Mark && (r.where != inQualities || r.quals >= r.bases):
			r.where, r.bases, r.quals, r.at = inName, 0, 0, window{}
		case (r.where == inName || r.where == inSequence) && r.format.Quals && line[0] == '+':
			r.where = inSeparator
		case r.where == inName:
			r.where = inSequence
		case r.where == inSeparator:
			r.where = inQualities
		}
	}
	switch r.where {
	case inSequence:
		s.add(&r.at, line)
		r.bases += len(line)
	case inQualities:
		r.quals += len(line)
	}
	r.inLine = !ends
}
