// Package storage reads archives where the system has no files: object storage (s3://BUCKET/PREFIX/) and web servers (https://). It makes
// these places remotes of package vfs, so that whatever reads archives reads them there, too: by ranges, of which few large ones are asked
// for, with a cache for what is read twice.
package storage

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"orcomgo/bins/vfs"
)

// Objects are fetched and kept in blocks. The first request for a place is of as many blocks as are read there, less than largeLen; of one
// beside blocks that were fetched already twice as many as these are, up to runBlocks. At the end of an object, where archives have their
// manifests, endBlocks are fetched at once.
const (
	blockLen   = 64 << 10
	runBlocks  = 64
	endBlocks  = 8
	keptBlocks = 1024 // of all objects together
	// What is longer is fetched by several requests to where it is wanted, and not kept.
	largeLen   = 8 << 20
	leastPart  = 24 << 20
	largeParts = 4
)

// A request is tried so often; before each time but the first the wait is twice as long. Tests don't wait.
const tries = 6

var firstWait = 100 * time.Millisecond

// errChanged is the error of objects that are not what they were when they were opened.
var errChanged = errors.New("it was replaced while it was read")

// object is a vfs.RemoteFile.
type object struct {
	info  vfs.RemoteInfo
	cache *cache
	get   func(from, n int64) (io.ReadCloser, error) // returns n bytes from an offset on
}

// passing is an error of a request that is worth another try.
type passing struct{ error }

// errEarly is the error of an answer that is shorter than it should be.
var errEarly = errors.New("the connection broke off")

// Stat describes the object.
func (o *object) Stat() fs.FileInfo { return &o.info }

func (o *object) ReadAt(p []byte, at int64) (int, error) {
	n := min(int64(len(p)), max(o.info.Length-at, 0))
	short := error(nil)
	if n < int64(len(p)) {
		p, short = p[:n], io.EOF
	}
	done := 0
	for done < int(n) {
		if n-int64(done) >= largeLen && !o.cache.has(o, (at+int64(done))/blockLen) {
			if err := o.large(p[done:], at+int64(done)); err != nil {
				return done, err
			}
			break
		}
		b, err := o.cache.block(o, (at+int64(done))/blockLen, (at+n-1)/blockLen, true)
		if err != nil {
			return done, err
		}
		done += copy(p[done:], b[(at+int64(done))%blockLen:])
	}
	return int(n), short
}

func (o *object) Fetch(at, n int64) {
	for i, last := at/blockLen, (min(at+n, o.info.Length)-1)/blockLen; i <= last; i++ {
		o.cache.block(o, i, last, false)
	}
}

// large fills p by several requests.
func (o *object) large(p []byte, at int64) error {
	var g errgroup.Group
	g.SetLimit(largeParts)
	each := (len(p)-1)/min(max(len(p)/leastPart, 1), largeParts) + 1
	for from := 0; from < len(p); from += each {
		part := p[from:min(from+each, len(p))]
		g.Go(func() error { return o.fetch(at+int64(from), part, func(int) {}) })
	}
	return g.Wait()
}

// fetch fills p with the bytes from an offset on, by as many requests as that takes. It calls got with how many are there.
func (o *object) fetch(at int64, p []byte, got func(n int)) error {
	done := 0
	return retry(func() error {
		r, err := o.get(at+int64(done), int64(len(p)-done))
		if err != nil {
			return err
		}
		defer r.Close()
		for done < len(p) {
			n, err := r.Read(p[done:])
			done += n
			if got(done); err != nil && done < len(p) {
				return passing{errEarly}
			}
		}
		return nil
	})
}

// retry calls f until its error is none that is worth another try, or it was tried often enough.
func retry(f func() error) (err error) {
	wait := firstWait
	for try := 1; ; try++ {
		var again passing
		if err = f(); !errors.As(err, &again) {
			return err
		}
		if try == tries {
			return again.error
		}
		time.Sleep(wait)
		wait *= 2
	}
}

// cache keeps blocks of objects, those that were read last.
type cache struct {
	mu     sync.Mutex
	blocks map[place]*block
	reads  int64
}

// place is that of a block: in an object of this path and time.
type place struct {
	path     string
	modified time.Time
	number   int64
}

// block is part of an object that was fetched, or is being fetched.
type block struct {
	ready chan struct{} // closed when data or err is set
	data  []byte
	err   error
	used  int64 // the read that it was used by last
}

func newCache() *cache { return &cache{blocks: make(map[place]*block)} }

// has reports whether block i of an object was fetched, or is being fetched.
func (c *cache) has(o *object, i int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.blocks[place{o.info.Path, o.info.Modified, i}] != nil
}

// block returns block i of an object, of which the blocks up to last are wanted next, and with more perhaps those after them.
func (c *cache) block(o *object, i, last int64, more bool) ([]byte, error) {
	at := place{o.info.Path, o.info.Modified, i}
	c.mu.Lock()
	b := c.blocks[at]
	if b == nil {
		b = c.begin(o, at, last, more)
	}
	c.reads++
	b.used = c.reads
	c.mu.Unlock()
	<-b.ready
	return b.data, b.err
}

// begin starts to fetch the blocks of an object from a place on, at its end also those before, and returns that of the place. With more,
// they are more if those before were fetched.
func (c *cache) begin(o *object, at place, last int64, more bool) *block {
	n := min(last-at.number+1, largeLen/blockLen)
	before := at
	for before.number--; more && c.blocks[before] != nil && at.number-before.number < runBlocks; before.number-- {
		n = max(n, min(2*(at.number-before.number), runBlocks))
	}
	blocks := (o.info.Length + blockLen - 1) / blockLen
	wanted := at.number
	if at.number >= blocks-endBlocks {
		n = endBlocks
		for before.number = at.number - 1; before.number >= max(blocks-endBlocks, 0) && c.blocks[before] == nil; before.number-- {
			at = before
		}
	}
	n = min(n, blocks-at.number)
	var run []*block
	for k := at; k.number < at.number+n && c.blocks[k] == nil; k.number++ {
		b := &block{ready: make(chan struct{}), used: c.reads}
		c.blocks[k] = b
		run = append(run, b)
	}
	c.forget()
	go func() {
		from := at.number * blockLen
		data := make([]byte, min(int64(len(run))*blockLen, o.info.Length-from))
		ready := 0
		err := o.fetch(from, data, func(n int) {
			for ; ready < len(run) && (n >= (ready+1)*blockLen || n == len(data)); ready++ {
				run[ready].data = data[ready*blockLen : min((ready+1)*blockLen, len(data))]
				close(run[ready].ready)
			}
		})
		if err == nil {
			return
		}
		c.mu.Lock() // they are not kept
		for k := range run[ready:] {
			delete(c.blocks, place{at.path, at.modified, at.number + int64(ready+k)})
		}
		c.mu.Unlock()
		for _, b := range run[ready:] {
			b.err = err
			close(b.ready)
		}
	}()
	return run[wanted-at.number]
}

// forget removes blocks until there are as many as are kept, or less; first those that were used longest ago.
func (c *cache) forget() {
	if len(c.blocks) <= keptBlocks+runBlocks {
		return
	}
	limit := c.reads - keptBlocks/2
	for at, b := range c.blocks {
		select {
		case <-b.ready:
			if b.used < limit {
				delete(c.blocks, at)
			}
		default:
		}
	}
}

// failure returns the error of an answer of a server: what it said, and whether it is worth another try.
func failure(status int, what string) error {
	switch {
	case status == http.StatusNotFound:
		return fs.ErrNotExist
	case status == http.StatusForbidden, status == http.StatusUnauthorized:
		return fs.ErrPermission
	case status == http.StatusPreconditionFailed:
		return errChanged
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return passing{errors.New(what)}
	}
	return errors.New(what)
}

// again returns an error of a connection as one that is worth another try, unless the context has ended.
func again(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	return passing{err}
}
