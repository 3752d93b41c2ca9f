package fmindex

import (
	"encoding/binary"
	"io"

	"orcomgo/bases"
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
	rankHashAt  = hashAt - 16
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

// sections are how many bytes each section has: coverage, slices, lengths, table, literals; then ranks, samples and starts, without which
// the text is gone through. The literals are filled up so that a cache line has a block of ranks.
type sections [8]uint64

// rankSections is how many sections are before the ranks.
const rankSections = 5

// sections returns the sections, and sets mainLen.
func (x *Index) sections(slices, lengths uint64) sections {
	n, literals := uint64(x.bases), 0
	if x.keepsLiterals() {
		literals = bases.PackedLen(int(x.bases-x.genome)) + bases.Pad
	}
	s := sections{(uint64(x.genome) + Window - 1) / Window * 2, min(slices, 1<<40) * 8, min(lengths, 1<<40),
		uint64(beginsBlocks(x.genome)) * tableBytes, uint64(literals),
		(n/blockBases + 1) * blockBytes, (n/sampleRows + 1) * 4, uint64(bwt.Starts(int(n))) * 4}
	s[rankSections-1] += -s.end(rankSections) % blockBytes
	x.mainLen = s.end(len(s))
	return s
}

// keepsLiterals reports whether the bases of literals are in a section of their own: not if they are many, which would take too much.
func (x *Index) keepsLiterals() bool { return x.bases-x.genome <= x.bases/20 }

// least returns how many bytes Open needs: with literals that are not kept, all.
func (x *Index) least(s sections) uint64 {
	if !x.keepsLiterals() {
		return x.mainLen
	}
	return s.end(rankSections)
}

// end returns how many bytes the header and the first n sections have.
func (s *sections) end(n int) uint64 {
	sum := uint64(headerBytes)
	for _, v := range s[:n] {
		sum += v
	}
	return sum
}

// cut sets the sections of x in its file, as far as that has them.
func (x *Index) cut(s sections) {
	rest := x.file[headerBytes:]
	for i, section := range [...]*[]byte{&x.coverage, &x.slices, &x.lengths, &x.table, &x.literals, &x.ranks, &x.samples, &x.starts} {
		if i < rankSections || len(rest) > 0 {
			*section, rest = rest[:s[i]:s[i]], rest[s[i]:]
		}
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
	sum := xxh3.Hash128(x.rankBytes()).Bytes()
	copy(h[rankHashAt:], sum[:])
	sum = x.hash()
	copy(h[hashAt:], sum[:])
}

// rankBytes returns the sections from the ranks on.
func (x *Index) rankBytes() []byte {
	return x.file[len(x.file)-len(x.ranks)-len(x.samples)-len(x.starts):]
}

// hash returns the checksum of the header, without it, and of the sections before rankBytes: XXH3-128.
func (x *Index) hash() [16]byte {
	var h xxh3.Hasher
	h.Write(x.file[:hashAt])
	h.Write(x.file[headerBytes : len(x.file)-len(x.rankBytes())])
	return h.Sum128().Bytes()
}

// MainLen returns how many bytes of a file Open reads, whose first ones are given: 128, or all. The first `least` of them are enough for
// going through the text. The error wraps ErrCorrupt.
func MainLen(head []byte) (least, all int64, err error) {
	x, s, err := parseHeader(head)
	if err == nil {
		least, all = int64(x.least(s)), int64(x.mainLen)
	}
	return least, all, err
}

// parseHeader returns the index of a file without its sections, and how many bytes these have.
func parseHeader(head []byte) (x *Index, s sections, err error) {
	if len(head) < headerBytes || string(head[:8]) != Magic {
		return nil, s, corrupt("its first bytes are not those of an index")
	}
	if v := binary.LittleEndian.Uint64(head[8:]); v != Version {
		return nil, s, corrupt("it has format version %d, this program reads version %d", v, Version)
	}
	x = &Index{archive: [idBytes]byte(head[16:])}
	number := func(i int) uint64 { return binary.LittleEndian.Uint64(head[numbersAt+8*i:]) }
	genome, bases, first, span := number(numGenome), number(numBases), number(numFirst), number(numSpan)
	if bases > MaxBases || genome > bases || first > bases || (first == 0) != (bases == 0) || span > genome {
		return nil, s, corrupt("%d bases, %d of the pseudogenome, row %d, reads of %d", bases, genome, first, span)
	}
	x.genome, x.bases, x.first, x.span = uint32(genome), uint32(bases), uint32(first), uint32(span)
	return x, x.sections(number(numSlices), number(numLengths)), nil
}

// Open returns the index in a file of so many bytes. main are its first MainLen bytes, or more, which must not change while it is in use;
// they are checked, by their checksums and against each other. With less than all of these, but the least or more, it has no ranks.
// SlicesOver reads the others of file. The error wraps ErrCorrupt.
func Open(main []byte, file io.ReaderAt, size int64) (*Index, error) {
	x, s, err := parseHeader(main)
	if err != nil {
		return nil, err
	}
	n := x.mainLen
	if uint64(len(main)) < n && n <= uint64(size) {
		n = x.least(s)
	}
	if uint64(len(main)) < n {
		return nil, corrupt("%d bytes are not what its header says", size)
	}
	x.file, x.whole = main[:n], file
	x.cut(s)
	if x.hash() != [16]byte(main[hashAt:]) || x.HasRanks() && xxh3.Hash128(x.rankBytes()).Bytes() != [16]byte(main[rankHashAt:]) {
		return nil, corrupt("its checksum does not match")
	}
	if err := x.checkTable(); err != nil {
		return nil, err
	}
	if x.Size() != size {
		return nil, corrupt("%d bytes are not what its header says", size)
	}
	if err := x.checkRanks(); err != nil {
		return nil, err
	}
	for i := range len(x.starts) / 4 {
		if r := x.rowOf(i); r == 0 || r > x.bases || i == 0 && r != x.first {
			return nil, corrupt("chunk %d begins in row %d of %d", i, r, x.bases)
		}
	}
	if err := x.markLiterals(); err != nil {
		return nil, err
	}
	return x, nil
}

// HasRanks reports whether the index was opened with what a search of it needs. Without, only AppendText gives what is in its text.
func (x *Index) HasRanks() bool { return len(x.ranks) > 0 }

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
		for c, more := range countBases(b, n) {
			counts[c] += more
		}
	}
	x.setLess(counts)
	return nil
}
