package entropy

import (
	"encoding/binary"
	"math/bits"
)

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
		if size > 0 && Kind(rest[0]) == Order1 {
			return check(false, "a stream of names is of order 1")
		}
		d.names[i] = resized(d.names[i], int(n))
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

// joiner puts names together from the streams.
type joiner struct {
	dst             []byte
	at              int // in dst
	kinds, literals []byte
}

// join is the inverse of split. It reports whether the streams are those of names of len(dst) bytes.
func (n *nameStreams) join(dst []byte) bool {
	j := joiner{dst: dst, kinds: n[streamKinds], literals: n[streamLiterals]}
	var both [2]nameLine
	line, before := &both[0], &both[1]
	last := len(n[streamCounts]) - 1
	for i, tokens := range n[streamCounts] {
		differ := uint(n[streamLow][i]) | uint(n[streamHigh][i])<<8
		if j.at == len(dst) || tokens > maxTokens || differ>>tokens != 0 {
			return false
		}
		line.start, line.tokens = j.at, int(tokens)
		if !j.line(line, before, differ) {
			return false
		}
		if j.at < len(dst) {
			dst[j.at] = '\n'
			j.at++
		} else if i != last {
			return false
		}
		line, before = before, line
	}
	return j.at == len(dst) && len(j.kinds) == 0 && len(j.literals) == 0
}

// line adds the tokens of a line, of which differ has a bit for each that differs from the line before.
func (j *joiner) line(line, before *nameLine, differ uint) bool {
	for k := 0; ; k++ {
		// The tokens up to the next one that differs are copied together.
		next := min(k+bits.TrailingZeros(differ>>k), line.tokens)
		if next > k {
			if next > before.tokens {
				return false
			}
			shift := int32(j.at-line.start) - before.ends[k]
			if !j.put(j.dst[before.start+int(before.ends[k]):], int(before.ends[next]-before.ends[k])) {
				return false
			}
			for ; k < next; k++ {
				line.ends[k+1] = before.ends[k+1] + shift
			}
		}
		if k == line.tokens {
			return true
		}
		if !j.token(k, before) {
			return false
		}
		line.ends[k+1] = int32(j.at - line.start)
	}
}

// put adds the first n bytes of text.
func (j *joiner) put(text []byte, n int) bool {
	if n > len(j.dst)-j.at {
		return false
	}
	copyShort(j.dst[j.at:], text, n)
	j.at += n
	return true
}

// token adds token k, which differs from that of the line before.
func (j *joiner) token(k int, before *nameLine) bool {
	if len(j.kinds) == 0 {
		return false
	}
	kind := int(j.kinds[0])
	j.kinds = j.kinds[1:]
	size := kind - literal
	switch {
	case kind == 0 || kind == literal:
		return false
	case kind <= maxDelta:
		return k < maxTokens-1 && j.number(before.token(j.dst, k), kind)
	case kind == longLiteral:
		if len(j.kinds) < 3 {
			return false
		}
		size = int(j.kinds[0]) | int(j.kinds[1])<<8 | int(j.kinds[2])<<16
		j.kinds = j.kinds[3:]
		if size <= maxLiteral {
			return false
		}
	}
	if size > len(j.literals) || !j.put(j.literals, size) {
		return false
	}
	j.literals = j.literals[size:]
	return true
}

// number adds the number in old plus delta, with as many places at least. It returns false if old is no number of at most
// maxPlaces digits.
func (j *joiner) number(old []byte, delta int) bool {
	if len(old) == 0 || len(old) > maxPlaces {
		return false
	}
	const more = 2 // places that can be added in front
	var text [wide]byte
	for i := len(old) - 1; i >= 0; i-- {
		if !isDigit(old[i]) {
			return false
		}
		delta += int(old[i] - '0')
		text[more+i] = uint8('0' + delta%10)
		delta /= 10
	}
	first := more
	for ; delta > 0; delta /= 10 {
		first--
		text[first] = uint8('0' + delta%10)
	}
	return j.put(text[first:], more+len(old)-first)
}
