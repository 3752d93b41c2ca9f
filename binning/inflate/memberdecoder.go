package inflate

// MemberDecoder inflates members that FindMembers found. One goroutine at a time may use it.
type MemberDecoder struct {
	d    *decoder
	last []byte // for a text that has too little room behind it
}

// NewMemberDecoder returns a MemberDecoder. It takes about 125 KB of memory.
func NewMemberDecoder() *MemberDecoder {
	return &MemberDecoder{newDecoder(), make([]byte, bgzfMember+1+slack)}
}

// Inflate inflates members of b to dst, end to end from its beginning on, and calls each with the text of every member that is right.
// dst must have room for all of their texts; nothing is written behind these. At the first member that is invalid, or not what its
// footer says, it ends, and returns how many are before it. A Reader says what is wrong with that one.
func (m *MemberDecoder) Inflate(dst, b []byte, members []Member, each func(i int, text []byte)) (right int) {
	total := 0
	for i := range members {
		total += int(members[i].Length)
	}
	rest := dst[:total]
	for i := range members {
		if !m.member(rest, b, &members[i]) {
			return i
		}
		text := rest[:members[i].Length]
		each(i, text)
		rest = rest[len(text):]
	}
	return len(members)
}

// member inflates a member of b to the beginning of dst. It returns false unless the member is right.
func (m *MemberDecoder) member(dst, b []byte, k *Member) bool {
	n, out := int(k.Length), dst
	// The decoder writes more than the text, and one byte shows that a text is too long.
	if n+1+slack > len(out) {
		out = m.last
	}
	d := m.d
	d.wide, d.wideEnd, d.out, d.low, d.n, d.limit = false, 0, out, 0, 0, n+1
	// The last symbols of the stream are decoded faster if some bytes follow it.
	d.reset(b[:min(len(b), int(k.From+k.Size)+fastInput)], 8*int(k.From))
	if d.run(1<<62) != memberEnds || d.bit > 8*int(k.From+k.Size) || d.n != n || updateCRC(0, out[:n]) != k.CRC {
		return false
	}
	if &out[0] == &m.last[0] {
		copy(dst[:n], out)
	}
	return true
}
