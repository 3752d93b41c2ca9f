package binning

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"orcomgo/bins/record"
)

// lineStarts has the offsets of the four lines of a record in the text.
type lineStarts struct{ name, seq, plus, qual uint32 }

// maxText is the longest text of a block; offsets in it are 32 bits.
const maxText = 1<<32 - 1

// parser parses records of four lines.
type parser struct {
	text      []byte
	last      bool // the text ends its input
	canonical bool
	quals     bool // a quality for each base; else the fourth line is empty
	forms     bool // set the codes of forms

	lineEnds []uint32 // offsets of '\n' that were found ahead, the next ones
	buffer   []uint32 // memory for these
	searched int      // up to which offset of the text they were searched for
	end      int      // up to which offset they may be
}

// start makes the parser ready for the records of bytes from..end-1. buffer is memory for offsets of line ends, twice newlineRoom or
// more.
func (p *parser) start(from, end int, buffer []uint32) {
	p.lineEnds, p.buffer = nil, buffer
	p.searched, p.end = from, end
}

// findLineEnds searches for more line ends, where there are less than four. It reports whether there are any.
func (p *parser) findLineEnds() bool {
	n := copy(p.buffer, p.lineEnds)
	found, searched := findNewlines(p.buffer[n:], p.text[:p.end], p.searched)
	p.searched = searched
	p.lineEnds = p.buffer[:n+found]
	return len(p.lineEnds) > 0
}

// parsed is a record that was parsed.
type parsed struct {
	lineStarts
	nameLen, seqLen int
	end             int   // offset of the next record
	code            uint8 // Plus << 4 | CR
	noNewline       bool
}

// mismatch is a RecordError without file and number.
type mismatch struct {
	expected, found string
	structural      bool
}

// line returns where the line at from ends, without its line end, and where the next
// begins, and whether it ended in CR LF. ok is false if there is no LF. Each line must begin where the one before ended.
func (p *parser) line(from int) (end, next int, cr, ok bool) {
	ok = len(p.lineEnds) > 0 || p.findLineEnds()
	if ok {
		end = int(p.lineEnds[0])
		next = end + 1
		p.lineEnds = p.lineEnds[1:]
	} else {
		end, next = len(p.text), len(p.text)
	}
	if !p.canonical && end > from && p.text[end-1] == '\r' {
		return end - 1, next, true, ok
	}
	return end, next, false, ok
}

// next parses the record at from, where the one before ended.
func (p *parser) next(from int, r *parsed) *mismatch {
	if len(p.lineEnds) < 4 {
		p.findLineEnds()
	}
	if p.plain(from, r) {
		return nil
	}
	return p.any(from, r)
}

// plain is next for the commonest records: four lines that end in LF, nothing after '+', and as many qualities as bases. It reports
// whether this is one; it needs four line ends.
func (p *parser) plain(from int, r *parsed) bool {
	if len(p.lineEnds) < 4 || !p.quals {
		return false
	}
	name, seq, plus, qual := int(p.lineEnds[0]), int(p.lineEnds[1]), int(p.lineEnds[2]), int(p.lineEnds[3])
	n := seq - name - 1
	// Line ends ascend, so that all the offsets are below the last one's.
	text := p.text[:qual]
	if text[from] != '@' || plus != seq+2 || text[seq+1] != '+' || qual-plus-1 != n ||
		text[name-1] == '\r' || text[seq-1] == '\r' || text[qual-1] == '\r' {
		return false
	}
	p.lineEnds = p.lineEnds[4:]
	*r = parsed{lineStarts{uint32(from), uint32(name + 1), uint32(seq + 1), uint32(plus + 1)}, name - from - 1, n, qual + 1, 0, false}
	return true
}

// any is next for records of all kinds.
func (p *parser) any(from int, r *parsed) *mismatch {
	if from >= len(p.text) || p.text[from] != '@' {
		return &mismatch{"'@'", p.show(from), true}
	}
	name, seq, nameCR, ok := p.line(from)
	if !ok {
		return &mismatch{"a sequence line", "the end of the file", true}
	}
	seqEnd, plus, seqCR, ok := p.line(seq)
	if !ok {
		return &mismatch{"a line with '+'", "the end of the file", true}
	}
	if plus >= len(p.text) || p.text[plus] != '+' {
		return &mismatch{"a line with '+'", p.show(plus), true}
	}
	plusEnd, qual, plusCR, ok := p.line(plus)
	if !ok {
		return &mismatch{"a quality line", "the end of the file", true}
	}
	qualEnd, end, qualCR, ok := p.line(qual)
	if !ok && !p.last {
		return &mismatch{"the end of the quality line", "the end of the block", true}
	}
	r.lineStarts = lineStarts{uint32(from), uint32(seq), uint32(plus), uint32(qual)}
	r.nameLen, r.seqLen, r.end, r.noNewline = name-from-1, seqEnd-seq, end, !ok
	want := 0
	if p.quals {
		want = r.seqLen
	}
	if got := qualEnd - qual; got != want {
		return &mismatch{fmt.Sprintf("%d qualities, as many as bases", want), fmt.Sprint(got), true}
	}
	r.code = 0
	if !p.forms {
		return nil
	}
	for i, cr := range [4]bool{nameCR, seqCR, plusCR, qualCR} {
		if cr {
			r.code |= 1 << i
		}
	}
	if plusEnd-plus > 1 {
		if bytes.Equal(p.text[plus+1:plusEnd], p.text[from+1:name]) {
			r.code |= uint8(record.PlusName) << 4
		} else {
			r.code |= uint8(record.PlusText) << 4
		}
	}
	return nil
}

// plusText returns what follows the '+' of a record.
func (p *parser) plusText(at lineStarts) string {
	text := p.text[at.plus+1:]
	if n := indexNewline(text); n >= 0 {
		text = text[:n]
	}
	if n := len(text); !p.canonical && n > 0 && text[n-1] == '\r' {
		text = text[:n-1]
	}
	return string(text)
}

// show describes the byte at an offset.
func (p *parser) show(at int) string {
	if at >= len(p.text) {
		return "the end of the file"
	}
	return showByte(p.text[at])
}

func showByte(c byte) string {
	switch {
	case c == '\n' || c == '\r':
		return "the end of the line"
	case c > 32 && c < 127:
		return fmt.Sprintf("'%c'", c)
	case c == ' ':
		return "a space"
	}
	return fmt.Sprintf("byte %d", c)
}

// blankTail returns the offset of the blank lines at the end of a text, len(text) if there are
// none.
func blankTail(text []byte) int {
	end := len(text)
	for end > 0 && text[end-1] == '\n' {
		at := end - 1
		if at > 0 && text[at-1] == '\r' {
			at--
		}
		if at > 0 && text[at-1] != '\n' {
			break // the LF ends a line that is not blank
		}
		end = at
	}
	return end
}

// checkContent checks the letters and qualities of a parsed record.
func checkContent(seq, qual []byte) *mismatch {
	at := 0
	for ; at+8 <= len(seq); at += 8 {
		if eightLetters(seq[at:]) {
			continue
		}
		for _, c := range seq[at : at+8] {
			if !letters[c] {
				return badLetter(c)
			}
		}
	}
	for _, c := range seq[at:] {
		if !letters[c] {
			return badLetter(c)
		}
	}
	for _, c := range qual {
		if c < minQual || c > maxQual {
			return &mismatch{"a quality from '!' to '~'", showInside(c), false}
		}
	}
	return nil
}

// eightLetters reports whether the first eight bytes are letters from A to Z in either case.
func eightLetters(seq []byte) bool {
	const each = 0x0101010101010101
	w := binary.LittleEndian.Uint64(seq)
	lower := w | 0x20*each
	fromA, afterZ := lower+(0x80-'a')*each, lower+(0x7f-'z')*each // their top bits, unless w has such bits
	return fromA&^afterZ&^w&(0x80*each) == 0x80*each
}

const (
	minQual = '!'
	maxQual = '~'
)

func isLetter(c byte) bool {
	l := c | 0x20
	return l >= 'a' && l <= 'z' || c == '.' || c == '-' || c == '*'
}

// letters has isLetter of each byte.
var letters = func() (t [256]bool) {
	for c := range t {
		t[c] = isLetter(byte(c))
	}
	return t
}()

func badLetter(c byte) *mismatch {
	return &mismatch{"a base (a letter, '.', '-' or '*')", showInside(c), false}
}

// showInside describes a byte inside a line: a CR there does not end it.
func showInside(c byte) string {
	if c == '\r' {
		return "a carriage return inside the line"
	}
	return showByte(c)
}
