package binning

import (
	"bufio"
	"errors"
	"io"
	"math"
	"sync/atomic"

	"orcomgo/binning/inflate"
	"orcomgo/internal/tasks"
)

// memberInflater is the part of a TextBuffer that inflates members of BGZF.
type memberInflater interface {
	// Inflates reports whether the text can inflate members. It can't while it is in memory of the host
	// because the GPU has too little.
	Inflates() bool
	// Regions returns buffers for compressed bytes, each of 64 KiB or more. The caller calls release when
	// it does not use them any more. The error errLeaveBGZF means that the members have to be inflated in
	// another way.
	Regions() (regions [][]byte, release func(), err error)
	// Inflate begins to inflate members that are in a region. Their texts are stored end to end from offset
	// at of the text on, where there must be room. Until Inflated has returned, the region must not change;
	// after an error it may. The error errLeaveBGZF is as for Regions.
	Inflate(region int, members []inflate.Member, at int) error
	// Inflated waits until the members of the last Inflate of a region are inflated. The first right of
	// them are; the next one is not, or could not be checked. It returns the number of line ends of each
	// member as well, or nil if it doesn't count them.
	Inflated(region int) (right int, lines []int, err error)
}

// bgzfReader reads the members of a regular file for TextBuffers.
type bgzfReader struct {
	s       *source
	at      int64   // offset in the file of the next member
	last    int64   // offset of the last member that was inflated
	lastLen int     // bytes of its text
	counted int64   // bytes of the file that are counted as read
	batches []batch // by region; reused
}

// memberSlack is how many bytes more than asked for a bgzfReader stores at most.
const memberSlack = 64 << 10

// errLeaveBGZF means that a bgzfReader can't read the rest of the file: it is damaged, or is no BGZF, or
// lacks the empty member at the end, or there is too little memory. An inflate.Reader reads the rest, and
// says what is wrong with it.
var errLeaveBGZF = errors.New("not BGZF from here on")

// fill stores the texts of members, n bytes or more, from offset at of the text on. It returns how many
// bytes it stored, and io.EOF if the file ends after them. It marks line ends in counter. Each region is
// read while the members of the others are inflated.
func (b *bgzfReader) fill(text TextBuffer, at, n int, counter *lineCounter) (stored int, err error) {
	regions, release, err := text.Regions()
	if err != nil {
		return 0, err
	}
	defer release()
	b.batches = resize(b.batches, len(regions))
	first, count := 0, 0 // the batches that are being inflated: count of them, in a ring from first on
	defer func() {
		for ; count > 0; count-- { // before the regions and the text are used for something else
			if _, _, e := text.Inflated(first); e != nil && (err == nil || err == io.EOF || err == errLeaveBGZF) {
				err = e
			}
			first = (first + 1) % len(regions)
		}
	}()
	next := batch{at: b.at} // only at, end and err: what follows the last batch
	queued := 0             // bytes of text of all batches
	for more := true; ; {   // more: another batch may follow
		if more && count < len(regions) {
			region := (first + count) % len(regions)
			m := &b.batches[region]
			*m = batch{members: m.members[:0], at: next.at}
			b.load(m, regions[region], min(n-queued, (n+len(regions)-1)/len(regions)))
			next = batch{at: m.at + m.size, end: m.end, err: m.err}
			more = len(m.members) > 0 && !m.end && m.err == nil
			if len(m.members) > 0 {
				if err := text.Inflate(region, m.members, at+queued); err != nil {
					return stored, err
				}
				queued += m.length
				count++
				continue
			}
		}
		if count == 0 {
			switch {
			case next.err != nil:
				return stored, next.err
			case next.end && b.lastLen > 0:
				return stored, errLeaveBGZF // the empty member at the end is missing
			case next.end:
				return stored, io.EOF
			}
			return stored, nil
		}
		m := &b.batches[first]
		right, lines, err := text.Inflated(first)
		first, count = (first+1)%len(regions), count-1
		if err != nil {
			return stored, err
		}
		counter.add(m.members[:right], lines)
		stored += b.accept(m, right)
		if right < len(m.members) {
			return stored, errLeaveBGZF
		}
	}
}

// batch is members that are inflated together.
type batch struct {
	members []inflate.Member
	at      int64 // offset in the file of the first one
	size    int64 // bytes of the file that they take
	length  int   // bytes of their text
	end     bool  // the file ends after them
	err     error // why nothing can be read after them
}

// load reads members from offset m.at on, until they have n bytes of text or more or the region is full,
// and empty members that follow these. If n is 0 or less it reads only empty members: if the file ends
// after them, the text before them is the last.
func (b *bgzfReader) load(m *batch, region []byte, n int) {
	room := n + memberSlack - 1
	if n > 0 {
		// Members are hardly ever larger than their text. If these are, the batch has fewer of them.
		region = region[:min(len(region), n+memberSlack)]
	} else {
		room = 0
		region = region[:peekSize]
	}
	size, err := b.s.readRegion(region, m.at)
	if err != nil {
		m.err = err
		return
	}
	found := inflate.FindMembers(region[:size], room, m.members)
	m.members, m.size, m.length = found.Members, int64(found.End), found.Text
	whole := size < len(region) // all of the rest of the file is in the region
	switch found.Stop {
	case inflate.AtEnd:
		m.end = whole
	case inflate.Partial:
		if n > 0 && (whole || len(m.members) == 0) {
			m.err = errLeaveBGZF
		}
	case inflate.Other:
		m.err = errLeaveBGZF
	}
}

// peekSize is how many bytes are looked at for empty members.
const peekSize = 4 << 10

// accept advances by the first right members of a batch, and returns how many bytes of text they have.
func (b *bgzfReader) accept(m *batch, right int) (length int) {
	begin, end := int64(0), int64(0) // offsets of the last of them in the batch
	for i := range m.members[:right] {
		begin, end = end, m.members[i].End()
		length += int(m.members[i].Length)
	}
	if right > 0 {
		b.last, b.lastLen, b.at = m.at+begin, int(m.members[right-1].Length), m.at+end
	}
	b.s.count.Add(uint64(b.at - b.counted))
	b.counted = b.at
	b.s.tick()
	return length
}

// readRegion reads the file from an offset on, in several goroutines. It returns how many bytes it read:
// fewer than len(p) only if the file ends there.
func (s *source) readRegion(p []byte, at int64) (int, error) {
	pieces := (len(p) + fillPiece - 1) / fillPiece
	sizes := make([]int, pieces)
	var failed atomic.Pointer[error]
	tasks.NewPool(s.threads).Run(pieces, func(i int) {
		part := p[i*fillPiece : min((i+1)*fillPiece, len(p))]
		k, err := s.f.ReadAt(part, at+int64(i*fillPiece))
		if err != nil && err != io.EOF {
			err = s.wrap(err)
			failed.Store(&err)
		}
		sizes[i] = k
	})
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	n := 0
	for _, k := range sizes {
		n += k
		if k < fillPiece {
			break
		}
	}
	return n, nil
}

// lineCounter makes marks of the line ends of members.
type lineCounter struct {
	marks []Mark
	at    int  // in the text: line ends are counted up to there
	lines int  // that are before it
	last  int  // the last mark
	limit int  // no mark is after it
	none  bool // the text does not count line ends
}

// add counts the line ends of further members, each of which has so many; of none behind the limit.
func (c *lineCounter) add(members []inflate.Member, lines []int) {
	if c.none = c.none || lines == nil; c.none {
		return
	}
	for i := range members {
		if c.at+int(members[i].Length) > c.limit {
			break
		}
		c.at += int(members[i].Length)
		c.lines += lines[i]
		if c.at-c.last >= fillPiece {
			c.marks, c.last = append(c.marks, Mark{c.at, c.lines}), c.at
		}
	}
}

// end counts up to an offset, within the next member, and makes a mark there.
func (c *lineCounter) end(text TextBuffer, to int) error {
	if c.none {
		return nil
	}
	counts, err := text.CountLines(c.at, to)
	if err != nil {
		return err
	}
	for _, n := range counts {
		c.lines += n
	}
	if c.at = to; c.last < to {
		c.marks, c.last = append(c.marks, Mark{to, c.lines}), to
	}
	return nil
}

// fillMembers is fill for BGZF whose text a TextBuffer inflates. It may store up to memberSlack bytes more
// than n, and marks none of them. If the text doesn't count line ends, there are no further marks.
func (s *source) fillMembers(text TextBuffer, at, n, lines int, marks []Mark) (int, []Mark, error) {
	c := lineCounter{marks: marks, at: at, lines: lines, last: at, limit: at + n}
	done, err := s.bgzf.fill(text, at, n, &c)
	if err != nil && err != io.EOF && err != errLeaveBGZF {
		return done, marks, err
	}
	if done > 0 {
		if err := c.end(text, at+min(done, n)); err != nil {
			return done, marks, err
		}
	}
	if err != errLeaveBGZF {
		return done, c.marks, err
	}
	if err := s.leaveBGZF(); err != nil {
		return done, marks, err
	}
	if done >= n {
		return done, c.marks, nil
	}
	more, m, err := s.fillInflated(text, at+done, n-done, c.lines, c.marks)
	if c.none {
		m = marks
	}
	return done + more, m, err
}

// startBGZF makes a source of gzip have its members inflated by the texts, if it is a regular file that begins with BGZF. The
// caller has read the first n bytes of the text. It returns the text from there to the end of the member.
func (s *source) startBGZF(n int) ([]byte, error) {
	head := make([]byte, 2*n+memberSlack) // compressed bytes of the first n bytes of text and a member
	k, err := s.readRegion(head, 0)
	if err != nil {
		return nil, err
	}
	before := inflate.FindMembers(head[:k], n-1, nil)
	if before.Stop != inflate.Full {
		return nil, nil
	}
	// The text that was taken ends within the next member, or with it.
	found := inflate.FindMembers(head[before.End:k], memberSlack, nil)
	if len(found.Members) == 0 {
		return nil, nil
	}
	member := found.Members[0]
	if !rightMembers(head, before.Members) || !rightMembers(head[before.End:], found.Members[:1]) {
		return nil, nil // they have other sizes than they give
	}
	rest := make([]byte, before.Text+int(member.Length)-n)
	if _, err := s.Read(rest); err != nil && err != io.EOF {
		return nil, err
	}
	s.gzip.Close()
	s.gzip, s.rest, s.piece = nil, nil, nil
	s.first.stop()
	end := int64(before.End) + member.End()
	s.bgzf = &bgzfReader{s: s, at: end, last: int64(before.End), lastLen: int(member.Length), counted: end}
	s.count.Store(uint64(end))
	return rest, nil
}

// rightMembers reports whether members of b are what they say.
func rightMembers(b []byte, members []inflate.Member) bool {
	text := 0
	for _, m := range members {
		text += int(m.Length)
	}
	return inflate.NewMemberDecoder().Inflate(make([]byte, text), b, members, func(int, []byte) {}) == len(members)
}

// leaveBGZF continues with an inflate.Reader. It reads the last member that was inflated once more, and
// skips its text: then it treats what follows as if it had read the whole file, as it does for other gzip.
// The error is io.EOF if there is no more text.
func (s *source) leaveBGZF() error {
	b := s.bgzf
	s.bgzf = nil
	s.count.Add(-uint64(b.counted - b.last))
	rest := io.NewSectionReader(s.f, b.last, math.MaxInt64-b.last)
	s.startGzip(bufio.NewReaderSize(&counted{r: rest, n: s.count}, 1<<18), uint64(b.last))
	skip := make([]byte, b.lastLen)
	_, err := s.Read(skip)
	return err
}
