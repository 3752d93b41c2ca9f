package inflate

import "hash/crc32"

// MemberDecoder inflates members that FindMembers found. One goroutine at a time may use it.
type MemberDecoder struct {
	d    *decoder
	last []byte // for a text that has too little room behind it
}

// NewMemberDecoder returns a MemberDecoder. It takes about 100 KB of memory.
func NewMemberDecoder() *MemberDecoder {
	return &MemberDecoder{d: newDecoder(), last: make([]byte, bgzfMember+1+slack)}
}

// Inflate inflates members of b to dst, end to end from its beginning on, and calls each with the text of
// every member that is right. dst must have room for all of their texts; nothing is written behind these.
// Inflate stops at a member that is invalid, or not what its footer says, and returns how many are before it.
// A Reader says what is wrong with that one.
func (m *MemberDecoder) Inflate(dst, b []byte, members []Member, each func(i int, text []byte)) (right int) {
	total := 0
	for i := range members {
		total += int(members[i].Length)
	}
	dst = dst[:total]
	at := 0
	for i := range members {
		n := int(members[i].Length)
		text := dst[at : at+n]
		if at+n+1+slack <= total {
			if !m.d.member(b, &members[i], dst, at) {
				return i
			}
		} else {
			// The decoder writes more than the text, and one byte shows that a text is too long.
			if !m.d.member(b, &members[i], m.last, 0) {
				return i
			}
			copy(text, m.last)
		}
		each(i, text)
		at += n
	}
	return len(members)
}

// member inflates a member of BGZF to a place in out, where there must be room for its text and slack+1
// bytes more. It returns false unless the member is right.
func (d *decoder) member(b []byte, m *Member, out []byte, at int) bool {
	n := int(m.Length)
	if n > bgzfMember {
		return false
	}
	d.wide, d.wideEnd, d.out, d.low, d.n, d.limit = false, 0, out, at, at, at+n+1
	d.reset(b[:m.From+m.Size], 8*int(m.From))
	return d.run(1<<62) == memberEnds && d.n == at+n && crc32.ChecksumIEEE(out[at:d.n]) == m.CRC
}
