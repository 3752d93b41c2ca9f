package inflate

// MemberDecoder inflates members that FindMembers found, two at once where the processor has the instructions for that. One goroutine
// at a time may use it.
type MemberDecoder struct {
	lanes [2]lane
}

// NewMemberDecoder returns a MemberDecoder. It takes about 250 KB of memory.
func NewMemberDecoder() *MemberDecoder {
	m := new(MemberDecoder)
	both := new([2]tables) // decodePair needs them next to each other
	for i := range m.lanes {
		m.lanes[i] = lane{d: &decoder{own: &both[i]}, last: make([]byte, bgzfMember+1+slack)}
	}
	return m
}

// pairInput is how many bytes of input, from that of the next bit on, decodePair needs to decode two entries. For each it loads the 8
// bytes at a place, and that moves by 7 at most.
const pairInput = 24

// Inflate inflates members of b to dst, end to end from its beginning on, and calls each with the text of every member that is right,
// in any order. dst must have room for all of their texts; nothing is written behind these. Not all members after one that is
// invalid, or not what its footer says, are inflated. Inflate returns how many are before the first such member. A Reader says what
// is wrong with that one.
func (m *MemberDecoder) Inflate(dst, b []byte, members []Member, each func(i int, text []byte)) (right int) {
	first, second := &m.lanes[0], &m.lanes[1]
	half := (len(members) + 1) / 2
	n := first.begin(dst, b, members[:half], each)
	second.begin(dst[n:], b, members[half:], func(i int, text []byte) { each(half+i, text) })
	for pairs := hasPairs(); pairs && first.advance(true) && second.advance(true); {
		pairs = decodePair(first.d, second.d)
	}
	first.advance(false)
	if first.next < half {
		return first.next
	}
	second.advance(false)
	return half + second.next
}

// lane inflates members one after the other. They are end to end in memory, since decoding one writes into the place of the next.
type lane struct {
	d    *decoder
	last []byte // for a text that has too little room behind it

	b, dst   []byte
	members  []Member
	each     func(i int, text []byte)
	next     int  // the member that is being inflated, or is next; those before are right
	at       int  // where in dst its text begins
	inMember bool // it has been started
}

// begin prepares for members, and returns how many bytes of text they have.
func (l *lane) begin(dst, b []byte, members []Member, each func(i int, text []byte)) int {
	n := 0
	for i := range members {
		n += int(members[i].Length)
	}
	l.b, l.dst, l.members, l.each = b, dst[:n], members, each
	l.next, l.at, l.inMember = 0, 0, false
	return n
}

// advance inflates until the end of the members, or up to one that is not right, and returns false. If pausing is set, it returns
// true where decodePair can go on.
func (l *lane) advance(pausing bool) bool {
	l.d.pausing = pausing
	for l.next < len(l.members) {
		m := &l.members[l.next]
		if !l.inMember {
			l.start(m)
		}
		s := memberEnds
		if !l.d.endsMember() { // decodePair may have come to the end
			s = l.d.run(1 << 62)
		}
		if s == atCodes {
			return true
		}
		if !l.end(m, s) {
			return false
		}
		l.each(l.next, l.dst[l.at:][:m.Length])
		l.at += int(m.Length)
		l.next++
	}
	return false
}

// start starts to inflate a member.
func (l *lane) start(m *Member) {
	out, at := l.dst, l.at
	// The decoder writes more than the text, and one byte shows that a text is too long.
	if at+int(m.Length)+1+slack > len(out) {
		out, at = l.last, 0
	}
	d := l.d
	d.wide, d.wideEnd, d.out, d.low, d.n, d.limit = false, 0, out, at, at, at+int(m.Length)+1
	// The last symbols of the stream are decoded faster if some bytes follow it.
	d.reset(l.b[:min(len(l.b), int(m.From+m.Size)+pairInput)], 8*int(m.From))
	l.inMember = true
}

// end ends a member where the decoder stopped. It returns false unless the member is right.
func (l *lane) end(m *Member, s status) bool {
	l.inMember = false
	d := l.d
	if s != memberEnds || d.bit > 8*int(m.From+m.Size) || d.n != d.low+int(m.Length) || updateCRC(0, d.out[d.low:d.n]) != m.CRC {
		return false
	}
	if &d.out[0] == &l.last[0] {
		copy(l.dst[l.at:][:m.Length], l.last)
	}
	return true
}
