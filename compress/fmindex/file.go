package fmindex

import (
	"encoding/binary"

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
	numbers
)

// cut sets the sections of x in its file, and reports whether they fill it.
func (x *Index) cut(slices, lengths uint64) bool {
	rest := x.file[headerBytes:]
	fits := true
	take := func(n uint64) []byte {
		if n > uint64(len(rest)) {
			fits = false
			return nil
		}
		s := rest[:n:n]
		rest = rest[n:]
		return s
	}
	n := uint64(x.bases)
	x.ranks = take((n/blockBases + 1) * blockBytes)
	x.samples = take((n/sampleRows + 1) * 4)
	x.starts = take(uint64(bwt.Starts(int(n))) * 4)
	x.coverage = take((uint64(x.genome) + Window - 1) / Window * 2)
	x.slices = take(min(slices, 1<<40) * 8)
	x.lengths = take(lengths)
	return fits && len(rest) == 0
}

// makeFile makes the file, with sections to be set.
func (x *Index) makeFile(slices, lengths int) {
	n := uint64(x.bases)
	size := headerBytes + (n/blockBases+1)*blockBytes + (n/sampleRows+1)*4 + uint64(bwt.Starts(int(n)))*4 +
		(uint64(x.genome)+Window-1)/Window*2 + uint64(slices)*8 + uint64(lengths)
	x.file = make([]byte, size)
	x.cut(uint64(slices), uint64(lengths))
}

// seal sets the header, when all sections are set.
func (x *Index) seal() {
	h := x.file[:headerBytes]
	copy(h, Magic)
	binary.LittleEndian.PutUint64(h[8:], Version)
	copy(h[16:], x.archive[:])
	for i, v := range [numbers]int{numGenome: int(x.genome), numBases: int(x.bases), numFirst: int(x.first), numSlices: x.Slices(),
		numLengths: len(x.lengths)} {
		binary.LittleEndian.PutUint64(h[numbersAt+8*i:], uint64(v))
	}
	sum := fileHash(x.file)
	copy(h[hashAt:], sum[:])
}

// fileHash returns the checksum of a file: XXH3-128 of it without the checksum in the header.
func fileHash(file []byte) [16]byte {
	var h xxh3.Hasher
	h.Write(file[:hashAt])
	h.Write(file[headerBytes:])
	return h.Sum128().Bytes()
}

// Open returns the index of a file's bytes, which must not change while it is in use. All bytes are checked, by the checksum and against
// each other. The error wraps ErrCorrupt.
func Open(file []byte) (*Index, error) {
	if len(file) < headerBytes || string(file[:8]) != Magic {
		return nil, corrupt("its first bytes are not those of an index")
	}
	if v := binary.LittleEndian.Uint64(file[8:]); v != Version {
		return nil, corrupt("it has format version %d, this program reads version %d", v, Version)
	}
	if fileHash(file) != [16]byte(file[hashAt:]) {
		return nil, corrupt("its checksum does not match")
	}
	x := &Index{file: file, archive: [idBytes]byte(file[16:])}
	number := func(i int) uint64 { return binary.LittleEndian.Uint64(file[numbersAt+8*i:]) }
	genome, bases, first := number(numGenome), number(numBases), number(numFirst)
	if bases > MaxBases || genome > bases || first > bases || (first == 0) != (bases == 0) {
		return nil, corrupt("%d bases, %d of the pseudogenome, row %d", bases, genome, first)
	}
	x.genome, x.bases, x.first = uint32(genome), uint32(bases), uint32(first)
	if !x.cut(number(numSlices), number(numLengths)) {
		return nil, corrupt("%d bytes are not what its header says", len(file))
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
