package entropy

import (
	"bytes"
	"encoding/binary"
	"math/bits"
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
	last  nameLine // the line before
	first int      // which token was the first that differed, in the last line with one
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
	at := 0
	for i := range lines {
		end := bytes.IndexByte(chunk[at:], '\n') + at
		if end < at {
			end = len(chunk)
		}
		differ := s.line(at, end)
		n[streamCounts][i], n[streamLow][i], n[streamHigh][i] = uint8(s.last.tokens), uint8(differ), uint8(differ>>8)
		at = end + 1
	}
	n[streamKinds], n[streamLiterals] = s.kinds[:s.kindsWritten], s.literals[:s.litsWritten]
}

// line adds the tokens of the line from start to end that differ from those of the line before. It returns a bit for each. Then
// s.last is this line.
func (s *splitter) line(start, end int) (differ int) {
	l := &s.last
	oldStart, oldSize, oldTokens := l.start, int(l.ends[l.tokens]), l.tokens
	text, old, size := s.chunk[start:], s.chunk[oldStart:], end-start
	// Token k begins at a in this line, at b in the line before. Of l.ends what is up to k is of this line, the rest of the one before.
	k, a, b := 0, 0, 0
	for a < size {
		same := commonPrefix(text[a:], old[b:], min(size-a, oldSize-b))
		shift := a - b
		if a+same == size && b+same == oldSize {
			if shift != 0 {
				for i := k + 1; i <= oldTokens; i++ {
					l.ends[i] += int32(shift)
				}
			}
			k = oldTokens
			break
		}
		// A token is the same if it ends within the common prefix: what follows it is the same, too.
		edge := b + same
		if h := s.first; k == 0 && h < oldTokens && int(l.ends[h]) < edge && int(l.ends[h+1]) >= edge {
			k, b = h, int(l.ends[h]) // as in the line before
		}
		for ; k < oldTokens && int(l.ends[k+1]) < edge; k++ {
			b = int(l.ends[k+1])
			l.ends[k+1] = int32(b + shift)
		}
		same -= b + shift - a
		a = b + shift
		next, oldNext := size, b
		if k < oldTokens {
			oldNext = int(l.ends[k+1])
		}
		if k < maxTokens-1 {
			next = a + tokenSize(text[a:], size-a)
		}
		if n := next - a; n != oldNext-b || n > same {
			if differ == 0 {
				s.first = k
			}
			differ |= 1 << k
			d := 0
			if k < maxTokens-1 {
				d = s.delta(oldStart+b, oldNext-b, start+a, n)
			}
			if d > 0 {
				s.kinds[s.kindsWritten] = uint8(d)
				s.kindsWritten++
			} else {
				s.literal(text[a:], n)
			}
		}
		k++
		l.ends[k] = int32(next)
		a, b = next, oldNext
	}
	l.start, l.tokens = start, k
	return differ
}

// literal adds the first n bytes of text as a literal.
func (s *splitter) literal(text []byte, n int) {
	if n <= maxLiteral {
		s.kinds[s.kindsWritten] = uint8(literal + n)
		s.kindsWritten++
	} else {
		copy(s.kinds[s.kindsWritten:], []byte{longLiteral, uint8(n), uint8(n >> 8), uint8(n >> 16)})
		s.kindsWritten += 4
	}
	copyShort(s.literals[s.litsWritten:], text, n)
	s.litsWritten += n
}

// tokenSize returns how many of the first n bytes of text, one at least, are digits, or how many are others, up to the first one that is
// not like them.
func tokenSize(text []byte, n int) int {
	digit := isDigit(text[0])
	at := 0
	for ; at < n && at+8 <= len(text); at += 8 {
		// The highest bit of each byte is set if that is no digit.
		x := load64(text[at:]) ^ 0x3030303030303030
		others := (x&0x7f7f7f7f7f7f7f7f + 0x7676767676767676 | x) & 0x8080808080808080
		if !digit {
			others ^= 0x8080808080808080
		}
		if others != 0 {
			return min(at+bits.TrailingZeros64(others)/8, n)
		}
	}
	for at < n && isDigit(text[at]) == digit {
		at++
	}
	return min(at, n)
}

// delta returns by how much the number in the n bytes from at on is larger than that in the oldSize bytes from oldAt on, if it is
// coded as a number; else 0.
func (s *splitter) delta(oldAt, oldSize, at, n int) int {
	if oldSize < 1 || oldSize > maxPlaces || n < oldSize || n > oldSize+2 || !isDigit(s.chunk[oldAt]) || !isDigit(s.chunk[at]) ||
		n > oldSize && s.chunk[at] == '0' {
		return 0
	}
	if n == oldSize && n > 3 && s.chunk[at]-s.chunk[oldAt] > 1 {
		return 0 // the first of four digits or more can only grow by one; without this, most numbers would be parsed in vain
	}
	if d := number(s.chunk, at, n) - number(s.chunk, oldAt, oldSize); d >= 1 && d <= maxDelta {
		return d
	}
	return 0
}

// number returns the value of the n digits from at on, of which there are only a few more than maxPlaces.
func number(text []byte, at, n int) int {
	if from := at + n - 8; n <= 8 && from >= 0 {
		// The digits are the last bytes of a word, in which bytes, then pairs and fours of them are added up.
		v := load64(text[from:]) ^ 0x3030303030303030
		v &= ^uint64(0) << (uint(64-8*n) & 63)
		v = 10*v + v>>8
		return int((v&0xff000000ff*(100+1000000<<32) + v>>16&0xff000000ff*(1+10000<<32)) >> 32)
	}
	v := 0
	for _, c := range text[at : at+n] {
		v = 10*v + int(c-'0')
	}
	return v
}
