package digest

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"
)

// hashChunk is how many bytes of text have a sum of their own in the text hash.
const hashChunk = 16 << 10

// TextHasher computes the text hash of a block from the pieces of its text. The text is cut into chunks of 16 KiB, the last
// one filled up with zeros; the hash is the XXH3-128 of the XXH3-64 of all chunks. The zero value is ready.
type TextHasher struct {
	n     int         // bytes of chunk
	sums  xxh3.Hasher // of the sums of whole chunks
	chunk [hashChunk]byte
}

// Write adds a piece of text. It never fails.
func (h *TextHasher) Write(text []byte) (int, error) {
	size := len(text)
	if h.n > 0 {
		n := copy(h.chunk[h.n:], text)
		h.n, text = h.n+n, text[n:]
		if h.n == hashChunk {
			h.add(h.chunk[:])
			h.n = 0
		}
	}
	for ; len(text) >= hashChunk; text = text[hashChunk:] {
		h.add(text[:hashChunk])
	}
	if len(text) > 0 {
		h.n = copy(h.chunk[:], text)
	}
	return size, nil
}

func (h *TextHasher) add(chunk []byte) {
	var sum [8]byte
	binary.LittleEndian.PutUint64(sum[:], xxh3.Hash(chunk))
	h.sums.Write(sum[:])
}

// Sum returns the hash of the text so far.
func (h *TextHasher) Sum() [16]byte {
	if h.n == 0 {
		return h.sums.Sum128().Bytes()
	}
	last := TextHasher{sums: h.sums}
	clear(h.chunk[h.n:])
	last.add(h.chunk[:])
	return last.sums.Sum128().Bytes()
}

// Reset begins with another text.
func (h *TextHasher) Reset() {
	h.n = 0
	h.sums.Reset()
}

// TextHashOfSums returns the text hash of a text, from the XXH3-64 of its chunks, each
// as 8 bytes little-endian.
func TextHashOfSums(sums []byte) [16]byte { return xxh3.Hash128(sums).Bytes() }

// TextSums computes the text hash of a block in parts, by several goroutines.
type TextSums struct{ text, sums []byte }

// NewTextSums returns the sums of a text, which must not change.
func NewTextSums(text []byte) *TextSums {
	return &TextSums{text: text, sums: make([]byte, (len(text)+hashChunk-1)/hashChunk*8)}
}

// Add adds the chunks that begin in the bytes from..to-1 of the text.
func (s *TextSums) Add(from, to int) {
	for i := (from + hashChunk - 1) / hashChunk; i*hashChunk < min(to, len(s.text)); i++ {
		chunk := s.text[i*hashChunk:]
		if len(chunk) < hashChunk {
			var last [hashChunk]byte
			copy(last[:], chunk)
			chunk = last[:]
		}
		binary.LittleEndian.PutUint64(s.sums[8*i:], xxh3.Hash(chunk[:hashChunk]))
	}
}

// Hash returns the text hash. All chunks must have been added.
func (s *TextSums) Hash() [16]byte { return TextHashOfSums(s.sums) }

// hashTask is how many bytes are hashed by one task.
const hashTask = 64 * hashChunk

// TextHash returns the text hash of a block, computed by the goroutines of run, which calls task with each of 0..n-1.
func TextHash(text []byte, run func(n int, task func(i int))) [16]byte {
	s := NewTextSums(text)
	run((len(text)+hashTask-1)/hashTask, func(i int) { s.Add(i*hashTask, (i+1)*hashTask) })
	return s.Hash()
}
