package binning

import (
	"context"
	"io"
	"sync/atomic"

	"orcomgo/internal/tasks"
)

// TextReader reads the text of an input. It is not safe for concurrent use.
type TextReader struct {
	src  *source
	read atomic.Uint64
	text uint64 // bytes that Read returned
}

// OpenText opens an input, which is compressed or not, as a run would. threads is how many goroutines inflate it. Errors begin with the
// path. An input that has to be made FASTQ by another program is refused; others may hold any text. Of unaligned BAM it is FASTQ.
func OpenText(ctx context.Context, path string, threads int) (*TextReader, error) {
	return openTextAs(ctx, path, threads, true)
}

// OpenInput is OpenText, but of unaligned BAM the text is what is inflated, as for a run that keeps everything.
func OpenInput(ctx context.Context, path string, threads int) (*TextReader, error) {
	return openTextAs(ctx, path, threads, false)
}

func openTextAs(ctx context.Context, path string, threads int, bamAsFASTQ bool) (*TextReader, error) {
	t := new(TextReader)
	r := &run{Config: &Config{Threads: threads, bamAsFASTQ: bamAsFASTQ}, pool: tasks.NewPool(threads)}
	var err error
	t.src, err = r.openSource(ctx, path, &t.read)
	return t, err
}

// Read implements io.Reader.
func (t *TextReader) Read(p []byte) (int, error) {
	n, err := t.src.Read(p)
	t.text += uint64(n)
	if err == io.EOF && n > 0 {
		err = nil // the next call returns it again
	}
	return n, err
}

// Stored returns how many bytes of the input, as it is stored, have been read. It is at most a few megabytes ahead of Read.
func (t *TextReader) Stored() uint64 { return t.read.Load() }

// Extent returns how many bytes of text are in so many first bytes of the input, as it is stored: more exactly than Stored, which is ahead
// of Read.
func (t *TextReader) Extent() (text, stored uint64) {
	if z := t.src.gzip; z != nil {
		if text, stored = z.Extent(); stored > 0 {
			return text, stored
		}
	}
	return t.text, t.Stored()
}

// Aligned reports whether the input is BAM whose header names sequences that reads are aligned to, once some text was read.
func (t *TextReader) Aligned() bool { return t.src.fastq != nil && t.src.fastq.References() > 0 }

// Close closes the input.
func (t *TextReader) Close() error {
	t.src.close()
	return nil
}
