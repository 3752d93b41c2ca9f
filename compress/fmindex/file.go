package fmindex

import (
	"encoding/binary"
	"io"

	"orcomgo/compress/bwt"

	"github.com/zeebo/xxh3"
)

// Magic is how the file of an index begins.
const Magic = "\x89OCGf\r\n\x1a"

// Version is that of the format of the file.
const Version = 1

const (
	idBytes     = 16
	headerBytes = 128
	hashAt      = headerBytes - 16
)

// The numbers of the header, eight bytes each, from numbersAt on.
const (
	numbersAt = 8 + 8 + idBytes
	numGenome = iota - 1
	numBases
	numFirst
	numSlices
	numLengths
	numSpan
	numbers
)

// sections returns how many bytes each section has: those of ranks, samples, starts, coverage, slices, lengths and table.
func (x *Index) sections(slices, lengths uint64) [7]uint64 {
	n := uint64(x.bases)
	return [...]uint64{(n/blockBases + 1) * blockBytes, (n/sampleRows + 1) * 4, uint64(bwt.Starts(int(n))) * 4,
		(uint64(x.genome) + Window - 1) / Window * 2, min(slices, 1<<40) * 8, min(lengths, 1<<40), uint64(beginsBlocks(x.genome)) * tableBytes}
}

// mainLen returns how many bytes the header and the sections have, which Open reads.
func (x *Index) mainLen() uint64 {
	return mainLen(x.sections(uint64(x.Slices()), uint64(len(x.lengths))))
}

func mainLen(sections [7]uint64) uint64 {
	sum := uint64(headerBytes)
	for _, n := range sections {
		sum += n
	}
	return sum
}

// cut sets the sections of x in its file, which has room for them.
func (x *Index) cut(sections [7]uint64) {
	rest := x.file[headerBytes:]
	for i, s := range [...]*[]byte{&x.ranks, &x.samples, &x.starts, &x.coverage, &x.slices, &x.lengths, &x.table} {
		n := sections[i]
		*s, rest = rest[:n:n], rest[n:]
	}
}

// seal sets the header, when all sections are set.
func (x *Index) seal() {
	h := x.file[:headerBytes]
	copy(h, Magic)
	binary.LittleEndian.PutUint64(h[8:], Version)
	copy(h[16:], x.archive[:])
	for i, v := range [numbers]int{numGenome: int(x.genome), numBases: int(x.bases), numFirst: int(x.first), numSlices: x.Slices(),
		numLengths: len(x.lengths), numSpan: int(x.span)} {
		binary.LittleEndian.PutUint64(h[numbersAt+8*i:], uint64(v))
	}
	sum := fileHash(x.file)
	copy(h[hashAt:], sum[:])
}

// fileHash returns the checksum of the header, without it, and the sections: XXH3-128.
func fileHash(file []byte) [16]byte {
	var h xxh3.Hasher
	h.Write(file[:hashAt])
	h.Write(file[headerBytes:])
	return h.Sum128().Bytes()
}

// MainLen returns how many bytes of a file Open reads, whose first ones are given: 128, or all. The error wraps ErrCorrupt.
func MainLen(head []byte) (int64, error) {
	_, sections, err := parseHeader(head)
	return int64(mainLen(sections)), err
}

// parseHeader returns the index of a file without its sections, and how many bytes these have.
func parseHeader(head []byte) (x *Index, sections [7]uint64, err error) {
	if len(head) < headerBytes || string(head[:8]) != Magic {
		return nil, sections, corrupt("its first bytes are not those of an index")
	}
	if v := binary.LittleEndian.Uint64(head[8:]); v != Version {
		return nil, sections, corrupt("it has format version %d, this program reads version %d", v, Version)
	}
	x = &Index{archive: [idBytes]byte(head[16:])}
	number := func(i int) uint64 { return binary.LittleEndian.Uint64(head[numbersAt+8*i:]) }
	genome, bases, first, span := number(numGenome), number(numBases), number(numFirst), number(numSpan)
	if bases > MaxBases || genome > bases || first > bases || (first == 0) != (bases == 0) || span > genome {
		return nil, sections, corrupt("%d bases, %d of the pseudogenome, row %d, reads of %d", bases, genome, first, span)
	}
	x.genome, x.bases, x.first, x.span = uint32(genome), uint32(bases), uint32(first), uint32(span)
	return x, x.sections(number(numSlices), number(numLengths)), nil
}

// Open returns the index in a file of so many bytes. main are its first MainLen bytes, or more, which must not change while it is in use;
// they are checked, by their checksum and against each other. SlicesOver reads the others of file. The error wraps ErrCorrupt.
func Open(main []byte, file io.ReaderAt, size int64) (*Index, error) {
	x, sections, err := parseHeader(main)
	if err != nil {
		return nil, err
	}
	n := mainLen(sections)
	if n > uint64(len(main)) {
		return nil, corrupt("%d bytes are not what its header says", size)
	}
	x.file, x.whole = main[:n], file
	if fileHash(x.file) != [16]byte(main[hashAt:]) {
		return nil, corrupt("its checksum does not match")
	}
	x.cut(sections)
	if err := x.checkTable(); err != nil {
		return nil, err
	}
	if x.Size() != size {
		return nil, corrupt("%d bytes are not what its header says", size)
	}
	if err := x.checkRanks(); err != nil {
		return nil, err
	}
	for i := range x.Chunks() {
		if r := x.rowOf(i); r == 0 || r > x.bases || i == 0 && r != x.first {
			return nil, corrupt("chunk %d begins in row %d of %d", i, r, x.bases)
		}
	}
	if err := x.markLiterals(); err != nil {
		return nil, err
	}
	return x, nil
}

// checkRanks makes sure that the counts of the blocks are right, so that rank is at most what less says, and sets less.
func (x *Index) checkRanks() error {
	var counts [4]uint32
	left := x.bases
	for at := 0; at < len(x.ranks); at += blockBytes {
		b := x.ranks[at:][:blockBytes]
		n := min(left, blockBases)
		left -= n
		for c, v := range counts {
			if binary.LittleEndian.Uint32(b[4*c:]) != v {
				return corrupt("the counts of block %d are wrong", at/blockBytes)
			}
		}
		var after [4]uint32
		countBases(b, n, &after)
		for c := range counts {
			counts[c] += after[c]
		}
	}
	x.setLess(counts)
	return nil
}
