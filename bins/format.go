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

// Version is the version of the format.
const Version = 1

const (
	dataHeaderLen = 8 + 4 + 4 + 16 // magic, version, zero, ID
	metaHeaderLen = 8 + 4 + 4      // magic, version, zero
	footerLen     = 8 + 8 + 8 + 16 + 16 + 8
)

// chunkSize is how many bytes before compression a chunk of a section has. A checksum covers a chunk as it is stored.
const chunkSize = 1 << 20

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

// How a chunk of names or qualities is stored.
const (
	chunkRaw   = iota // as it is
	chunkSame         // one byte, repeated; qualities only
	chunkCoded        // as package entropy codes it: names as names, qualities as a stream
)

// knownMethod reports whether a chunk of a section can be stored so.
func knownMethod(method uint8, section int) bool {
	return method <= chunkCoded && (method != chunkSame || section == secQuals)
}

func dataHeader(id [16]byte) []byte {
	h := append(make([]byte, 0, dataHeaderLen), commit.BinsDataMagic...)
	h = binary.LittleEndian.AppendUint32(h, Version)
	h = binary.LittleEndian.AppendUint32(h, 0)
	return append(h, id[:]...)
}

func metaHeader() []byte {
	h := append(make([]byte, 0, metaHeaderLen), commit.BinsMetaMagic...)
	h = binary.LittleEndian.AppendUint32(h, Version)
	return binary.LittleEndian.AppendUint32(h, 0)
}

// checkHeader checks the magic and the version of the head of a file.
func checkHeader(path string, head []byte, magic string) error {
	if string(head[:8]) != magic {
		return fmt.Errorf("%s: %w: it does not begin as it should", path, parse.ErrCorrupt)
	}
	if version := binary.LittleEndian.Uint32(head[8:]); version != Version {
		return fmt.Errorf("%s: %w %d, this program reads version %d", path, parse.ErrVersion, version, Version)
	}
	if binary.LittleEndian.Uint32(head[12:]) != 0 {
		return fmt.Errorf("%s: %w: reserved bytes are set", path, parse.ErrCorrupt)
	}
	return nil
}

// footer returns the end of the meta file for the trailer and ID given. Its checksum is of the meta file's header, trailer, and the rest
// of the footer. The trailer holds the checksums of the directories and these hold those of all sections, so it depends on every byte of
// both files but the ID in the data file.
func footer(trailer []byte, id [16]byte, trailerAt, dataSize uint64) []byte {
	f := binary.LittleEndian.AppendUint64(nil, trailerAt)
	f = binary.LittleEndian.AppendUint64(f, uint64(len(trailer)))
	f = binary.LittleEndian.AppendUint64(f, dataSize)
	h := xxh3.New()
	h.Write(metaHeader())
	h.Write(trailer)
	h.Write(f)
	h.Write(id[:])
	sum := h.Sum128().Bytes()
	f = append(f, sum[:]...)
	f = append(f, id[:]...)
	return append(f, commit.BinsMetaEnd...)
}

// sum returns the checksum of a chunk as it is stored.
func sum(p []byte) uint64 { return xxh3.Hash(p) }
