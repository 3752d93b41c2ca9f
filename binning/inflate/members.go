package inflate

import (
	"math"

	"orcomgo/internal/deflate"
)

// Member is where a BGZF member's deflate stream is in a buffer, and what the member's footer says
// of its text.
type Member struct {
	From, Size  uint32 // bytes
	Length, CRC uint32
}

// End returns where the member ends in the buffer.
func (m *Member) End() int64 { return int64(m.From) + int64(m.Size) + footerSize }

// Stop says why no further member was found.
type Stop uint8

// The reasons of Stop.
const (
	AtEnd   Stop = iota // the buffer ends where a member does
	Partial             // the buffer ends within what may be a member
	Full                // the text of the next member has no room
	// Other means that what follows is no member of BGZF: another kind of gzip, padding, garbage. Or it
	// gives sizes which BGZF doesn't have. A Reader says what it is.
	Other
)

// Found are the members of BGZF that a buffer begins with.
type Found struct {
	Members []Member
	End     int // bytes of the buffer that they take
	Text    int // bytes of text that they have
	Stop    Stop
}

// FindMembers finds the BGZF members that b begins with, without inflating them, as long as their
// texts have no more than room bytes together. It appends them to members. What is in their deflate
// streams may still be invalid. Of b at most 4 GiB are looked at.
//
// A program that goes on behind End needs to know that the last member of a file is empty; without it the
// file was cut off (ErrBGZFEnd).
func FindMembers(b []byte, room int, members []Member) Found {
	b = b[:min(int64(len(b)), math.MaxUint32)]
	f := Found{Members: members}
	stop := func(why Stop) Found {
		f.Stop = why
		return f
	}
	for {
		rest := b[f.End:]
		if len(rest) == 0 {
			return stop(AtEnd)
		}
		if !deflate.MaybeBGZF(rest) {
			return stop(Other)
		}
		if len(rest) < bgzfHeader {
			return stop(Partial)
		}
		size := bgzfSize(rest)
		if size < bgzfLeast {
			return stop(Other)
		}
		if size > len(rest) {
			return stop(Partial)
		}
		if !mayFollow(rest[size:]) {
			return stop(Other)
		}
		crc, n := memberSum(rest[size-footerSize:])
		if n > bgzfMember {
			return stop(Other)
		}
		if int(n) > room-f.Text {
			return stop(Full)
		}
		f.Members = append(f.Members, Member{uint32(f.End + bgzfHeader), uint32(size - bgzfHeader - footerSize), n, crc})
		f.End += size
		f.Text += int(n)
	}
}
