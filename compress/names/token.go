package names

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

const (
	// maxFields bounds the fields of a name; the last one takes the rest as a word.
	maxFields = 32
	// maxDigits is the longest number; 10^9-1 fits in 32 bits. Longer runs of digits are cut.
	maxDigits = 9
)

const (
	kindWord   = 0
	kindNumber = 1 // no leading zero
	kindPadded = 2 // kindPadded + width: that many digits

	minHex = 16 // length of the shortest hexadecimal number that is one word
)

// field is a field of a name: bytes from..to, and the value if a number.
type field struct {
	kind     uint8
	from, to int32
	val      uint32
}

// tokens is a name cut into fields. key identifies its shape: for each field
// the separators before it and its kind; then the separators at the end.
type tokens struct {
	n     int
	field [maxFields]field
	key   []byte
}

const (
	classSep = iota
	classDigit
	classLetter
)

// byteClass is the class of each byte.
var byteClass = func() (t [256]uint8) {
	for c := '0'; c <= '9'; c++ {
		t[c] = classDigit
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c] = classLetter
		t[c-32] = classLetter
	}
	// Bytes that no instrument writes are not separators; otherwise binary names would have
	// as many shapes as names.
	for c := 0; c < 256; c++ {
		if c < ' ' && c != '\t' && c != '\r' || c >= 127 {
			t[c] = classLetter
		}
	}
	return t
}()

// hexDigit says which bytes are hexadecimal digits in lower case.
var hexDigit = func() (t [256]bool) {
	for _, c := range []byte("0123456789abcdef") {
		t[c] = true
	}
	return t
}()

// cut cuts name into fields. Kinds are bytes of 128 or more in the key; separators are less, so equal
// keys are equal shapes.
func (t *tokens) cut(name []byte) {
	t.n, t.key = 0, t.key[:0]
	i, n := 0, len(name)
	for {
		for i < n && byteClass[name[i]] == classSep {
			t.key = append(t.key, name[i])
			i++
		}
		if i == n {
			return
		}
		f := &t.field[t.n]
		t.n++
		if t.n == maxFields {
			f.kind, f.from, f.to = kindWord, int32(i), int32(n)
			t.key = append(t.key, 128+kindWord)
			return
		}
		f.cut(name, i)
		i = int(f.to)
		t.key = append(t.key, 128+f.kind)
	}
}

// cut cuts the field that starts at place i of a name, and reports whether there is one.
func (f *field) cut(name []byte, i int) bool {
	from, n := i, len(name)
	f.from = int32(from)
	if i == n {
		return false
	}
	f.kind = kindWord
	if name[i]-'0' <= 9 {
		v := uint32(0)
		if i+8 <= n && name[i+3]-'0' <= 9 {
			v, i = eightDigits(name[i:], i)
		}
		for ; i < min(from+maxDigits, n) && name[i]-'0' <= 9; i++ {
			v = v*10 + uint32(name[i]-'0')
		}
		f.kind, f.val = kindNumber, v
		if w := i - from; name[from] == '0' && w > 1 {
			f.kind = kindPadded + uint8(w)
		}
	}
	if from+minHex <= n && hexDigit[name[from+minHex-1]] && (hexDigit[name[i]] || name[i] == '-') {
		if k := hexLen(name[from:]); k > 0 {
			f.kind, i = kindWord, from+k
		}
	}
	if i == from {
		for i < n && byteClass[name[i]] == classLetter {
			i++
		}
	}
	f.to = int32(i)
	return i > from
}

// eightDigits returns the number that text begins with, up to eight of its digits, and i plus how many these are.
func eightDigits(text []byte, i int) (v uint32, end int) {
	x := binary.LittleEndian.Uint64(text) ^ 0x3030303030303030
	digits := bits.TrailingZeros64((x+0x7676767676767676|x)&0x8080808080808080) / 8
	x <<= 64 - 8*digits // zeros before them
	x = (x * (1 + 10<<8)) >> 8 & 0x00ff00ff00ff00ff
	x = (x * (1 + 100<<16)) >> 16 & 0x0000ffff0000ffff
	return uint32(x * (1 + 10000<<32) >> 32), i + digits
}

// appendNumber appends v with zeros before it up to so many digits.
func appendNumber(out []byte, v uint32, width int) []byte {
	if v >= 1e8 || width > 8 {
		out = appendNumber(out, v/1e8, width-8)
		v, width = v%1e8, 8
	}
	x := uint64(v/1e4) | uint64(v%1e4)<<32 // four digits each, then two, then one, the first one lowest
	t := x * 10486 >> 20 & 0x0000007f0000007f
	x = t | (x-100*t)<<16
	t = x * 103 >> 10 & 0x000f000f000f000f
	x = t | (x-10*t)<<8
	skip := min(bits.TrailingZeros64(x|1<<56)/8, 8-width)
	return binary.LittleEndian.AppendUint64(out, x>>(8*skip)|0x3030303030303030)[:len(out)+8-skip]
}

// hexLen returns the length of the hexadecimal number in lower case that text begins with, with the hyphens of a UUID; 0 if it is short, or
// has no letters.
func hexLen(text []byte) int {
	letters, n := false, 0
	for ; n < len(text) && (hexDigit[text[n]] || text[n] == '-' && (n == 8 || n == 13 || n == 18 || n == 23)); n++ {
		letters = letters || text[n] >= 'a'
	}
	if n < minHex || !letters {
		return 0
	}
	return n
}

// cutLike cuts the frequent fields of name, if all else is as shape s now has it, and reports whether that is so.
func (t *tokens) cutLike(name []byte, s *shape) bool {
	if len(s.field) == maxFields {
		return false
	}
	parts := s.unchanged()
	if !bytes.HasPrefix(name, parts[0]) {
		return false
	}
	at := len(parts[0])
	for k, i := range s.often {
		f := &t.field[i]
		if !f.cut(name, at) || f.kind != s.field[i].kind || !bytes.HasPrefix(name[f.to:], parts[k+1]) {
			return false
		}
		at = int(f.to) + len(parts[k+1])
	}
	return at == len(name)
}

func lineLen(b []byte) int { return bytes.IndexByte(b, '\n') + 1 }
