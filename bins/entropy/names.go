package entropy

import (
	"math/bits"
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
	maxPlaces   = 9   // of the number before; adding maxDelta makes it two places longer at most
	literal     = 128 // plus the length, up to maxLiteral
	maxLiteral  = 126
	longLiteral = 255 // the length follows in three bytes

	namesHeader = 8 * numStreams
)

// nameLine is the tokens of a line: runs of digits or of other bytes, and the last one of maxTokens all the rest. Token k is
// the bytes ends[k] to ends[k+1]-1, counted from the start of the line.
type nameLine struct {
	start  int // in the chunk
	tokens int
	ends   [maxTokens + 1]int32
}

// token returns token k, which may be empty if the line has no such token.
func (l *nameLine) token(chunk []byte, k int) []byte {
	if k >= l.tokens {
		return nil
	}
	return chunk[l.start+int(l.ends[k]) : l.start+int(l.ends[k+1])]
}

func isDigit(c byte) bool { return c-'0' < 10 }

// wide is how many bytes copyShort may write.
const wide = 16

// copyShort copies n bytes from src to dst, by two words where both have room for them. The bytes of dst after the n may
// change.
func copyShort(dst, src []byte, n int) {
	if n <= wide && len(dst) >= wide && len(src) >= wide {
		*(*[wide]byte)(dst) = *(*[wide]byte)(src)
		return
	}
	copy(dst[:n], src)
}

// resized returns a slice of n bytes with the memory of s, if that is enough.
func resized(s []byte, n int) []byte { return slices.Grow(s[:0], n)[:n] }

// commonPrefix returns how many of the first n bytes of a and b, which have so many at least, they have in common at their beginning.
func commonPrefix(a, b []byte, n int) int {
	at := 0
	for ; at < n && at+8 <= len(a) && at+8 <= len(b); at += 8 {
		if x := load64(a[at:]) ^ load64(b[at:]); x != 0 {
			return min(at+bits.TrailingZeros64(x)/8, n)
		}
	}
	for at < n && a[at] == b[at] {
		at++
	}
	return min(at, n)
}
