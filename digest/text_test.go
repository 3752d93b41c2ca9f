package digest

import (
	"encoding/binary"
	"math/rand"
	"sync"
	"testing"

	"github.com/zeebo/xxh3"
)

// TestTextHash compares the hash of a whole text, and of its pieces, with the rule of docs/FORMAT.md.
func TestTextHash(t *testing.T) {
	rng := rand.New(rand.NewSource(10))
	for _, n := range []int{0, 1, hashChunk - 1, hashChunk, hashChunk + 1, 5*hashChunk + 7, hashTask, 3*hashTask + 1} {
		text := make([]byte, n)
		rng.Read(text)
		var sums []byte
		for at := 0; at < n; at += hashChunk {
			var chunk [hashChunk]byte
			copy(chunk[:], text[at:])
			sums = binary.LittleEndian.AppendUint64(sums, xxh3.Hash(chunk[:]))
		}
		want := xxh3.Hash128(sums).Bytes()
		h := new(TextHasher)
		for range 3 {
			h.Reset()
			for rest := text; len(rest) > 0; {
				k := min(1+rng.Intn(3*hashChunk), len(rest))
				h.Write(rest[:k])
				h.Sum() // does not change what follows
				rest = rest[k:]
			}
			if got := h.Sum(); got != want {
				t.Errorf("%d bytes in pieces: %x, want %x", n, got, want)
			}
		}
		if got := TextHash(text, parallel); got != want {
			t.Errorf("%d bytes: %x, want %x", n, got, want)
		}
	}
}

// parallel runs each task in a goroutine.
func parallel(n int, task func(i int)) {
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { task(i) })
	}
	wait.Wait()
}
