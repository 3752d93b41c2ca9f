// Package bam reads unaligned BAM as FASTQ text: names, bases and qualities of its records, as `samtools fastq` prints them. Tags, read
// groups and the header are left out. It reads inflated data; that all of the file is there has to be checked where it is inflated.
// The format is in the SAM/BAM Format Specification, section 4.2.
package bam

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Magic is what inflated BAM begins with.
const Magic = "BAM\x01"

// An UnsuitedError says that a record can't be given back as FASTQ by its name, bases and qualities alone.
type UnsuitedError struct {
	Record uint64 // from 1
	What   string // what the file has, such as "aligned reads"
}

func (e *UnsuitedError) Error() string { return fmt.Sprintf("record %d: %s", e.Record, e.What) }

// ErrCorrupt reports data that is not BAM.
var ErrCorrupt = errors.New("the BAM data is damaged")

// A Reader reads the text of BAM. Errors wrap ErrCorrupt or an UnsuitedError, or are those of the data; io.ErrUnexpectedEOF says that the
// data ends inside of a record.
type Reader struct {
	in      *bufio.Reader
	started bool // the header was read
	records uint64
	record  []byte
	text    []byte // that was not read yet, from at on
	at      int
	err     error
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
	if n >= 1<<31 {
		return 0, fmt.Errorf("%w: a length is negative", ErrCorrupt)
	}
	return n, nil
}

// inside returns err of reading what there must be.
func inside(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Offsets of the fields of a record after its length, and the length of those of fixed length.
const (
	atReference  = 0
	atNameLen    = 8
	atOperations = 12
	atFlags      = 14
	atBases      = 16
	fixedLen     = 32
)

// Flags of a record.
const (
	flagUnmapped      = 4
	flagReversed      = 16
	flagFirst         = 64
	flagSecond        = 128
	flagSecondary     = 256
	flagSupplementary = 2048
)

// noQuality is the quality of every base of a read without qualities, and maxQuality the largest that FASTQ has a letter for.
const (
	noQuality  = 0xff
	maxQuality = 93
)

// letters are the bases by their codes, and lettersOfByte those of two.
const letters = "=ACMGRSVTWYHKDBN"

var lettersOfByte = func() (t [256][2]byte) {
	for b := range t {
		t[b] = [2]byte{letters[b>>4], letters[b&15]}
	}
	return
}()

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
	bad := func(what string) error { return fmt.Errorf("%w: record %d %s", ErrCorrupt, r.records, what) }
	if n < fixedLen {
		return bad("is too short")
	}
	if err := r.load(int(n)); err != nil {
		return err
	}
	b := r.record
	flags := binary.LittleEndian.Uint16(b[atFlags:])
	reference := int32(binary.LittleEndian.Uint32(b[atReference:]))
	if flags&flagUnmapped == 0 || flags&(flagReversed|flagSecondary|flagSupplementary) != 0 || reference >= 0 {
		return &UnsuitedError{r.records, "aligned reads"}
	}
	nameLen, bases := uint64(b[atNameLen]), uint64(binary.LittleEndian.Uint32(b[atBases:]))
	rest := b[fixedLen:]
	operations := 4 * uint64(binary.LittleEndian.Uint16(b[atOperations:]))
	if nameLen == 0 || nameLen+operations+(bases+1)/2+bases > uint64(len(rest)) {
		return bad("is too short for what it says")
	}
	name := rest[:nameLen-1]
	if rest[nameLen-1] != 0 || bytes.ContainsAny(name, "\x00\n\r") {
		return bad("has no valid name")
	}
	rest = rest[nameLen+operations:]
	t := append(append(r.text, '@'), name...)
	switch flags & (flagFirst | flagSecond) {
	case flagFirst:
		t = append(t, "/1"...)
	case flagSecond:
		t = append(t, "/2"...)
	}
	t = append(t, '\n')
	packed, quals := rest[:(bases+1)/2], rest[(bases+1)/2:][:bases]
	for _, two := range packed {
		l := &lettersOfByte[two]
		t = append(t, l[0], l[1])
	}
	if bases&1 != 0 {
		t = t[:len(t)-1]
	}
	t = append(t, "\n+\n"...)
	for _, q := range quals {
		if q > maxQuality {
			if q == noQuality {
				return &UnsuitedError{r.records, "reads without qualities"}
			}
			return bad("has qualities above 93")
		}
		t = append(t, q+33)
	}
	r.text = append(t, '\n')
	return nil
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
