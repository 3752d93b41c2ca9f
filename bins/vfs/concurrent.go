package vfs

import (
	"sync"
	"sync/atomic"
)

// ConcurrentWriter writes to a file from several goroutines at a time, each to other bytes.
//
// The system lets one thread write to a file at a time. Where the content of files is in memory only (tmpfs), this bounds the rate,
// and a goroutine that would have to wait copies to a mapping of the file instead. With small pages that takes 1.7 times as much processor
// time; with large ones it takes less than a write, and goroutines hardly wait for each other. Until Finish is called, the file may be
// longer than what was written.
type ConcurrentWriter struct {
	f *File
	// writing is held during a write. Threads that wait for the system use up processor time.
	writing sync.Mutex
	// fewLargePages is set once the system refused a large page of the file, or took long: each call waits for all processors, and where
	// free memory is in small pieces, pages are put together by moving others.
	fewLargePages atomic.Bool

	mu       sync.Mutex
	unmapped bool  // mappings can't be used
	end      int64 // of all that was or is being written
	size     int64 // that the file was given for mappings; 0 if it was given none
}

// NewConcurrentWriter returns a writer to f, which must be empty.
func NewConcurrentWriter(f *File) *ConcurrentWriter {
	return &ConcurrentWriter{f: f, unmapped: !canMapWrites(f.f)}
}

// extendBy is by how many bytes the file is made longer than what is being written to it, because each such call waits for a write
// to end. It takes no memory.
const extendBy = 1 << 30

// WriteAt implements io.WriterAt.
func (c *ConcurrentWriter) WriteAt(p []byte, at int64) (int, error) {
	c.mu.Lock()
	c.end = max(c.end, at+int64(len(p)))
	c.mu.Unlock()
	if !c.writing.TryLock() {
		if done, err := c.writeMapped(p, at); err != nil {
			return 0, err
		} else if done {
			return len(p), nil
		}
		c.writing.Lock()
	}
	defer c.writing.Unlock()
	return c.f.WriteAt(p, at)
}

// writeMapped writes p by mappings of the file. It returns false if that is not possible, as where there is no room for all of p; some
// of p may be written then.
func (c *ConcurrentWriter) writeMapped(p []byte, at int64) (bool, error) {
	if !c.extend(at + int64(len(p))) {
		return false, nil
	}
	if err := injectFault("pwrite", c.f.path); err != nil {
		return false, withPath(c.f.path, err)
	}
	if !copyToMapping(c.f.f, p, at, &c.fewLargePages) {
		c.mu.Lock()
		c.unmapped = true
		c.mu.Unlock()
		return false, nil
	}
	return true, nil
}

// extend makes the file at least so long, or returns false if mappings can't be used.
func (c *ConcurrentWriter) extend(size int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.unmapped && size > c.size {
		c.size = c.end + extendBy
		c.unmapped = c.f.f.Truncate(c.size) != nil
	}
	return !c.unmapped
}

// Finish cuts the file where what was written ends. All calls of WriteAt must have returned.
func (c *ConcurrentWriter) Finish() error {
	if c.size == 0 {
		return nil
	}
	if err := injectFault("ftruncate", c.f.path); err != nil {
		return withPath(c.f.path, err)
	}
	return withPath(c.f.path, c.f.f.Truncate(c.end))
}
