package bam

import (
	"encoding/binary"
	"io"
)

// A Reader reads BAM as FASTQ text, which leaves out tags and header. Errors wrap ErrCorrupt or an UnsuitedError, or are those of the data;
// io.ErrUnexpectedEOF says that the data ends inside of a record.
type Reader struct {
	in      io.Reader
	buf     []byte // memory
	data    []byte // part of buf: what was read, from the next record on
	started bool   // the header was read
	records uint64
	// references is how many sequences the header names.
	references uint32
	text       []byte // that was not read yet, from at on
	at         int
	err        error
}

// NewReader returns a Reader of inflated BAM.
func NewReader(in io.Reader) *Reader { return &Reader{in: in, buf: make([]byte, 1<<18)} }

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
	n, err := HeaderSize(r.data)
	for ; err == io.ErrUnexpectedEOF; n, err = HeaderSize(r.data) {
		if err := r.more(); err != nil {
			return inside(err)
		}
	}
	if err == nil {
		r.references = binary.LittleEndian.Uint32(r.data[len(Magic)+4+int(binary.LittleEndian.Uint32(r.data[len(Magic):])):])
		r.data = r.data[n:]
	}
	return err
}

// more reads more data, whose memory grows as they come, so that a damaged length takes none.
func (r *Reader) more() error {
	if len(r.data) == cap(r.data) {
		if 2*len(r.data) > len(r.buf) {
			r.buf = make([]byte, 2*len(r.buf))
		}
		r.data = r.buf[:copy(r.buf, r.data)]
	}
	n, err := io.ReadAtLeast(r.in, r.data[len(r.data):cap(r.data)], 1)
	r.data = r.data[:len(r.data)+n]
	return err
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
	n, ok := RecordSize(r.data)
	for ; !ok || n > len(r.data); n, ok = RecordSize(r.data) {
		if ok {
			if err := lengthError(uint32(n - 4)); err != nil {
				return err
			}
		}
		if err := r.more(); err != nil {
			if len(r.data) > 0 {
				err = inside(err)
			}
			return err
		}
	}
	r.records++
	rec, err := Parse(r.data[4:n], r.records)
	if err == nil {
		r.text = rec.appendFASTQ(r.text, nil)
	}
	r.data = r.data[n:]
	return err
}
