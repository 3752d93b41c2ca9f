package workers

import (
	"sync"
)

// Buffers recycles large byte slices between slices of records: a pool that garbage
// collection does not empty, since each would be tens of megabytes of fresh pages.
type Buffers struct {
	mu   sync.Mutex
	free [][]byte
	Keep int
}

// Get returns an empty slice with room for n bytes.
func (p *Buffers) Get(n int) []byte {
	p.mu.Lock()
	best := -1
	for i, b := range p.free {
		if cap(b) >= n && (best < 0 || cap(b) < cap(p.free[best])) {
			best = i
		}
	}
	var b []byte
	if best >= 0 {
		b = p.free[best]
		p.free[best] = p.free[len(p.free)-1]
		p.free = p.free[:len(p.free)-1]
	}
	if b == nil && len(p.free) > 0 {
		// One that is too small is freed in its place: slices are of nearly equal sizes, so the next will be too large for it as well.
		p.free = p.free[:len(p.free)-1]
	}
	p.mu.Unlock()
	if b == nil {
		b = make([]byte, 0, n+n/64)
	}
	return b[:0]
}

// Put takes b back.
func (p *Buffers) Put(b []byte) {
	if cap(b) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) < p.Keep {
		p.free = append(p.free, b)
		return
	}
	for i := range p.free {
		if cap(p.free[i]) < cap(b) {
			p.free[i] = b
			return
		}
	}
}
