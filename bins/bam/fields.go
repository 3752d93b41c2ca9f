package bam

import (
	"encoding/binary"
	"slices"

	"orcomgo/bins/parse"
)

// Bits of the first byte of fields.
const (
	withHeader = 1 << iota // the header of the file precedes the record: its length (uvarint), and it
	onlyHeader             // the file has no records, and this one is none
	noQuals                // the record has bases, and no qualities of them
	withFill               // the half of a byte behind an odd number of bases is not 0: a byte
	withPlace              // position and mate: 20 bytes; CIGAR operations: their number (uvarint), 4 bytes each
	allBits    = 1<<iota - 1
)

// mappingLen is how many bytes of the mapping's quality, the bin of an index, and the flags fields have.
const mappingLen = 5

// noPlace are the bytes of withPlace, without operations, where unaligned reads have no others.
const noPlace = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00"

var unplaced = []byte(noPlace)

// AppendFields appends the fields of a record; header is what precedes it in the file, nil if nothing does.
func (r *Record) AppendFields(dst, header []byte) []byte {
	b := r.fixed
	var place [len(noPlace)]byte
	copy(place[:], b[atReference:atNameLen])
	copy(place[8:], b[atNext:])
	fill := byte(0)
	if r.bases&1 != 0 {
		fill = r.packed[len(r.packed)-1] & 15
	}
	placed := string(place[:]) != noPlace || len(r.cigar) > 0
	dst = append(dst, parse.Flags(header != nil, false, r.lacksQualities(), fill != 0, placed))
	if header != nil {
		dst = parse.AppendBlock(dst, header)
	}
	dst = append(dst, b[atMapping:atOperations]...)
	dst = append(dst, b[atFlags:atBases]...)
	if fill != 0 {
		dst = append(dst, fill)
	}
	if placed {
		dst = binary.AppendUvarint(append(dst, place[:]...), uint64(len(r.cigar)/4))
		dst = append(dst, r.cigar...)
	}
	return append(dst, r.tags...)
}

// HeaderFields returns the fields of the record that stands for a file that has a header only.
func HeaderFields(header []byte) []byte {
	return parse.AppendBlock([]byte{withHeader | onlyHeader}, header)
}

// fields are taken apart.
type fields struct {
	bits           byte
	header         []byte
	mapping, flags []byte
	fill           byte
	place          []byte
	cigar          []byte
	tags           []byte
}

// parseFields takes fields apart, and reports whether they are valid.
func parseFields(b []byte) (f fields, ok bool) {
	c := parse.Cursor{Rest: b}
	if f.bits = c.ByteAtMost(allBits); f.bits&withHeader != 0 {
		f.header = c.Block()
	}
	if f.bits&onlyHeader != 0 {
		return f, c.Done() && f.bits == withHeader|onlyHeader
	}
	f.mapping, f.flags = c.Bytes(atOperations-atMapping), c.Bytes(mappingLen-(atOperations-atMapping))
	if f.bits&withFill != 0 {
		f.fill = c.ByteAtMost(15)
	}
	f.place = unplaced
	if f.bits&withPlace != 0 {
		f.place = c.Bytes(uint64(len(noPlace)))
		f.cigar = c.Bytes(4 * c.AtMost(1<<16-1))
	}
	f.tags = c.Rest
	return f, !c.Failed()
}

// Tags returns where the tags begin in fields: all that is before is like that of many other records. It is the end if there are none.
func Tags(b []byte) int {
	f, ok := parseFields(b)
	if !ok {
		return len(b)
	}
	return len(b) - len(f.tags)
}

// Fields appends the fields of an unaligned read: mate is 0, 1 or 2, quals whether it has qualities.
func Fields(dst []byte, mate int, quals bool) []byte {
	flags := [...]byte{flagUnmapped, 77, 141}[mate]
	return append(dst, parse.Flags(false, false, !quals), 0, 0x48, 0x12, flags, 0)
}

// AppendTag appends a tag that is a string.
func AppendTag(dst []byte, tag string, value []byte) []byte {
	return append(append(append(append(dst, tag...), 'Z'), value...), 0)
}

// Header returns inflated BAM of no records with a header of this text.
func Header(text string) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(Magic), uint32(len(text)))
	return append(append(b, text...), 0, 0, 0, 0)
}

// AppendRecord appends a record, with its length before it and the header if that precedes it. It reports false for fields that don't go
// with a sequence that has these letters and qualities.
func AppendRecord(dst, name, seq, qual, fieldBytes []byte) ([]byte, bool) {
	f, ok := parseFields(fieldBytes)
	if !ok || len(name) > 254 || len(qual) != len(seq) || f.fill != 0 && len(seq)&1 == 0 {
		return dst, false
	}
	if dst = append(dst, f.header...); f.bits&onlyHeader != 0 {
		return dst, len(name) == 0 && len(seq) == 0
	}
	size := fixedLen + len(name) + 1 + len(f.cigar) + (len(seq)+1)/2 + len(seq) + len(f.tags)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(size))
	dst = append(append(dst, f.place[:atNameLen]...), byte(len(name)+1))
	dst = append(dst, f.mapping...)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(f.cigar)/4))
	dst = append(dst, f.flags...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(seq)))
	dst = append(dst, f.place[atNameLen:]...)
	dst = append(append(dst, name...), 0)
	dst = append(dst, f.cigar...)
	bad, n, at := uint16(0), len(seq), len(dst)
	dst = slices.Grow(dst, (n+1)/2+n+len(f.tags))[:at+(n+1)/2+n]
	packed, quals := dst[at:at+(n+1)/2], dst[at+(n+1)/2:]
	for i := range n / 2 {
		two := codesOf[binary.LittleEndian.Uint16(seq[2*i:])]
		bad |= two
		packed[i] = byte(two)
	}
	if n&1 != 0 {
		two := codesOf[uint16(seq[n-1])|'.'<<8]
		bad |= two
		packed[n/2] = byte(two) | f.fill
	}
	if f.bits&noQuals != 0 {
		for i := range quals {
			quals[i] = noQuality
		}
	} else {
		addEach(quals, qual, 256-qualityZero)
	}
	return append(dst, f.tags...), bad <= 0xff
}
