package binning

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"orcomgo/binning/inflate"

	"golang.org/x/sync/errgroup"
)

// fillInflated is fill for gzip. Several goroutines copy the pieces of the text.
func (s *source) fillInflated(text TextBuffer, at, size, lines int, marks []Mark) (int, []Mark, error) {
	type part struct{ end, lines int }
	var parts []*part
	var copies errgroup.Group
	var failed atomic.Bool // an error of copies
	copies.SetLimit(s.threads)
	n := 0
	var err error
	for n < size && !failed.Load() {
		if len(s.rest) == 0 {
			if s.piece, err = s.gzip.Next(); err != nil {
				break
			}
			s.rest = s.piece.Text
			s.tick()
		}
		from := s.rest[:min(len(s.rest), size-n)]
		s.rest = s.rest[len(from):]
		done := func() {}
		if len(s.rest) == 0 {
			done = s.piece.Release
		}
		var steps []*part
		for k := 0; k < len(from); {
			k = min(k+fillPiece, len(from))
			steps = append(steps, &part{end: n + k})
		}
		parts = append(parts, steps...)
		first := n
		copies.Go(func() error {
			defer done()
			k := 0
			for _, step := range steps {
				end := step.end - first
				_, err := text.Fill(at+first+k, end-k, func(p []byte) (int, error) {
					step.lines = bytes.Count(from[k:end], []byte{'\n'})
					return copy(p, from[k:end]), nil
				})
				if err != nil {
					failed.Store(true)
					return err
				}
				k = end
			}
			return nil
		})
		n += len(from)
	}
	if err := copies.Wait(); err != nil {
		return 0, marks, err
	}
	for _, part := range parts {
		lines += part.lines
		marks = append(marks, Mark{at + part.end, lines})
	}
	if err == nil && len(s.rest) == 0 {
		// Whether the input ends here has to be known, as it is for a plain file.
		if s.piece, err = s.gzip.Next(); err == nil {
			s.rest = s.piece.Text
		}
	}
	if err != nil && err != io.EOF {
		err = s.wrap(err)
	}
	return n, marks, err
}

var errZstdGarbage = errors.New("trailing garbage after the zstd data: expected another frame or the end of the file")

// gzipError says in the user's words what is wrong with gzip data. It returns nil for other
// errors.
func gzipError(err error) error {
	var garbage *inflate.GarbageError
	switch {
	case errors.As(err, &garbage):
		return fmt.Errorf("trailing garbage after the gzip data: found %s at offset %d, expected the end of the file",
			showByte(garbage.Found), garbage.Offset)
	case errors.Is(err, inflate.ErrHeader):
		return errors.New("the gzip data is damaged: expected the header of a member")
	case errors.Is(err, inflate.ErrChecksum):
		return errors.New("the gzip data is damaged: the checksum differs")
	}
	return nil
}
