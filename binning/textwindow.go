package binning

import "bytes"

// textWindow reads the text of a TextBuffer near a few places. It keeps the window that it has read last,
// since the next place is usually near. The caller checks err at the end: after an error the methods
// return meaningless values, but they end.
type textWindow struct {
	text TextBuffer
	n    int // bytes of the text
	err  error

	from int    // offset of the window in the text
	p    []byte // its bytes
}

// windowSize is how many bytes of a window are read at a time.
const windowSize = 64 << 10

// has reports whether the window has the byte at an offset.
func (w *textWindow) has(at int) bool { return at >= w.from && at < w.from+len(w.p) }

// read makes bytes from..to-1 the window. It returns false after an error.
func (w *textWindow) read(from, to int) bool {
	if w.err != nil {
		return false
	}
	p, err := w.text.Read(from, to)
	if err != nil {
		w.err, w.from, w.p = err, 0, nil
		return false
	}
	w.from, w.p = from, p
	return true
}

// load makes the window contain the byte at an offset, and mostly bytes before it. It returns false after
// an error.
func (w *textWindow) load(at int) bool {
	to := min(w.n, at+windowSize/8)
	return w.has(at) || w.read(max(0, to-windowSize), to)
}

// loadAfter makes the window contain the byte at an offset, and mostly bytes after it. It returns false
// after an error.
func (w *textWindow) loadAfter(at int) bool {
	return w.has(at) || w.read(at, min(w.n, at+windowSize))
}

// at returns the byte at an offset.
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

// nextLineEnd returns the offset after the first '\n' of bytes from..limit-1, or -1 if there is none.
func (w *textWindow) nextLineEnd(from, limit int) int {
	for from < limit {
		if !w.loadAfter(from) {
			return -1
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
		if !w.loadAfter(from) {
			return dst
		}
		dst = append(dst, w.p[from-w.from:]...)
		from = w.from + len(w.p)
	}
	return dst
}

// blankTail returns the offset of the blank lines at the end of the text, as the function blankTail does.
func (w *textWindow) blankTail() int {
	for size := windowSize; ; size *= 8 {
		from := max(0, w.n-size)
		if !w.read(from, w.n) {
			return 0
		}
		// If only the first two bytes are not blank, it depends on the bytes before them.
		if k := blankTail(w.p); k >= 2 || from == 0 {
			return from + k
		}
	}
}
