package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"orcomgo/binning"
	"orcomgo/bins/record"
)

// benchSample is the text that bench measures with.
type benchSample struct {
	path   string
	kind   record.Kind
	text   []byte // whole records
	whole  bool   // the text is all of the file
	stored uint64 // size of the file
	// A prefix of the file was read to know how much text it holds for how many of its bytes.
	prefixText, prefixStored uint64
	rate                     float64 // of reading: bytes of text a second
}

// prefixSamples is how many times the sample is read to measure how fast that is, and how well the file is compressed.
const prefixSamples = 8

// allText returns about how many bytes of text the file has.
func (s *benchSample) allText() uint64 {
	if s.whole {
		return uint64(len(s.text))
	}
	return uint64(float64(s.stored) * float64(s.prefixText) / float64(max(s.prefixStored, 1)))
}

// readSample reads the first n bytes of the text of a file, and cuts them after a record.
func readSample(ctx context.Context, path string, n, threads int) (*benchSample, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: only a file can be measured", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, cause(err))
	}
	began := time.Now()
	in, err := binning.OpenText(ctx, path, threads)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	s := &benchSample{path: path, stored: uint64(info.Size())}
	var text bytes.Buffer
	read, err := io.CopyN(&text, in, int64(n)+1) // one byte more tells whether the file ends there
	if err != nil && err != io.EOF {
		return nil, err
	}
	s.text, s.whole = text.Bytes(), read <= int64(n)
	more, err := io.CopyN(io.Discard, in, max(prefixSamples*int64(n)-read, 0))
	if err != nil && err != io.EOF {
		return nil, err
	}
	s.rate = float64(read+more) / time.Since(began).Seconds()
	if s.prefixText, s.prefixStored = in.Extent(); err == io.EOF {
		s.prefixText, s.prefixStored = uint64(read+more), s.stored
	}
	if len(s.text) == 0 {
		return nil, &emptyInput{path}
	}
	if kind, ok := record.KindOf(s.text[0]); ok {
		s.kind = kind
	}
	if s.whole {
		return s, nil
	}
	end := recordsEnd(s.text[:n], s.kind)
	if end == 0 {
		return nil, &uncutInput{path, n}
	}
	s.text = s.text[:end]
	return s, nil
}

// emptyInput is the error for a file without text.
type emptyInput struct{ path string }

func (e *emptyInput) Error() string {
	return fmt.Sprintf("%s: the file is empty: there is nothing to measure", e.path)
}

// uncutInput is the error for a text whose first n bytes can't be cut after a record.
type uncutInput struct {
	path string
	n    int
}

func (e *uncutInput) Error() string {
	return fmt.Sprintf("%s: there is no whole record of one line for each part in the first %s: "+
		"expected that, or a --sample as large as the text", e.path, bytesText(uint64(e.n)))
}

// recordsEnd returns where the last whole record of a text ends, which goes on after it; 0 if that can't be told.
func recordsEnd(text []byte, kind record.Kind) int {
	if kind != record.FASTQ {
		return bytes.LastIndex(text, []byte{'\n', kind.Format().Mark}) + 1
	}
	end, lines, start := 0, 0, 0
	for at := 0; ; {
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			return end
		}
		switch lines & 3 {
		case 0:
			start = at
			if text[at] != kind.Format().Mark {
				return 0
			}
		case 2:
			if text[at] != '+' {
				return 0
			}
		}
		at += n + 1
		if lines++; lines&3 == 0 && start < at {
			end = at
		}
	}
}
