package tags

import (
	"math/bits"

	"orcomgo/bins/parse"
	"orcomgo/compress/doubles"
	"orcomgo/compress/general"
	"orcomgo/compress/rangecoder"
)

// Ways to code a piece of the bytes of a column.
const (
	asBytes    = iota // by package general
	asNames           // each value followed by '\n', by package names
	asArray           // by package doubles
	asNoise           // each byte by how often it occurred
	asPairs           // likewise, after the byte before it
	asKinetics        // each byte as the time of a base, in one piece
	asSame            // the value that all are, by package general
	ways
)

// noiseLimit bounds the counts of probabilities: times between bases are drawn from one distribution.
const noiseLimit = 1000

// codeNoise codes bytes by adaptive frequencies, given those before if pairs is set. values are the different ones, at least one. It
// reports whether all are among them.
func codeNoise(c *rangecoder.Coder, b, values []byte, pairs bool) bool {
	var rank [256]byte
	for i, v := range values {
		rank[v] = byte(i)
	}
	trees, before := make([]*rangecoder.Tree, len(values)), uint32(0)
	for i, v := range b {
		if trees[before] == nil {
			t := rangecoder.NewTree(max(bits.Len(uint(len(values)-1)), 1))
			trees[before] = &t
		}
		r := trees[before].Code(c, uint32(rank[v]), noiseLimit)
		if r >= uint32(len(values)) {
			return false
		}
		if b[i] = values[r]; pairs {
			before = r
		}
	}
	return true
}

// noise returns bytes as codeNoise codes them, after how many different ones there are, less one, and these.
func noise(b []byte, pairs bool) []byte {
	var has [256]bool
	for _, v := range b {
		has[v] = true
	}
	out := []byte{0}
	for v, ok := range has {
		if ok {
			out = append(out, byte(v))
		}
	}
	out[0] = byte(len(out) - 2)
	c := rangecoder.EncodeTo(nil)
	codeNoise(c, b, out[1:], pairs)
	return append(out, c.Enc.Finish()...)
}

const (
	// A sample in the middle of a column, of so many bytes or the rest of a value more, decides how it is coded.
	sampleLen = 1 << 14
	// noiseShare: by frequencies takes a twentieth of the time, so a piece may take so much more than by package general.
	noiseShare = 1.005
)

// wayOf returns the way in which a sample of any bytes takes the fewest, or nearly so, and how many.
func wayOf(sample []byte) (way byte, least int) {
	way, least = asNoise, len(noise(sample, false))
	if n := len(noise(sample, true)); n < least {
		way, least = asPairs, n
	}
	if n := len(general.Encode(sample)); float64(least) > noiseShare*float64(n) {
		return asBytes, n
	}
	return way, least
}

// appendPiece appends the way and the code of a piece, in a way that wayOf returned, or as an array if that takes less.
func appendPiece(dst []byte, way byte, piece []byte, layout doubles.Layout) []byte {
	var coded []byte
	if way == asBytes {
		coded = general.Encode(piece)
	} else {
		coded = noise(piece, way == asPairs)
	}
	if layout.Width > 1 {
		if as := doubles.Encode(piece, layout); len(as) < len(coded) {
			way, coded = asArray, as
		}
	}
	return parse.AppendBlock(append(dst, way), coded)
}

// decodePiece decodes what appendPiece appended for a piece of size bytes.
func decodePiece(way byte, coded []byte, size int) ([]byte, error) {
	switch way {
	case asArray:
		return doubles.Decode(coded, size)
	case asBytes:
		return general.Decode(coded, size)
	case asKinetics, asSame:
		return nil, ErrCorrupt
	}
	in := parse.Cursor{Rest: coded}
	values := in.Bytes(uint64(in.Byte()) + 1)
	if in.Failed() || size > (len(coded)+64)<<15 {
		return nil, ErrCorrupt
	}
	c, piece := rangecoder.DecodeFrom(in.Rest), make([]byte, size)
	if !codeNoise(c, piece, values, way == asPairs) {
		return nil, ErrCorrupt
	}
	return piece, c.Dec.Err()
}
