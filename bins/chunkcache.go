package bins

import (
	"runtime"
	"runtime/debug"

	"orcomgo/internal/tasks"
)

// chunkCache holds chunks of names and qualities of which a part was read. Slices are cut at other places than chunks, and their names are
// read in several steps: without it chunks of slices of 2 MiB were decoded two to seven times.
type chunkCache struct{ tasks.Cache[chunkKey, []byte] }

// chunkKey is chunk `chunk` of a section of a block.
type chunkKey struct{ sec, block, chunk int }

// The cache takes at most one in cachedShare bytes of what the process may take, and cachedChunks chunks for each thread.
const (
	cachedShare  = 128
	cachedChunks = 2
)

// cachedNow returns how many chunks of 1 MiB are cached at most.
func cachedNow() int {
	return min(cachedChunks*(runtime.GOMAXPROCS(0)+1), int(debug.SetMemoryLimit(-1)/cachedShare>>20))
}

// chunk returns the bytes of a chunk, which must not be changed. decode returns them if they are not in the cache; it is called by one
// caller at a time for each chunk.
func (c *chunkCache) chunk(key chunkKey, decode func() ([]byte, error)) ([]byte, error) {
	wait := func(done <-chan struct{}) error {
		<-done
		return nil
	}
	data, err := c.Get(key, wait, decode)
	if err != nil {
		c.Drop(key) // so that the next caller tries again: an error of reading need not last
		return nil, err
	}
	most := cachedNow()
	c.Shrink(func(age int, _ []byte) bool { return age >= most })
	return data, nil
}
