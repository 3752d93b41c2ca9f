package bam

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// A Reader reads BAM as FASTQ text, which leaves out tags and header. Errors wrap ErrCorrupt or an UnsuitedError, or are those of the data;
// io.ErrUnexpectedEOF says that the data ends inside of a record.
type Reader struct {
	in      *bufio.Reader
	started bool // the header was read
	records uint64
	// references is how many sequences the header names.
	references uint32
	record     []byte
	text       []byte // that was not read yet, from at on
	at         int
	err        error
}

// NewReader returns a Reader of inflated BAM.
func NewReader(in io.Reader) *Reader { return &Reader{in: bufio.NewReaderSize(in, 1<<18)} }

// textAhead is about how many bytes of text are made at a time.
const textAhead = 1 << 16

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	if r.at == len(r.text) && r.err == nil {
		r.text, r.at = r.text[:0], 0
		if !r.started {
			r.started, r.err = true, r.header()
		}
		for len(r.text) < textAhead && r.err == nil {
			r.err = r.next()
		}
	}
	n := copy(p, r.text[r.at:])
	r.at += n
	if n == 0 && len(p) > 0 {
		return 0, r.err
	}
	return n, nil
}

// References returns how many sequences the header names that reads are aligned to, once some text was read.
func (r *Reader) References() uint32 { return r.references }

// header skips the header and the names of references.
func (r *Reader) header() error {
	var magic [len(Magic)]byte
	if _, err := io.ReadFull(r.in, magic[:]); err != nil {
		return inside(err)
	}
	if string(magic[:]) != Magic {
		return fmt.Errorf("%w: there is no header", ErrCorrupt)
	}
	if err := r.skip(0); err != nil {
		return err
	}
	references, err := r.length()
	r.references = references
	for ; references > 0 && err == nil; references-- {
		err = r.skip(4) // a name, and the length of the sequence
	}
	return err
}

// skip skips what a length says, and so many bytes more.
func (r *Reader) skip(more int64) error {
	n, err := r.length()
	if err == nil {
		_, err = io.CopyN(io.Discard, r.in, int64(n)+more)
	}
	return inside(err)
}

// length reads a number that can't be negative.
func (r *Reader) length() (uint32, error) {
	var b [4]byte
	if _, err := io.ReadFull(r.in, b[:]); err != nil {
		return 0, inside(err)
	}
	n := binary.LittleEndian.Uint32(b[:])
	return n, lengthError(n)
}

// inside returns err of reading what there must be.
func inside(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// next appends the text of the next record. The error is io.EOF if there is none.
func (r *Reader) next() error {
	if _, err := r.in.Peek(1); err != nil {
		return err
	}
	n, err := r.length()
	if err != nil {
		return err
	}
	r.records++
	if n < fixedLen {
		return corruptError(r.records, "is too short")
	}
	if err := r.load(int(n)); err != nil {
		return err
	}
	rec, err := Parse(r.record, r.records)
	if err == nil {
		r.text = rec.appendFASTQ(r.text, nil)
	}
	return err
}

// load reads n bytes into record. Its memory grows as they come, so that a damaged length takes none.
func (r *Reader) load(n int) error {
	r.record = r.record[:0]
	for len(r.record) < n {
		from := len(r.record)
		r.record = append(r.record, make([]byte, min(n-from, max(1<<16, from)))...)
		if _, err := io.ReadFull(r.in, r.record[from:]); err != nil {
			return inside(err)
		}
	}
	return nil
}
