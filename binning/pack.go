package binning

import (
	"encoding/binary"

	"orcomgo/bases"
	"orcomgo/bins/record"
)

// Bytes are processed eight at a time, the first in the lowest bits of a word.
const (
	ones     = 0x0101010101010101
	highBits = 0x80 * ones
)

// packRead packs the letters of a read, two bits each, into dst, which has at least PackedLen
// bytes; up to eight bytes after these may be cleared. It appends the read's exceptions to those given. The byte that it returns is 0, or
// another one if some byte can't be in a sequence.
func packRead(dst, seq []byte, read uint32, exceptions []record.Exception) ([]record.Exception, byte) {
	if !hasAVX2 {
		return packPlain(dst, seq, 0, read, exceptions)
	}
	n := len(seq)
	whole := n &^ 31
	if end := (n + 31) &^ 31; end <= cap(seq) && end/4 <= len(dst) {
		whole = n // the last 32 may be loaded and stored beyond the end
	}
	// Where some of 32 letters are others, as many are packed one by one; twice as many as before if these followed at once.
	for at, others := 0, 32; at < n; {
		end := n
		if at < whole {
			packed := packVector(&dst[at>>2], &seq[at], whole-at)
			if packed > 0 {
				others = 32
			}
			if at += packed; at == n {
				break
			}
			if at < whole {
				end = min(at+others, n)
				others *= 2
			}
		}
		var bad byte
		if exceptions, bad = packPlain(dst[at>>2:], seq[at:end], uint32(at), read, exceptions); bad != 0 {
			return exceptions, bad
		}
		at = end
	}
	return exceptions, 0
}

// packPlain is packRead of letters that begin at an offset of the read, without vector instructions.
func packPlain(dst, seq []byte, start, read uint32, exceptions []record.Exception) ([]record.Exception, byte) {
	var acc uint64
	at := 0
	for ; at+8 <= len(seq); at += 8 {
		c, nonACGT := bases.Pack8(binary.LittleEndian.Uint64(seq[at:]))
		if nonACGT != 0 {
			var bad byte
			if c, exceptions, bad = packExceptions(seq[at:at+8], start+uint32(at), read, exceptions); bad != 0 {
				return exceptions, bad
			}
		}
		acc |= c << (at & 24 * 2)
		if at&24 == 24 {
			binary.LittleEndian.PutUint64(dst[at>>2-6:], acc)
			acc = 0
		}
	}
	if rest := seq[at:]; len(rest) > 0 {
		// Filled up with A, which is code 0.
		const filler = 'A' * ones
		w := uint64(filler)
		if cap(rest) >= 8 {
			used := uint64(1)<<(8*len(rest)) - 1
			w = binary.LittleEndian.Uint64(rest[:8])&used | filler&^used
		} else {
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], filler)
			copy(b[:], rest)
			w = binary.LittleEndian.Uint64(b[:])
		}
		c, nonACGT := bases.Pack8(w)
		if nonACGT != 0 {
			var bad byte
			if c, exceptions, bad = packExceptions(rest, start+uint32(at), read, exceptions); bad != 0 {
				return exceptions, bad
			}
		}
		acc |= c << (at & 24 * 2)
	}
	i := len(seq) >> 5 << 3
	if i+8 <= len(dst) {
		binary.LittleEndian.PutUint64(dst[i:], acc)
		return exceptions, 0
	}
	for ; i < bases.PackedLen(len(seq)); i++ {
		dst[i] = byte(acc)
		acc >>= 8
	}
	return exceptions, 0
}

// packExceptions packs up to eight letters, at offset start of the read, of which some are not
// A, C, G or T.
func packExceptions(seq []byte, start, read uint32, exceptions []record.Exception) (c uint64, _ []record.Exception, bad byte) {
	for i, b := range seq {
		kind := b
		switch b {
		case 'A', 'a':
			kind = record.Lower
		case 'C', 'c':
			c |= 1 << (2 * i)
			kind = record.Lower
		case 'G', 'g':
			c |= 2 << (2 * i)
			kind = record.Lower
		case 'T', 't':
			c |= 3 << (2 * i)
			kind = record.Lower
		default:
			if !isLetter(b) {
				return 0, exceptions, max(b, 1) // 0 would mean that there is no bad byte
			}
		}
		if kind == record.Lower && b < 'a' {
			continue
		}
		at := start + uint32(i)
		if n := len(exceptions); n > 0 {
			if e := &exceptions[n-1]; e.Read == read && e.Byte == kind && e.Start+e.Len == at {
				e.Len++
				continue
			}
		}
		exceptions = append(exceptions, record.Exception{Read: read, Start: at, Len: 1, Byte: kind})
	}
	return c, exceptions, 0
}

// fillT sets the bases from..to-1 of a packed read to T, which is A on the other strand.
func fillT(packed []byte, from, to int) {
	for i := from; i < to; i++ {
		packed[i>>2] |= 3 << (i & 3 * 2)
	}
}

// copyQuals copies qualities and reports whether all are from 33 to 126.
func copyQuals(dst, src []byte) bool {
	if !hasAVX2 || len(src) < 32 {
		return copyQualsPlain(dst, src)
	}
	if dst == nil {
		return qualsVector(nil, &src[0], len(src))
	}
	return qualsVector(&dst[:len(src)][0], &src[0], len(src))
}

// copyQualsPlain is copyQuals without vector instructions.
func copyQualsPlain(dst, src []byte) bool {
	i, bad := 0, uint64(0)
	for ; i+8 <= len(src); i += 8 {
		w := binary.LittleEndian.Uint64(src[i:])
		// A byte below 128 gets its highest bit from +1 if it is 127, and from +95 if it is 33 or more.
		bad |= w | (w&^highBits + ones) | ^(w&^highBits + 95*ones)
	}
	for ; i < len(src); i++ {
		if src[i] < minQual || src[i] > maxQual {
			bad = highBits
		}
	}
	if dst != nil {
		copyBytes(dst, src)
	}
	return bad&highBits == 0
}

// copyBytes copies src to dst, which has room for it. Up to eight bytes after it in dst may change. It is quicker than copy where src
// is shorter than eight bytes.
func copyBytes(dst, src []byte) {
	if len(src) <= 8 && cap(src) >= 8 && len(dst) >= 8 {
		binary.LittleEndian.PutUint64(dst, binary.LittleEndian.Uint64(src[:8]))
		return
	}
	copy(dst, src)
}

// bin8 maps Phred+33 qualities to Illumina's eight levels.
var bin8 = func() (t [256]byte) {
	for i := range t {
		q := i - 33
		switch {
		case q < 2:
		case q < 10:
			q = 6
		case q < 20:
			q = 15
		case q < 25:
			q = 22
		case q < 30:
			q = 27
		case q < 35:
			q = 33
		case q < 40:
			q = 37
		default:
			q = 40
		}
		t[i] = byte(33 + q)
	}
	return t
}()
