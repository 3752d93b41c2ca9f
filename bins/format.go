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

// Version is the newest version of the format. It is written where files of inputs are recorded (record.Source), inputs have
// further mates or names are stored as zstd frames, and version 2 elsewhere, which is the same but for that. Version 1 is read as well:
// it has other chunks of names and qualities, and another text hash.
const (
	Version         = 3
	versionNoSource = 2
	MinVersion      = 1 // the oldest that is read
)

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
	qualChunk = 1 << 20

	qualChunkV1 = 1 << 17 // of version 1
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

// chunkSize returns how many bytes before compression a chunk of a section holds, in a version of the format.
func chunkSize(section int, version uint32) uint64 {
	switch {
	case section == secNames:
		return nameChunk
	case section == secQuals && version == 1:
		return qualChunkV1
	case section == secQuals:
		return qualChunk
	}
	return rawChunk
}

// How a chunk of names or qualities is stored.
const (
	chunkRaw    = iota // as it is
	chunkSame          // one byte, repeated
	chunkHuff          // huff0, four streams with their table; version 1
	chunkZstd          // a zstd frame; version 1, and names from version 3 on
	chunkStream        // qualities as a coded stream (package entropy)
	chunkNames         // coded names (package entropy)
)

// knownMethod reports whether a chunk of a section can be stored so in a version of the format.
func knownMethod(method uint8, section int, version uint32) bool {
	switch {
	case version == 1:
		return method <= chunkZstd
	case section == secNames:
		return method == chunkRaw || method == chunkNames || method == chunkZstd && version > versionNoSource
	}
	return method == chunkRaw || method == chunkSame || method == chunkStream
}

func dataHeader(version uint32, id [16]byte) []byte {
	h := append(make([]byte, 0, dataHeaderLen), dataMagic...)
	h = binary.LittleEndian.AppendUint32(h, version)
	h = binary.LittleEndian.AppendUint32(h, 0)
	return append(h, id[:]...)
}

func metaHeader(version uint32) []byte {
	h := append(make([]byte, 0, metaHeaderLen), metaMagic...)
	h = binary.LittleEndian.AppendUint32(h, version)
	return binary.LittleEndian.AppendUint32(h, 0)
}

// checkHeader checks the magic of the head of a file and returns its version.
func checkHeader(path string, head []byte, magic string) (version uint32, err error) {
	if string(head[:8]) != magic {
		return 0, fmt.Errorf("%s: %w: it does not begin as it should", path, parse.ErrCorrupt)
	}
	version = binary.LittleEndian.Uint32(head[8:])
	if version < MinVersion || version > Version {
		return 0, fmt.Errorf("%s: %w %d, this program reads versions %d to %d", path, parse.ErrVersion, version, MinVersion, Version)
	}
	if binary.LittleEndian.Uint32(head[12:]) != 0 {
		return 0, fmt.Errorf("%s: %w: reserved bytes are set", path, parse.ErrCorrupt)
	}
	return version, nil
}

// footer returns the end of the meta file of a version for the trailer given, and the archive's ID: the
// XXH3-128 of the meta file's header, trailer and footer up to the ID. The trailer holds
// the checksums of the directories and these hold those of all sections, so the ID depends on
// every byte of both files.
func footer(version uint32, trailer []byte, trailerAt, dataSize uint64) ([]byte, [16]byte) {
	f := binary.LittleEndian.AppendUint64(nil, trailerAt)
	f = binary.LittleEndian.AppendUint64(f, uint64(len(trailer)))
	f = binary.LittleEndian.AppendUint64(f, dataSize)
	h := xxh3.New()
	h.Write(metaHeader(version))
	h.Write(trailer)
	h.Write(f)
	id := h.Sum128().Bytes()
	f = append(f, id[:]...)
	return append(f, endMagic...), id
}

// sum returns the checksum of a chunk as it is stored.
func sum(p []byte) uint64 { return xxh3.Hash(p) }
