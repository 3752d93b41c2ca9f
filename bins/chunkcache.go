package bins

import (
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
)

// chunkCache holds chunks of names and qualities of which a part was read. Slices are cut at other places than chunks, and their names are
// read in several steps: without it chunks of slices of 2 MiB were decoded two to seven times.
type chunkCache struct {
	mu     sync.Mutex
	chunks []*cachedChunk // the one used last comes last
	free   [][]byte       // memory of chunks that were removed, for the next ones
}

// chunkKey is chunk `chunk` of a section of a block.
type chunkKey struct{ sec, block, chunk int }

type cachedChunk struct {
	chunkKey
	users   int           // that wait for it or copy from it
	decoded chan struct{} // closed when the data is there, or err
	data    []byte
	err     error
}

// The cache takes at most one in cachedShare bytes of what the process may take, and cachedChunks chunks for each thread.
const (
	cachedShare  = 128
	cachedChunks = 2
)

// cachedNow returns how many chunks of 1 MiB are cached at most.
func cachedNow() int {
	return min(cachedChunks*(runtime.GOMAXPROCS(0)+1), int(debug.SetMemoryLimit(-1)/cachedShare>>20))
}

// with calls f with the bytes of a chunk of n bytes, which must not be changed. decode decodes them if they are not in the cache; it is
// called by one caller at a time for each chunk.
func (c *chunkCache) with(key chunkKey, n int, decode func(dst []byte) error, f func(data []byte)) error {
	c.mu.Lock()
	at := slices.IndexFunc(c.chunks, func(x *cachedChunk) bool { return x.chunkKey == key })
	var x *cachedChunk
	if at >= 0 {
		x = c.chunks[at]
		c.chunks = append(slices.Delete(c.chunks, at, at+1), x)
		x.users++
		c.mu.Unlock()
		<-x.decoded
	} else {
		x = &cachedChunk{chunkKey: key, users: 1, decoded: make(chan struct{})}
		if k := len(c.free); k > 0 {
			x.data, c.free = c.free[k-1], c.free[:k-1]
		}
		c.chunks = append(c.chunks, x)
		c.mu.Unlock()
		x.data = resize(x.data, n)
		x.err = decode(x.data)
		close(x.decoded)
	}
	if x.err == nil {
		f(x.data)
	} else {
		c.forget(x)
	}
	c.leave(x)
	return x.err
}

// forget removes a chunk that could not be decoded, so that the next caller tries again: an error of reading need not last.
func (c *chunkCache) forget(x *cachedChunk) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := slices.Index(c.chunks, x); at >= 0 {
		c.chunks = slices.Delete(c.chunks, at, at+1)
	}
}

// leave ends the use of a chunk, and removes those that were used longest ago and are too many.
func (c *chunkCache) leave(x *cachedChunk) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x.users--
	most := cachedNow()
	for k := 0; k < len(c.chunks) && len(c.chunks) > most; {
		if x := c.chunks[k]; x.users == 0 {
			c.chunks = slices.Delete(c.chunks, k, k+1)
			if len(c.free) <= most/4 {
				c.free = append(c.free, x.data)
			}
			continue
		}
		k++
	}
}
