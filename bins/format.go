// Package bins reads and writes the result of stage 1: NAME.bdna, which holds the
// reads grouped by signature, the names and the qualities, and NAME.bmeta, which holds the
// index of those, the order, strand, position and length of each read, everything else of
// the text, and the checksums of both files. docs/FORMAT.md, section Bins, specifies them.
//
// A Writer takes blocks one after another and keeps only a short entry for each in memory.
// A Reader gives back the columns of a block, and the reads of a range of signatures by
// one contiguous read of each file. Package commit puts the two files in place and finds them.
package bins

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
)

// Version is the format version that is written, and the only one that is read.
const Version = 1

const (
	dataMagic = commit.BinsDataMagic
	metaMagic = commit.BinsMetaMagic
	endMagic  = "ORCOBEND"

	dataHeaderLen = 8 + 4 + 4 + 16 // magic, version, zero, ID
	metaHeaderLen = 8 + 4 + 4      // magic, version, zero
	footerLen     = 8 + 8 + 8 + 16 + 8
)

// Chunk sizes in bytes before compression. A checksum covers a chunk as it is stored.
const (
	rawChunk  = 1 << 20 // bases, bins, order, places, lengths, exceptions, forms
	nameChunk = 1 << 20
	qualChunk = 1 << 17
)

// The sections of a block, in the order of the directory; the first three are in the data file.
const (
	secDNA = iota
	secNames
	secQuals
	secBins
	secOrder
	secPlace
	secLengths
	secExceptions
	secForms
	sections
	dataSections = secBins
)

var sectionNames = [sections]string{"bases", "names", "qualities", "bin table", "order", "places", "lengths", "exceptions", "forms"}

// chunkSize returns how many bytes before compression a chunk of a section holds.
func chunkSize(section int) uint64 {
	switch section {
	case secNames:
		return nameChunk
	case secQuals:
		return qualChunk
	}
	return rawChunk
}

// How a chunk of names or qualities is stored.
const (
	chunkRaw  = iota // as it is
	chunkSame        // one byte, repeated
	chunkHuff        // huff0, four streams with their table
	chunkZstd        // a zstd frame
	chunkMethods
)

func dataHeader(id [16]byte) []byte {
	h := append(make([]byte, 0, dataHeaderLen), dataMagic...)
	h = binary.LittleEndian.AppendUint32(h, Version)
	h = binary.LittleEndian.AppendUint32(h, 0)
	return append(h, id[:]...)
}

func metaHeader() []byte {
	h := append(make([]byte, 0, metaHeaderLen), metaMagic...)
	h = binary.LittleEndian.AppendUint32(h, Version)
	return binary.LittleEndian.AppendUint32(h, 0)
}

// checkHeader checks magic and version of the head of a file.
func checkHeader(path string, head []byte, magic string) error {
	if string(head[:8]) != magic {
		return fmt.Errorf("%s: %w: it does not begin as it should", path, parse.ErrCorrupt)
	}
	if v := binary.LittleEndian.Uint32(head[8:]); v != Version {
		return fmt.Errorf("%s: %w %d, this program reads version %d", path, parse.ErrVersion, v, Version)
	}
	if binary.LittleEndian.Uint32(head[12:]) != 0 {
		return fmt.Errorf("%s: %w: reserved bytes are set", path, parse.ErrCorrupt)
	}
	return nil
}

// footer returns the end of the meta file for the trailer given, and the archive's ID: the
// XXH3-128 of the meta file's header, trailer and footer up to the ID. The trailer holds
// the checksums of the directories and these hold those of all sections, so the ID depends on
// every byte of both files.
func footer(trailer []byte, trailerAt, dataSize uint64) ([]byte, [16]byte) {
	f := binary.LittleEndian.AppendUint64(nil, trailerAt)
	f = binary.LittleEndian.AppendUint64(f, uint64(len(trailer)))
	f = binary.LittleEndian.AppendUint64(f, dataSize)
	h := xxh3.New()
	h.Write(metaHeader())
	h.Write(trailer)
	h.Write(f)
	id := h.Sum128().Bytes()
	f = append(f, id[:]...)
	return append(f, endMagic...), id
}

// sum returns the checksum of a chunk as it is stored.
func sum(p []byte) uint64 { return xxh3.Hash(p) }
