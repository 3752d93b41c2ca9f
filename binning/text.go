package binning

import (
	"bytes"
	"sync"

	"orcomgo/internal/largepages"
)

// TextBuffer is memory for the text of a block. It may be memory of a device. After an error only Free
// may be called.
type TextBuffer interface {
	// Room returns how many bytes there is room for.
	Room() int
	// Grow makes room for n bytes or more. The first keep bytes stay as they are; others are lost.
	Grow(n, keep int) error
	// Fill stores bytes from offset at on. f writes them to the front of p, which has n bytes, and returns
	// how many it wrote. There must be room for n bytes, and n is at most FillSize. Fill returns what f
	// returns, or an error of its own. Several goroutines may call it for different bytes at once.
	Fill(at, n int, f func(p []byte) (int, error)) (int, error)
	// FillSize returns how many bytes Fill stores at most: a multiple of fillPiece, as large as makes filling fast.
	FillSize() int
	// Read returns bytes from..to-1, which are valid until the next call. It is slow for memory of a
	// device.
	Read(from, to int) ([]byte, error)
	// CountLines returns how many line ends are in each fillPiece bytes of from..to-1. The last piece may
	// be shorter.
	CountLines(from, to int) ([]int, error)
	// Host returns the first n bytes if they are in memory of the host, else nil.
	Host(n int) []byte
	memberInflater
	// Free returns the memory to the assigner. The buffer must not be used after it.
	Free()
}

// fillPiece is from how many bytes CountLines makes a number. Text is stored in such pieces, or in several of them at a time.
const fillPiece = 1 << 20

// hostTexts is a pool of buffers in memory of the host.
type hostTexts struct {
	members *memberPool // nil: texts don't inflate members of BGZF
	mu      sync.Mutex
	free    []*hostText
}

// hostText is a TextBuffer in memory of the host.
type hostText struct {
	pool *hostTexts
	buf  []byte

	regions   *[2][]byte     // of BGZF
	inflating [2]memberBatch // from each of these
}

// get returns a buffer with room for n bytes.
func (h *hostTexts) get(n int) *hostText {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, t := range h.free {
		if len(t.buf) >= n {
			h.free = append(h.free[:i], h.free[i+1:]...)
			return t
		}
	}
	if len(h.free) > 0 {
		h.free = h.free[1:] // one that is too small: the garbage collector frees it
	}
	return &hostText{pool: h, buf: largepages.AskForMany(largepages.Uncleared(n))}
}

// clear frees the buffers that are not in use.
func (h *hostTexts) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.free = nil
}

func (t *hostText) Room() int { return len(t.buf) }

func (t *hostText) Grow(n, keep int) error {
	if n > len(t.buf) {
		larger := largepages.AskForMany(largepages.Uncleared(n))
		copy(larger, t.buf[:keep])
		t.buf = larger
	}
	return nil
}

func (t *hostText) Fill(at, n int, f func(p []byte) (int, error)) (int, error) {
	return f(t.buf[at : at+n])
}

func (t *hostText) Read(from, to int) ([]byte, error) { return t.buf[from:to], nil }

func (t *hostText) CountLines(from, to int) (counts []int, err error) {
	for ; from < to; from += fillPiece {
		counts = append(counts, bytes.Count(t.buf[from:min(from+fillPiece, to)], []byte{'\n'}))
	}
	return counts, nil
}

func (t *hostText) FillSize() int { return fillPiece }

func (t *hostText) Host(n int) []byte { return t.buf[:n] }

func (t *hostText) Free() {
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	t.pool.free = append(t.pool.free, t)
}
