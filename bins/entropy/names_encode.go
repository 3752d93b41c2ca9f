package entropy

import (
	"bytes"
	"encoding/binary"
)

// AppendNames appends a chunk of the names column, less than 2^24 bytes, coded as names to dst. The result may be longer
// than the chunk.
func (s *Encoder) AppendNames(dst, chunk []byte) []byte {
	s.names.split(chunk)
	at := len(dst)
	dst = append(dst, make([]byte, namesHeader)...)
	for i, symbols := range s.names {
		start := len(dst)
		dst = s.AppendStream(dst, symbols, false)
		binary.LittleEndian.PutUint32(dst[at+8*i:], uint32(len(symbols)))
		binary.LittleEndian.PutUint32(dst[at+8*i+4:], uint32(len(dst)-start))
	}
	return dst
}

// splitter turns names into streams.
type splitter struct {
	chunk []byte
	// What is written so far of the kinds and literals.
	kinds, literals           []byte
	kindsWritten, litsWritten int
}

// split turns a chunk of names into the streams.
func (n *nameStreams) split(chunk []byte) {
	lines := bytes.Count(chunk, []byte{'\n'})
	if len(chunk) > 0 && chunk[len(chunk)-1] != '\n' {
		lines++
	}
	for i := range streamKinds {
		n[i] = resized(n[i], lines)
	}
	// Neither kinds nor literals take more bytes than the names themselves.
	s := splitter{chunk: chunk, kinds: resized(n[streamKinds], len(chunk)), literals: resized(n[streamLiterals], len(chunk)+wide)}
	var both [2]nameLine
	line, before := &both[0], &both[1]
	at := 0
	for i := range lines {
		end := bytes.IndexByte(chunk[at:], '\n') + at
		if end < at {
			end = len(chunk)
		}
		same := line.cut(chunk, at, end, before)
		differ := s.compare(line, before, same)
		n[streamCounts][i], n[streamLow][i], n[streamHigh][i] = uint8(line.tokens), uint8(differ), uint8(differ>>8)
		line, before = before, line
		at = end + 1
	}
	n[streamKinds], n[streamLiterals] = s.kinds[:s.kindsWritten], s.literals[:s.litsWritten]
}

// cut finds the tokens of the line from start to end, and returns how many of the first ones it has in common with the line
// before, or fewer.
func (l *nameLine) cut(chunk []byte, start, end int, before *nameLine) int {
	text := chunk[start:end]
	// A token is the same if it ends within the common prefix: what follows it is the same, too.
	prefix := int32(commonPrefix(text, chunk[before.start:before.start+before.size()]))
	same := 0
	for same < before.tokens && before.ends[same+1] < prefix {
		same++
	}
	l.start, l.ends = start, before.ends
	k, at := same, int(l.ends[same])
	for at < len(text) && k < maxTokens-1 {
		digit := isDigit(text[at])
		for at++; at < len(text) && isDigit(text[at]) == digit; at++ {
		}
		k++
		l.ends[k] = int32(at)
	}
	if at < len(text) {
		k++
		l.ends[k] = int32(len(text))
	}
	l.tokens = k
	return same
}

// compare adds the tokens from number from on that differ from those of the line before. It returns a bit for each.
func (s *splitter) compare(line, before *nameLine, from int) (differ int) {
	for k := from; k < line.tokens; k++ {
		text, old := line.token(s.chunk, k), before.token(s.chunk, k)
		if s.equal(line.start+int(line.ends[k]), before.start+int(before.ends[k]), text, old) {
			continue
		}
		differ |= 1 << k
		if k < maxTokens-1 {
			if d := delta(old, text); d > 0 {
				s.kinds[s.kindsWritten] = uint8(d)
				s.kindsWritten++
				continue
			}
		}
		s.literal(text, s.chunk[line.start+int(line.ends[k]):])
	}
	return differ
}

// equal reports whether two tokens, which begin at a and b, are equal.
func (s *splitter) equal(a, b int, text, old []byte) bool {
	n := len(text)
	if n != len(old) {
		return false
	}
	if n <= 8 && a+8 <= len(s.chunk) && b+8 <= len(s.chunk) {
		return (load64(s.chunk[a:])^load64(s.chunk[b:]))<<(64-8*uint(n)) == 0
	}
	return bytes.Equal(text, old)
}

// literal adds a literal, with which rest begins.
func (s *splitter) literal(text, rest []byte) {
	n := len(text)
	if n <= maxLiteral {
		s.kinds[s.kindsWritten] = uint8(literal + n)
		s.kindsWritten++
	} else {
		copy(s.kinds[s.kindsWritten:], []byte{longLiteral, uint8(n), uint8(n >> 8), uint8(n >> 16)})
		s.kindsWritten += 4
	}
	copyShort(s.literals[s.litsWritten:], rest, n)
	s.litsWritten += n
}

// delta returns by how much the number in text is larger than that in old, if it is coded as a number; else 0.
func delta(old, text []byte) int {
	if len(old) == 0 || len(old) > maxPlaces || len(text) < len(old) || len(text) > len(old)+2 ||
		!isDigit(text[0]) || !isDigit(old[0]) || len(text) > len(old) && text[0] == '0' {
		return 0
	}
	if len(text) == len(old) && len(text) > 3 && text[0]-old[0] > 1 {
		return 0 // the first of four digits or more can only grow by one; without this, most numbers would be parsed in vain
	}
	if d := number(text) - number(old); d >= 1 && d <= maxDelta {
		return d
	}
	return 0
}

// number returns the value of digits, of which there are only a few more than maxPlaces.
func number(digits []byte) int {
	v := 0
	for _, c := range digits {
		v = 10*v + int(c-'0')
	}
	return v
}
