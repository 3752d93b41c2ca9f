package binning

import "sync"

// textCopy is a copy of the end of a text that is stored in memory of a device. What is read of it to cut the text, or to see where the
// next block begins, need not wait for the device, which still copies the text.
type textCopy struct {
	mu   sync.Mutex
	from int // offset in the text of the first byte of p
	p    []byte
}

// keep notes that bytes were stored at an offset of the text.
func (c *textCopy) keep(stored []byte, at int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if end := at + len(stored); end > c.from+len(c.p) {
		c.from = max(at, end-windowSize)
		c.p = append(c.p[:0], stored[c.from-at:]...)
	}
}

// cut notes that only the first n bytes of the text are left.
func (c *textCopy) cut(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.from+len(c.p) > n {
		c.from, c.p = 0, c.p[:0]
	}
}

// read sets p to the bytes from an offset of the text on. It returns false if it does not have them.
func (c *textCopy) read(p []byte, from int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if from < c.from || from+len(p) > c.from+len(c.p) {
		return false
	}
	copy(p, c.p[from-c.from:])
	return true
}
