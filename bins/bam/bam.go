// Package bam takes records of unaligned BAM apart, puts them together again, and reads BAM as FASTQ text. It works on inflated data; that
// all of the file is there has to be checked where it is inflated. The format is in the SAM/BAM Format Specification, section 4.2.
//
// A record is its name, the letters of its sequence, its qualities, and its fields: all other bytes. docs/FORMAT.md, "BAM", says how
// fields are written.
package bam

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Magic is what inflated BAM begins with.
const Magic = "BAM\x01"

// An UnsuitedError says that the file has records that this project does not read.
type UnsuitedError struct {
	Record uint64 // from 1
	What   string // what the file has, such as "aligned reads"
}

func (e *UnsuitedError) Error() string { return fmt.Sprintf("record %d: %s", e.Record, e.What) }

// ErrCorrupt reports data that is not BAM.
var ErrCorrupt = errors.New("the BAM data is damaged")

func corruptError(record uint64, what string) error {
	return fmt.Errorf("%w: record %d %s", ErrCorrupt, record, what)
}

// Offsets of the fields of a record after its length, and the length of those of fixed length.
const (
	atReference  = 0
	atPosition   = 4
	atNameLen    = 8
	atMapping    = 9 // quality of the mapping, and two bytes that are the bin of an index
	atOperations = 12
	atFlags      = 14
	atBases      = 16
	atNext       = 20 // reference and position of the mate, and the length of the fragment
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

const (
	noQuality   = 0xff // the quality of every base of a read without qualities
	maxQuality  = 93   // the largest that FASTQ has a letter for
	lackQuality = '"'  // what FASTQ has for the bases of a read without qualities, as samtools writes it
	qualityZero = 33
)

// letters are the bases by their codes, and lettersOfByte those of two. Inside of this project '.' stands for '=': it is a letter of FASTQ.
const letters = ".ACMGRSVTWYHKDBN"

var lettersOfByte = func() (t [256][2]byte) {
	for b := range t {
		t[b] = [2]byte{letters[b>>4], letters[b&15]}
	}
	return
}()

// codesOf is the inverse of lettersOfByte, by the first letter and 256 times the second; 0x100 for bytes that are no letters.
var codesOf = func() *[1 << 16]uint16 {
	t := new([1 << 16]uint16)
	for i := range t {
		t[i] = 0x100
	}
	for code, two := range lettersOfByte {
		t[binary.LittleEndian.Uint16(two[:])] = uint16(code)
	}
	return t
}()

// Record is a record of BAM taken apart, in memory of the record.
type Record struct {
	Name   []byte
	bases  int
	packed []byte // two bases a byte
	quals  []byte
	fixed  []byte // fields of fixed length
	cigar  []byte
	tags   []byte
}

// Parse takes a record, without its length, apart. number is that of the record, from 1, for errors, which wrap ErrCorrupt or are an
// UnsuitedError.
func Parse(b []byte, number uint64) (r Record, err error) {
	if len(b) < fixedLen {
		return r, corruptError(number, "is too short")
	}
	flags := binary.LittleEndian.Uint16(b[atFlags:])
	reference := int32(binary.LittleEndian.Uint32(b[atReference:]))
	if flags&flagUnmapped == 0 || flags&(flagReversed|flagSecondary|flagSupplementary) != 0 || reference >= 0 {
		return r, &UnsuitedError{number, "aligned reads"}
	}
	nameLen, bases := uint64(b[atNameLen]), uint64(binary.LittleEndian.Uint32(b[atBases:]))
	rest := b[fixedLen:]
	cigar := 4 * uint64(binary.LittleEndian.Uint16(b[atOperations:]))
	if nameLen == 0 || nameLen+cigar+(bases+1)/2+bases > uint64(len(rest)) {
		return r, corruptError(number, "is too short for what it says")
	}
	r = Record{Name: rest[:nameLen-1], bases: int(bases), fixed: b[:fixedLen], cigar: rest[nameLen : nameLen+cigar]}
	if rest[nameLen-1] != 0 || bytes.IndexByte(r.Name, 0) >= 0 || bytes.IndexByte(r.Name, '\n') >= 0 || bytes.IndexByte(r.Name, '\r') >= 0 {
		return r, corruptError(number, "has no valid name")
	}
	rest = rest[nameLen+cigar:]
	r.packed, rest = rest[:(bases+1)/2], rest[(bases+1)/2:]
	r.quals, r.tags = rest[:bases], rest[bases:]
	if !r.lacksQualities() {
		for _, q := range r.quals {
			if q > maxQuality {
				return r, corruptError(number, "has qualities above 93")
			}
		}
	}
	return r, nil
}

// lacksQualities reports whether the record has bases, and no qualities of them.
func (r *Record) lacksQualities() bool {
	for _, q := range r.quals {
		if q != noQuality {
			return false
		}
	}
	return r.bases > 0
}

// AppendLetters appends the letters of the sequence.
func (r *Record) AppendLetters(dst []byte) []byte {
	dst = slices.Grow(dst, r.bases+1)
	for _, two := range r.packed {
		l := &lettersOfByte[two]
		dst = append(dst, l[0], l[1])
	}
	return dst[:len(dst)-r.bases&1]
}

// AppendQualities appends the qualities as FASTQ has them.
func (r *Record) AppendQualities(dst []byte) []byte {
	if r.lacksQualities() {
		return append(dst, bytes.Repeat([]byte{lackQuality}, r.bases)...)
	}
	at := len(dst)
	dst = append(dst, r.quals...)
	addEach(dst[at:], r.quals, qualityZero)
	return dst
}

// addEach sets bytes to those of src, which are as many, plus n modulo 256, eight at a time.
func addEach(dst, src []byte, n uint64) {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	n *= ones
	for len(src) >= 8 {
		x := binary.LittleEndian.Uint64(src)
		binary.LittleEndian.PutUint64(dst, x&^high+n&^high^(x^n)&high)
		dst, src = dst[8:], src[8:]
	}
	for i, x := range src {
		dst[i] = x + byte(n)
	}
}

// mate returns 1 or 2 for a first or second mate, else 0.
func (r *Record) mate() int {
	switch binary.LittleEndian.Uint16(r.fixed[atFlags:]) & (flagFirst | flagSecond) {
	case flagFirst:
		return 1
	case flagSecond:
		return 2
	}
	return 0
}

// appendFASTQ appends the record as FASTQ, as `samtools fastq` prints it.
func (r *Record) appendFASTQ(dst []byte, tags Comments) []byte {
	dst = append(append(dst, '@'), r.Name...)
	if m := r.mate(); m > 0 {
		dst = append(dst, '/', '0'+byte(m))
	}
	dst = append(tags.append(dst, r.tags), '\n')
	at := len(dst)
	dst = r.AppendLetters(dst)
	for i, l := range dst[at:] {
		if l == '.' {
			dst[at+i] = '='
		}
	}
	dst = r.AppendQualities(append(dst, "\n+\n"...))
	return append(dst, '\n')
}

// HeaderSize returns how many bytes the header at the beginning of inflated BAM has. The error is io.ErrUnexpectedEOF if more of it is
// needed, or wraps ErrCorrupt.
func HeaderSize(b []byte) (int, error) {
	if len(b) >= len(Magic) && string(b[:len(Magic)]) != Magic {
		return 0, fmt.Errorf("%w: there is no header", ErrCorrupt)
	}
	at := uint64(len(Magic))
	number := func() (uint64, error) {
		if at+4 > uint64(len(b)) {
			return 0, io.ErrUnexpectedEOF
		}
		n := binary.LittleEndian.Uint32(b[at:])
		at += 4
		return uint64(n), lengthError(n)
	}
	n, err := number()
	if err != nil {
		return 0, err
	}
	at += n // the text
	references, err := number()
	for ; references > 0 && err == nil; references-- {
		n, err = number()
		at += n + 4 // a name, and the length of the sequence
	}
	if err == nil && at > uint64(len(b)) {
		err = io.ErrUnexpectedEOF
	}
	return int(at), err
}

// lengthError returns an error for a length that can't be one.
func lengthError(n uint32) error {
	if n >= 1<<31 {
		return fmt.Errorf("%w: a length is negative", ErrCorrupt)
	}
	return nil
}

// RecordSize returns how many bytes the record at the beginning of b has, with those of its length. ok is false if these are not all there.
func RecordSize(b []byte) (size int, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	return 4 + int(binary.LittleEndian.Uint32(b)), true
}

// Choice says which records are written, and how. The zero value is FASTQ of all.
type Choice struct {
	Mate     int      // 1 or 2: only first or second mates
	Records  bool     // as they are, without the header
	Comments Comments // else: the tags that FASTQ has
}

// Append appends records of inflated BAM, and to ends where each ends in what it appends. header says that b begins with the header and not
// with a record. BAM without records counts as one that has no text.
func (o Choice) Append(dst, b []byte, header bool, ends []int) ([]byte, []int, error) {
	start := len(dst)
	if header {
		n, err := HeaderSize(b)
		if err != nil {
			return dst, ends, err
		}
		if b = b[n:]; len(b) == 0 {
			return dst, append(ends, 0), nil
		}
	}
	for number := uint64(1); len(b) > 0; number++ {
		n, ok := RecordSize(b)
		if !ok || n > len(b) {
			return dst, ends, io.ErrUnexpectedEOF
		}
		r, err := Parse(b[4:n], number)
		if err != nil {
			return dst, ends, err
		}
		if o.Mate == 0 || r.mate() == o.Mate {
			if o.Records {
				dst = append(dst, b[:n]...)
			} else {
				dst = r.appendFASTQ(dst, o.Comments)
			}
			ends = append(ends, len(dst)-start)
		}
		b = b[n:]
	}
	return dst, ends, nil
}
