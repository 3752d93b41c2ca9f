// Package entropy codes the qualities and names of the bins: byte streams under Huffman codes of at most 10 bits, and names
// by what differs between neighbouring lines. docs/FORMAT.md, section Bins, specifies both; the vectors are
// testdata/vectors/streams.txt and linenames.txt. A GPU writes the same bytes.
//
// An Encoder and a Decoder hold the working memory of one goroutine and allocate nothing once it has grown.
package entropy

import (
	"encoding/binary"
	"errors"
)

// ErrCorrupt is the error about stored bytes that no encoder writes.
var ErrCorrupt = errors.New("the coded data make no sense")

// Kind is how a stream is coded: its first byte.
type Kind uint8

// The kinds of streams.
const (
	Raw    Kind = iota // the symbols follow
	Same               // one symbol, repeated, follows
	Order0             // one code for all symbols
	Order1             // a code for each symbol before
)

const (
	maxLength  = 10 // bits of a code
	codeSpace  = 1 << maxLength
	onlySymbol = 15 // instead of a length: the only symbol of its row, which takes no bits

	minCoded  = 64 // shorter streams are stored as they are
	maxOrder1 = 64 // different symbols of a stream of order 1, all of them in firstOrder1..lastOrder1
	numParts  = 4

	firstOrder1 = 33
	lastOrder1  = 126

	fixedHeader = 1 + 1 + 32 // kind, number of symbols, which they are
	partSizes   = 4 * (numParts - 1)
)

// headerSize returns the bytes of a stream before its parts. k is the number of different symbols.
func headerSize(k int, order1 bool) int {
	if order1 {
		return fixedHeader + numParts + (k*k+1)/2 + partSizes
	}
	return fixedHeader + (k+1)/2 + partSizes
}

// parts divides symbols into four. All of them are as long as the first one, but for the last.
func parts(symbols []byte) (p [numParts][]byte) {
	q := (len(symbols) + numParts - 1) / numParts
	for i := range p {
		p[i] = symbols[i*q : min((i+1)*q, len(symbols))]
	}
	return p
}

// alphabet is a set of symbols.
type alphabet struct {
	symbols [256]uint8 // ascending
	size    int
}

func load64(p []byte) uint64 { return binary.LittleEndian.Uint64(p) }
