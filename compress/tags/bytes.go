package tags

import (
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
	ways
)

// noiseLimit bounds the counts of probabilities: times between bases are drawn from one distribution.
const noiseLimit = 1000

// codeNoise codes bytes by adaptive frequencies, given those before if pairs is set.
func codeNoise(c *rangecoder.Coder, b []byte, pairs bool) {
	trees, before := make([]*rangecoder.Tree, 256), byte(0)
	for i, v := range b {
		if trees[before] == nil {
			t := rangecoder.NewTree(8)
			trees[before] = &t
		}
		b[i] = byte(trees[before].Code(c, uint32(v), noiseLimit))
		if pairs {
			before = b[i]
		}
	}
}

// noise returns bytes as codeNoise codes them.
func noise(b []byte, pairs bool) []byte {
	c := rangecoder.EncodeTo(nil)
	codeNoise(c, b, pairs)
	return c.Enc.Finish()
}

const (
	// sampleLen is how many bytes in the middle of a longer piece decide how it is coded.
	sampleLen = 1 << 17
	// noiseShare: by frequencies takes a twentieth of the time, so a piece may take so much more than by package general.
	noiseShare = 1.005
)

// encodePiece codes a piece in the way that takes the fewest bytes, or nearly so.
func encodePiece(piece []byte, layout doubles.Layout) (way byte, coded []byte) {
	from := max(len(piece)-sampleLen, 0) / 2
	sample := piece[from:min(from+sampleLen, len(piece))]
	one, two := noise(sample, false), noise(sample, true)
	way, coded = asNoise, one
	if len(two) < len(one) {
		way, coded = asPairs, two
	}
	whole := len(sample) == len(piece)
	other := general.Encode(sample)
	if float64(len(coded)) <= noiseShare*float64(len(other)) {
		if !whole {
			coded = noise(piece, way == asPairs)
		}
	} else if way, coded = asBytes, other; !whole {
		coded = general.Encode(piece)
	}
	if layout.Width > 1 {
		if as := doubles.Encode(piece, layout); len(as) < len(coded) {
			return asArray, as
		}
	}
	return way, coded
}

// decodePiece is the inverse of encodePiece for a piece of size bytes.
func decodePiece(way byte, coded []byte, size int) ([]byte, error) {
	switch way {
	case asArray:
		return doubles.Decode(coded, size)
	case asBytes:
		return general.Decode(coded, size)
	case asKinetics:
		return nil, ErrCorrupt
	}
	if size > (len(coded)+64)<<15 {
		return nil, ErrCorrupt
	}
	c, piece := rangecoder.DecodeFrom(coded), make([]byte, size)
	codeNoise(c, piece, way == asPairs)
	return piece, c.Dec.Err()
}
