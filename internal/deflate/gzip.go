package deflate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// ErrHeader says that there is no header of a gzip member.
var ErrHeader = errors.New("deflate: invalid gzip header")

// ErrShort says that there are too few bytes to tell more.
var ErrShort = errors.New("deflate: short header")

// Flags of a header.
const (
	FlagExtra     = 1 << 2
	FlagName      = 1 << 3
	FlagComment   = 1 << 4
	FlagHeaderCRC = 1 << 1
	flagsKnown    = 1<<5 - 1

	// LongestName is how long a name or comment may be, its zero byte included. It is the
	// same in compress/gzip.
	LongestName = 512
)

// HeaderSize returns the size of the header of a gzip member (RFC 1952) that b begins with:
// ErrShort if b ends before the header does, ErrHeader if it is none.
func HeaderSize(b []byte) (int, error) {
	if len(b) < 10 {
		return 0, ErrShort
	}
	if b[0] != 0x1f || b[1] != 0x8b || b[2] != 8 {
		return 0, ErrHeader
	}
	flags, n := b[3], 10
	if flags&FlagExtra != 0 {
		if len(b) < n+2 {
			return 0, ErrShort
		}
		n += 2 + int(binary.LittleEndian.Uint16(b[n:]))
		if len(b) < n {
			return 0, ErrShort
		}
	}
	for _, flag := range []byte{FlagName, FlagComment} {
		if flags&flag == 0 {
			continue
		}
		k := bytes.IndexByte(b[n:min(len(b), n+LongestName)], 0)
		switch {
		case k >= 0:
			n += k + 1
		case len(b) < n+LongestName:
			return 0, ErrShort
		default:
			return 0, ErrHeader
		}
	}
	if flags&FlagHeaderCRC != 0 {
		if len(b) < n+2 {
			return 0, ErrShort
		}
		if binary.LittleEndian.Uint16(b[n:]) != uint16(crc32.ChecksumIEEE(b[:n])) {
			return 0, ErrHeader
		}
		n += 2
	}
	if flags&^flagsKnown != 0 {
		return 0, ErrHeader
	}
	return n, nil
}

// BGZFHeader is how many bytes the header of a member of BGZF has, as every known program writes it: its extra field is the size alone.
const BGZFHeader = 18

// MaybeBGZF reports whether b begins with such a header, or with a part of one and ends.
func MaybeBGZF(b []byte) bool {
	return begins(b, "\x1f\x8b\x08\x04") && begins(b[min(10, len(b)):], "\x06\x00BC\x02\x00")
}

func begins(b []byte, want string) bool {
	n := min(len(b), len(want))
	return string(b[:n]) == want[:n]
}

// IsBGZF reports whether b begins with such a header.
func IsBGZF(b []byte) bool { return len(b) >= BGZFHeader && MaybeBGZF(b) }
