package entropy

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// The five streams of names.
const (
	streamCounts   = iota // of each line: its number of tokens
	streamLow             // of each line: bit k is set if token k < 8 differs from that of the line before
	streamHigh            // the same of the tokens from 8 on
	streamKinds           // of each token that differs
	streamLiterals        // the bytes of all literals
	numStreams
)

type nameStreams [numStreams][]byte

const (
	maxTokens   = 16 // of a line; the last one is whatever follows the others
	maxDelta    = 127
	maxPlaces   = 9
	literal     = 128 // plus the length, up to maxLiteral
	maxLiteral  = 126
	longLiteral = 255 // the length follows in three bytes

	namesHeader = 8 * numStreams
)

// token is a run of digits or of other bytes, or all the rest of a line.
type token struct{ start, end int32 } // in the chunk

// isDigit has 1 for the digits.
var isDigit = func() (t [256]uint8) {
	for c := '0'; c <= '9'; c++ {
		t[c] = 1
	}
	return t
}()

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

// split turns a chunk of names into the streams.
func (n *nameStreams) split(chunk []byte) {
	for i := range n {
		n[i] = n[i][:0]
	}
	var lines [2][maxTokens]token
	before := lines[0][:0]
	for at, which := 0, 1; at < len(chunk); which ^= 1 {
		end := bytes.IndexByte(chunk[at:], '\n')
		if end < 0 {
			end = len(chunk)
		} else {
			end += at
		}
		line := cut(&lines[which], chunk, at, end)
		n.add(chunk, line, before)
		before = line
		at = end + 1
	}
}

// cut returns the tokens of the line from at to end.
func cut(tokens *[maxTokens]token, chunk []byte, at, end int) []token {
	k := 0
	for at < end && k < maxTokens-1 {
		kind := isDigit[chunk[at]]
		start := at
		for at++; at < end && isDigit[chunk[at]] == kind; at++ {
		}
		tokens[k] = token{int32(start), int32(at)}
		k++
	}
	if at < end {
		tokens[k] = token{int32(at), int32(end)}
		k++
	}
	return tokens[:k]
}

// add adds a line to the streams.
func (n *nameStreams) add(chunk []byte, line, before []token) {
	differ := 0
	for k, t := range line {
		var old []byte
		if k < len(before) {
			old = chunk[before[k].start:before[k].end]
		}
		text := chunk[t.start:t.end]
		if bytes.Equal(text, old) {
			continue
		}
		differ |= 1 << k
		if d := delta(old, text); d > 0 && k < maxTokens-1 {
			n[streamKinds] = append(n[streamKinds], uint8(d))
			continue
		}
		if len(text) <= maxLiteral {
			n[streamKinds] = append(n[streamKinds], uint8(literal+len(text)))
		} else {
			n[streamKinds] = append(n[streamKinds], longLiteral, uint8(len(text)), uint8(len(text)>>8), uint8(len(text)>>16))
		}
		n[streamLiterals] = append(n[streamLiterals], text...)
	}
	n[streamCounts] = append(n[streamCounts], uint8(len(line)))
	n[streamLow] = append(n[streamLow], uint8(differ))
	n[streamHigh] = append(n[streamHigh], uint8(differ>>8))
}

// delta returns by how much the number in text is larger than that in old, if it is coded as a number; else 0.
func delta(old, text []byte) int {
	if len(old) == 0 || len(old) > maxPlaces || len(text) < len(old) || len(text) > len(old)+1 ||
		isDigit[text[0]] == 0 || isDigit[old[0]] == 0 {
		return 0
	}
	d := number(text) - number(old)
	// A place more than before is one that the value needs.
	if d < 1 || d > maxDelta || len(text) > len(old) && text[0] == '0' {
		return 0
	}
	return d
}

// number returns the value of at most ten digits.
func number(digits []byte) int {
	v := 0
	for _, c := range digits {
		v = 10*v + int(c-'0')
	}
	return v
}

// Names decodes stored names into dst, which is as long as the chunk was. The error wraps ErrCorrupt.
func (d *Decoder) Names(dst, stored []byte) error {
	if len(stored) < namesHeader {
		return check(false, "names end in their header")
	}
	head, rest := stored[:namesHeader], stored[namesHeader:]
	for i := range d.names {
		n, size := binary.LittleEndian.Uint32(head[8*i:]), binary.LittleEndian.Uint32(head[8*i+4:])
		// Each line, kind and literal byte is there for at least one byte of the names.
		if uint64(n) > uint64(len(dst)) || uint64(size) > uint64(len(rest)) {
			return check(false, "a stream of names is too long")
		}
		d.names[i] = slices.Grow(d.names[i][:0], int(n))[:n]
		if err := d.Stream(d.names[i], rest[:size]); err != nil {
			return err
		}
		rest = rest[size:]
	}
	lines := len(d.names[streamCounts])
	if len(rest) != 0 || len(d.names[streamLow]) != lines || len(d.names[streamHigh]) != lines || !d.names.join(dst) {
		return check(false, "the streams of names do not fit together")
	}
	return nil
}

// join is the inverse of split. It reports whether the streams are those of names of len(dst) bytes.
func (n *nameStreams) join(dst []byte) bool {
	var lines [2][maxTokens]token
	before := lines[0][:0]
	kinds, literals := n[streamKinds], n[streamLiterals]
	at := 0
	for i, count := range n[streamCounts] {
		differ := int(n[streamLow][i]) | int(n[streamHigh][i])<<8
		if at == len(dst) || count > maxTokens || differ>>count != 0 {
			return false
		}
		line := lines[(i+1)%2][:count]
		for k := range line {
			start := at
			var old []byte
			if k < len(before) {
				old = dst[before[k].start:before[k].end]
			}
			if differ>>k&1 == 0 {
				if len(old) == 0 || len(old) > len(dst)-at {
					return false
				}
				at += copy(dst[at:], old)
				line[k] = token{int32(start), int32(at)}
				continue
			}
			if len(kinds) == 0 {
				return false
			}
			kind := int(kinds[0])
			kinds = kinds[1:]
			size := kind - literal
			switch {
			case kind == 0 || kind == literal:
				return false
			case kind <= maxDelta:
				var digits [maxPlaces + 1]byte
				text := larger(&digits, old, kind)
				if k == maxTokens-1 || len(text) == 0 || len(text) > len(dst)-at {
					return false
				}
				at += copy(dst[at:], text)
				line[k] = token{int32(start), int32(at)}
				continue
			case kind == longLiteral:
				if len(kinds) < 3 {
					return false
				}
				size = int(kinds[0]) | int(kinds[1])<<8 | int(kinds[2])<<16
				kinds = kinds[3:]
				if size <= maxLiteral {
					return false
				}
			}
			if size > len(literals) || size > len(dst)-at {
				return false
			}
			at += copy(dst[at:], literals[:size])
			literals = literals[size:]
			line[k] = token{int32(start), int32(at)}
		}
		if at < len(dst) {
			dst[at] = '\n'
			at++
		} else if i != len(n[streamCounts])-1 || count == 0 {
			return false
		}
		before = line
	}
	return at == len(dst) && len(kinds) == 0 && len(literals) == 0
}

// larger returns the digits of the number in old plus delta, with as many places at least; nothing if old is no number of at
// most maxPlaces digits.
func larger(digits *[maxPlaces + 1]byte, old []byte, delta int) []byte {
	if len(old) == 0 || len(old) > maxPlaces {
		return nil
	}
	for _, c := range old {
		if isDigit[c] == 0 {
			return nil
		}
	}
	v := number(old) + delta
	at := len(digits)
	for v > 0 || at > len(digits)-len(old) {
		at--
		digits[at] = uint8('0' + v%10)
		v /= 10
	}
	return digits[at:]
}
