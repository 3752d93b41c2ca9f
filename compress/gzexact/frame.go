package gzexact

import (
	"bytes"
	"encoding/binary"

	"orcomgo/internal/deflate"
)

// A frame is a stretch of a file of whole parts, with their text. Its description needs no other frame, unless it is carried on.
type frame struct {
	text     []byte // what matches may refer to, the text of the frame, some text behind it, and padBytes more bytes
	from, to int    // the text of the frame
	content  int    // where the text behind it ends

	writer    writer
	bit       byte // where in a byte the first part begins
	inside    bool // it begins within a member
	carriedOn bool // the writer goes on with all that it knew at the end of the frame before
	seen      int  // text that the writer saw before it, in the member or segment: from 2*windowSize on less by multiples of windowSize

	// What only describing needs.
	start      int64 // of text[0] in the text of the file
	memberText int64 // where the text of the member begins in it
	segment    int   // where in text the segment begins
	parts      []part
	ends       []int // of segments, behind from, ascending, as far as they are known
}

const (
	padBytes  = 8         // that loads of several bytes may read
	tailBytes = 136 << 10 // of text behind a frame, if the next one has it; no writer looks further ahead
	far       = 1 << 30   // more bytes than any number that matters

	// A frame ends behind so much text, so many parts or bytes of eventRaw.
	frameText  = 1 << 20
	frameParts = 1 << 13
	frameRaw   = 256 << 10
	maxRaw     = 64 << 10 // of a part

	// Each of so many members is a frame, and each of much text: they may be of several writers.
	singleMembers = 16
	leastMember   = frameText / 16
)

// kept returns how many of n bytes of text are kept for the next frame.
func kept(n int) int { return min(n, windowSize+n%windowSize) }

// A part is a header, a block with the trailer behind it if it is the last one of a member, or bytes behind the last member.
type part struct {
	event   int
	raw     []byte // of eventRaw
	block   block
	trailer uint64 // CRC-32 and size of the text, if the block is final
}

const trailerBytes = 8

// setWriter sets the writer, and what follows from it. same is true if that of the frame before is the same.
func (f *frame) setWriter(w writer, same bool) {
	f.writer = w
	if !f.inside {
		return
	}
	begins := int(f.memberText - f.start)
	if w.rules == aloneBlocks {
		begins = f.segment
	}
	if f.seen = f.from - begins; f.seen >= 2*windowSize {
		f.seen = windowSize + f.seen%windowSize
	}
	f.carriedOn = same && w.isSequential() && !(f.segment == f.from && w.startsAnew())
}

// A template is the header of the first member of a file. That of BGZF has the size of the member.
type template struct {
	header []byte
	sizeAt int // where in header the size less 1 of the member is, or 0
}

func newTemplate(header []byte) *template {
	t := &template{header: header}
	if deflate.IsBGZF(header) {
		t.sizeAt = deflate.BGZFHeader - 2
	}
	return t
}

// fits reports whether header is that of the template, for a member of so many bytes.
func (t *template) fits(header []byte, size int64) bool {
	want := t.header
	if t.sizeAt > 0 && size <= 1<<16 {
		want = bytes.Clone(want)
		binary.LittleEndian.PutUint16(want[t.sizeAt:], uint16(size-1))
	}
	return bytes.Equal(header, want)
}
