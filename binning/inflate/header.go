package inflate

import (
	"bytes"
	"encoding/binary"
	"errors"

	"orcomgo/internal/deflate"
)

// The errors of gzip data, besides CorruptError, GarbageError and io.ErrUnexpectedEOF.
var (
	ErrHeader   = deflate.ErrHeader
	ErrChecksum = errors.New("inflate: invalid gzip checksum")
	// ErrBGZFEnd says that the empty member is missing that bgzip files end with.
	ErrBGZFEnd = errors.New("the bgzip end-of-file block is missing: is the file truncated?")
)

const footerSize = 8

// BGZF (SAM specification, section 4.1) is gzip in members of at most 64 KiB of text that
// give their own size in an extra field. The last member is empty; without it the file was
// cut off.
const (
	bgzfHeader = deflate.BGZFHeader
	bgzfMember = 1 << 16
	bgzfLeast  = bgzfHeader + 2 + footerSize // a stream has two bytes at least
)

// bgzfSize returns the size of the BGZF member with this header.
func bgzfSize(head []byte) int { return int(binary.LittleEndian.Uint16(head[16:])) + 1 }

// mayFollow reports whether what follows a member of BGZF may be b: another member, of whatever gzip, padding, or the end. If not, the size
// that the member gives is probably wrong.
func mayFollow(b []byte) bool {
	b = b[:min(len(b), bgzfHeader)]
	gzip := []byte{0x1f, 0x8b, 8}
	return len(bytes.Trim(b, "\x00")) == 0 || bytes.HasPrefix(b, gzip) || bytes.HasPrefix(gzip, b)
}

// memberSum returns what a member's footer says of its text.
func memberSum(footer []byte) (crc, size uint32) {
	return binary.LittleEndian.Uint32(footer), binary.LittleEndian.Uint32(footer[4:])
}
