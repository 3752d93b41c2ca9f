package binning

import (
	"bytes"
	"sync"
)

// TextBuffer is memory for the text of a block, of the kind that an assigner works on.
type TextBuffer interface {
	// Room returns how many bytes there is room for.
	Room() int
	// Grow makes room for n bytes or more. The first keep bytes stay as they are.
	Grow(n, keep int) error
	// Fill stores up to n bytes from offset at on, where there must be room for n, at most
	// fillPiece: f writes them to the front of p, which has n bytes, and returns how many it wrote.
	// Fill returns what f returns, or an error of its own. Calls for different bytes may run
	// side by side.
	Fill(at, n int, f func(p []byte) (int, error)) (int, error)
	// Read returns bytes from..to-1, which are valid until the next call. It is for few bytes: the
	// memory may be that of a device.
	Read(from, to int) ([]byte, error)
	// CountLines returns how many line ends are in each fillPiece bytes of from..to-1.
	CountLines(from, to int) ([]int, error)
	// Host returns the first n bytes where they are in memory of the host, else nil.
	Host(n int) []byte
	// Free gives the memory back to the assigner.
	Free()
}

// fillPiece is how many bytes are stored at a time. A plain file is read, and lines are counted, in
// such pieces.
const fillPiece = 1 << 20

// hostTexts is a pool of buffers in memory of the host.
type hostTexts struct {
	members *memberPool // nil: texts don't inflate members of BGZF
	mu      sync.Mutex
	free    []*hostText
}

// hostText is a TextBuffer, and a memberText.
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
		h.free = h.free[1:] // too small: let it be collected
	}
	return &hostText{pool: h, buf: make([]byte, n)}
}

func (h *hostTexts) clear() { h.free = nil }

func (t *hostText) Room() int { return len(t.buf) }

func (t *hostText) Grow(n, keep int) error {
	if n > len(t.buf) {
		larger := make([]byte, n)
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

func (t *hostText) Host(n int) []byte { return t.buf[:n] }

func (t *hostText) Free() {
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	t.pool.free = append(t.pool.free, t)
}

// textWindow reads a text near a few places, a window at a time. After an error, which is in err,
// what it returns means nothing.
type textWindow struct {
	text TextBuffer
	n    int // bytes of the text
	err  error

	from int
	p    []byte // from there on
}

const windowSize = 64 << 10

// load makes the window contain byte at, which is in the text, and most of what is before it.
func (w *textWindow) load(at int) bool {
	if at >= w.from && at < w.from+len(w.p) {
		return true
	}
	to := min(w.n, at+windowSize/8)
	from := max(0, to-windowSize)
	p, err := w.text.Read(from, to)
	if err != nil {
		w.err, w.from, w.p = err, 0, nil
		return false
	}
	w.from, w.p = from, p
	return true
}

// at returns a byte of the text.
func (w *textWindow) at(i int) byte {
	if !w.load(i) {
		return 0
	}
	return w.p[i-w.from]
}

// lastLineEnd returns the offset after the last '\n' before end, 0 if there is none.
func (w *textWindow) lastLineEnd(end int) int {
	for end > 0 && w.load(end-1) {
		if i := bytes.LastIndexByte(w.p[:end-w.from], '\n'); i >= 0 {
			return w.from + i + 1
		}
		end = w.from
	}
	return 0
}

// lineBefore returns the start of the line that ends at end.
func (w *textWindow) lineBefore(end int) int { return w.lastLineEnd(end - 1) }

// nextLineEnd returns the offset after the first '\n' from..limit-1, or -1.
func (w *textWindow) nextLineEnd(from, limit int) int {
	for from < limit {
		if from < w.from || from >= w.from+len(w.p) {
			to := min(w.n, from+windowSize)
			p, err := w.text.Read(from, to)
			if err != nil {
				w.err, w.from, w.p = err, 0, nil
				return -1
			}
			w.from, w.p = from, p
		}
		end := min(limit, w.from+len(w.p))
		if i := bytes.IndexByte(w.p[from-w.from:end-w.from], '\n'); i >= 0 {
			return from + i + 1
		}
		from = end
	}
	return -1
}

// appendRest appends the text from byte from on.
func (w *textWindow) appendRest(dst []byte, from int) []byte {
	for from < w.n {
		if from < w.from || from >= w.from+len(w.p) {
			to := min(w.n, from+windowSize)
			p, err := w.text.Read(from, to)
			if err != nil {
				w.err, w.from, w.p = err, 0, nil
				return dst
			}
			w.from, w.p = from, p
		}
		dst = append(dst, w.p[from-w.from:]...)
		from = w.from + len(w.p)
	}
	return dst
}
