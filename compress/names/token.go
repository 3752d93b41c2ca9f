package names

import "bytes"

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
		from := i
		f.from = int32(from)
		if t.n == maxFields {
			f.kind, f.to = kindWord, int32(n)
			t.key = append(t.key, 128+kindWord)
			return
		}
		f.kind = kindWord
		c := byteClass[name[i]]
		if c == classDigit {
			v := uint32(0)
			for i < n && i-from < maxDigits && byteClass[name[i]] == classDigit {
				v = v*10 + uint32(name[i]-'0')
				i++
			}
			f.kind, f.val = kindNumber, v
			if w := i - from; name[from] == '0' && w > 1 {
				f.kind = kindPadded + uint8(w)
			}
		}
		if f.kind == kindWord {
			for i < n && byteClass[name[i]] == classLetter {
				i++
			}
		}
		f.to = int32(i)
		t.key = append(t.key, 128+f.kind)
	}
}

func lineLen(b []byte) int { return bytes.IndexByte(b, '\n') + 1 }

// appendNumber appends v in decimal; with width > 0, with leading zeros to that width.
func appendNumber(dst []byte, v uint32, width int) []byte {
	var b [10]byte
	i := len(b)
	for {
		i--
		b[i] = byte('0' + v%10)
		v /= 10
		if v == 0 {
			break
		}
	}
	for len(b)-i < width {
		i--
		b[i] = '0'
	}
	return append(dst, b[i:]...)
}
