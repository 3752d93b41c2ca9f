package gzexact

import "orcomgo/compress/rangecoder"

// Kinds of numbers in the description of a frame. Each kind has an adaptive model, which begins anew with each frame.
const (
	numberSegment = iota // where it ends
	numberFinal          // 1 if a block is the last one of its member
	numberStored         // bytes of a stored block
	numberRight          // 0 if the predictor is right in the rest of a block; else one more than how often before it is wrong
	numberEnds           // 1 if a block ends where that was not predicted
	numberLength         // of a match that was not predicted; 0 if it is a literal
	numberDist           // its distance
	numberPlanned        // 1 if kind and codes of a block are as predicted; if not, what is written of the codes is given as it is
	numberRaw            // how many bytes are given as they are
	numberRawByte        // one of these
	numberEvent          // what comes next, and the same by what was before
	numbers       = numberEvent + 3
)

// countLimit bounds the counts of all models.
const countLimit = 255

// coding codes numbers. When decoding, those that are given are ignored.
type coding struct {
	rangecoder.Coder
	models [numbers]*rangecoder.Number
}

func (c *coding) init() {
	for i := range c.models {
		c.models[i] = rangecoder.NewNumber()
	}
}

func (c *coding) number(kind, v int) int {
	return int(c.models[kind].Code(&c.Coder, uint32(v), countLimit))
}

func (c *coding) flag(kind int, v bool) bool { return c.number(kind, rangecoder.BitOf(v)) == 1 }

// rawBytes codes up to maxRaw bytes as they are.
func (c *coding) rawBytes(b []byte) ([]byte, bool) {
	n := c.number(numberRaw, len(b))
	if c.Decoding() {
		if n > maxRaw {
			return nil, false
		}
		b = make([]byte, n)
	}
	for i := range b {
		b[i] = byte(c.number(numberRawByte, int(b[i])))
	}
	return b, true
}

// otherToken codes a token that was not predicted. l is the literal that is possible there.
func (c *coding) otherToken(t, l token) (token, bool) {
	length := 0
	if t.isMatch() {
		length = t.value()
	}
	if length = c.number(numberLength, length); length == 0 {
		return l, true
	}
	dist := c.number(numberDist, t.dist())
	return match(length, dist), length >= minMatch && length <= maxMatch && dist >= 1 && dist <= windowSize
}
