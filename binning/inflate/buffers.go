package inflate

import (
	"slices"
	"sync"
)

// buffers is a pool of buffers of at most so many bytes together.
type buffers struct {
	mu   sync.Mutex
	most int
	size int // of all, in use or free
	free [][]byte
	over bool // nothing is kept any longer
}

// get returns a buffer of n bytes or more, nil if there is no room for it and force is not
// set.
func (b *buffers) get(n int, force bool) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	best := -1
	for i, f := range b.free {
		if cap(f) >= n && cap(f) <= 4*n && (best < 0 || cap(f) < cap(b.free[best])) {
			best = i
		}
	}
	if best >= 0 {
		buf := b.free[best]
		b.free = slices.Delete(b.free, best, best+1)
		return buf[:n]
	}
	for b.size+n > b.most && len(b.free) > 0 {
		b.size -= cap(b.free[0])
		b.free = slices.Delete(b.free, 0, 1)
	}
	if b.size+n > b.most && !force {
		return nil
	}
	b.size += n
	return make([]byte, n)
}

// put takes a buffer back.
func (b *buffers) put(buf []byte) {
	if buf == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over || b.size > b.most {
		b.size -= cap(buf)
		return
	}
	b.free = append(b.free, buf[:cap(buf)])
}

// grow returns a larger buffer with the first n bytes of buf, which it takes back; nil if
// there is no room for it.
func (b *buffers) grow(buf []byte, n int) []byte {
	larger := b.get(len(buf)+len(buf)/2, false)
	if larger != nil {
		copy(larger, buf[:n])
		b.put(buf)
	}
	return larger
}

// drop frees all buffers that are not lent, and those that are when they come back.
func (b *buffers) drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.free {
		b.size -= cap(f)
	}
	b.free, b.over = nil, true
}
