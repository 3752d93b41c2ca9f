package crypt

import (
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"sync"

	"golang.org/x/crypto/chacha20poly1305"

	"orcomgo/bins/parse"
)

// The lengths of blocks, in bytes: of the content, and as they are stored, with nonce and tag.
const (
	blockLen  = 64 << 10
	sealedLen = chacha20poly1305.NonceSize + blockLen + chacha20poly1305.Overhead
)

// Decrypted blocks of a file are kept, those that were used last. What is read at a time is of runBlocks or less; package storage fetches so
// many side by side.
const (
	keptBlocks = 64
	runBlocks  = 512
)

// Storage is where the bytes of an encrypted file are.
type Storage interface {
	io.ReaderAt
	io.WriterAt
}

// File is the content of an encrypted file. It is safe for concurrent use.
type File struct {
	e      *Envelope
	from   io.ReaderAt
	header int64
	zeros  bool // blocks that are damaged are read as zeros

	mu    sync.Mutex
	size  int64
	kept  map[int64]*block
	reads int64

	// Of files that are written:
	to     io.WriterAt // nil of others
	there  []bool      // which blocks were written
	headed bool        // so was the header
	sealed []byte      // room for a block
}

// block is a block of the content.
type block struct {
	data    []byte
	used    int64 // the read that it was used by last
	changed bool
}

// Read returns the content of a file of so many bytes. If its envelope has another header than the file, header is the length of that.
func (e *Envelope) Read(file io.ReaderAt, header, size int64) *File {
	n := max(size-header, 0)
	return &File{e: e, from: file, header: header, size: n - (n+sealedLen-1)/sealedLen*(sealedLen-blockLen), kept: make(map[int64]*block)}
}

// OpenFile returns the content of a file of so many bytes, which one of the keys opens. Errors are those of Open.
func OpenFile(file io.ReaderAt, size int64, secrets ...Key) (*File, error) {
	e, header, err := Open(file, secrets)
	if err != nil {
		return nil, err
	}
	return e.Read(file, header, size), nil
}

// Create returns the content of a new file, which is empty.
func (e *Envelope) Create(to Storage) *File {
	return &File{e: e, from: to, header: int64(len(e.Header())), kept: make(map[int64]*block), to: to, sealed: make([]byte, sealedLen)}
}

// Envelope returns what the content is encrypted by.
func (f *File) Envelope() *Envelope { return f.e }

// Lenient returns the same content, but with zeros where it can't be read because it is damaged.
func (f *File) Lenient() *File {
	return &File{e: f.e, from: f.from, header: f.header, zeros: true, size: f.size, kept: make(map[int64]*block)}
}

// Size returns how many bytes the content has.
func (f *File) Size() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.size
}

// ReadAt implements io.ReaderAt. The error wraps parse.ErrCorrupt if a block is damaged.
func (f *File) ReadAt(p []byte, at int64) (int, error) {
	if f.to != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
	}
	short := error(nil)
	if left := max(f.size-at, 0); int64(len(p)) > left {
		p, short = p[:left], io.EOF
	}
	for done := 0; done < len(p); {
		i, from := (at+int64(done))/blockLen, int((at+int64(done))%blockLen)
		var n int
		var err error
		if b := f.keptBlock(i); b != nil {
			n = copy(p[done:], b[from:])
		} else if f.to != nil {
			var b *block
			if b, err = f.change(i); err == nil {
				n = copy(p[done:], b.data[from:])
			}
		} else {
			n, err = f.fetch(p[done:], i, from)
		}
		if err != nil {
			return done, err
		}
		done += n
	}
	return len(p), short
}

// keptBlock returns a block that is kept, or nil.
func (f *File) keptBlock(i int64) []byte {
	if f.to == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
	}
	b := f.kept[i]
	if b == nil {
		return nil
	}
	f.reads++
	b.used = f.reads
	return b.data
}

// fetch reads blocks, the first of which is block i, and copies them to p, the first from an offset on. It returns how many bytes of p it
// has filled.
func (f *File) fetch(p []byte, i int64, from int) (done int, err error) {
	last := min(i+int64(from+len(p)-1)/blockLen, i+runBlocks-1)
	stored := make([]byte, (last-i)*sealedLen+int64(f.length(last))+sealedLen-blockLen)
	if n, err := f.from.ReadAt(stored, f.header+i*sealedLen); n < len(stored) && !f.zeros {
		if err == io.EOF {
			err = fmt.Errorf("the file ends early: %w", parse.ErrCorrupt)
		}
		return 0, err
	}
	for ; i <= last; i++ {
		b := stored[:min(len(stored), sealedLen)]
		stored = stored[len(b):]
		if n := f.length(i); from == 0 && len(p)-done >= n { // in its place
			err = f.open(p[done:done:done+n], b, i)
			done += n
		} else {
			content := make([]byte, n)
			if err = f.open(content[:0], b, i); err == nil {
				f.keep(i, content)
				done += copy(p[done:], content[from:])
			}
		}
		if err != nil {
			return done, err
		}
		from = 0
	}
	return done, nil
}

// length returns how many bytes of content block i has.
func (f *File) length(i int64) int { return int(min(f.size-i*blockLen, blockLen)) }

// open appends the content of a stored block to dst, which has room for it.
func (f *File) open(dst, stored []byte, i int64) error {
	for _, c := range f.e.ciphers {
		if _, err := c.Open(dst, stored[:chacha20poly1305.NonceSize], stored[chacha20poly1305.NonceSize:], nil); err == nil {
			return nil
		}
	}
	if f.zeros {
		clear(dst[:cap(dst)])
		return nil
	}
	return fmt.Errorf("an encrypted block was changed, at byte %d of what is stored: %w", f.header+i*sealedLen, parse.ErrCorrupt)
}

// keep keeps a block of a file that is only read.
func (f *File) keep(i int64, content []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	f.kept[i] = &block{data: content, used: f.reads}
	if len(f.kept) > keptBlocks {
		delete(f.kept, f.oldest())
	}
}

// oldest returns which of the blocks that are kept, but for the last of the file, was used longest ago.
func (f *File) oldest() (oldest int64) {
	first := f.reads + 1
	for i, b := range f.kept {
		if b.used < first && (i+1)*blockLen < f.size {
			oldest, first = i, b.used
		}
	}
	return oldest
}

// WriteAt implements io.WriterAt. Blocks are stored once they are not used any more.
func (f *File) WriteAt(p []byte, at int64) (done int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.headed {
		if _, err := f.to.WriteAt(f.e.Header(), 0); err != nil {
			return 0, err
		}
		f.headed = true
	}
	if last := f.kept[f.size/blockLen]; last != nil && at+int64(len(p)) > f.size {
		last.changed = true // it may be stored as the last one, which is shorter
	}
	for done < len(p) {
		i, from := (at+int64(done))/blockLen, int((at+int64(done))%blockLen)
		b, err := f.change(i)
		if err != nil {
			return done, err
		}
		n := copy(b.data[from:], p[done:])
		b.changed = true
		done += n
		f.size = max(f.size, at+int64(done))
	}
	return done, nil
}

// Write implements io.Writer: it appends to the file. It is for one goroutine.
func (f *File) Write(p []byte) (int, error) { return f.WriteAt(p, f.Size()) }

// change returns block i of a file that is written, which is kept from then on, with the bytes that it has so far. f.mu must be held.
func (f *File) change(i int64) (*block, error) {
	f.reads++
	if b := f.kept[i]; b != nil {
		b.used = f.reads
		return b, nil
	}
	b := &block{data: make([]byte, blockLen), used: f.reads}
	if i < int64(len(f.there)) && f.there[i] {
		if n, err := f.from.ReadAt(f.sealed, f.header+i*sealedLen); n < sealedLen {
			return nil, err
		}
		if err := f.open(b.data[:0], f.sealed, i); err != nil {
			return nil, err
		}
	}
	if len(f.kept) >= keptBlocks {
		oldest := f.oldest()
		if err := f.store(oldest); err != nil {
			return nil, err
		}
		delete(f.kept, oldest)
	}
	f.kept[i] = b
	return b, nil
}

// store writes a block that is kept, if it was changed: all of it unless it is the last one. f.mu must be held.
func (f *File) store(i int64) error {
	b := f.kept[i]
	if !b.changed {
		return nil
	}
	nonce := f.sealed[:chacha20poly1305.NonceSize]
	rand.Read(nonce)
	sealed := f.e.ciphers[0].Seal(nonce, nonce, b.data[:f.length(i)], nil)
	if _, err := f.to.WriteAt(sealed, f.header+i*sealedLen); err != nil {
		return err
	}
	if missing := int(i) + 1 - len(f.there); missing > 0 {
		f.there = append(f.there, make([]bool, missing)...)
	}
	f.there[i], b.changed = true, false
	return nil
}

// Flush stores what is not stored yet. The file is that of its content then.
func (f *File) Flush() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range (f.size + blockLen - 1) / blockLen {
		if i >= int64(len(f.there)) || !f.there[i] { // new, or a hole
			b, err := f.change(i)
			if err != nil {
				return err
			}
			b.changed = true
		}
	}
	kept := make([]int64, 0, len(f.kept))
	for i := range f.kept {
		kept = append(kept, i)
	}
	slices.Sort(kept)
	for _, i := range kept {
		if err := f.store(i); err != nil {
			return err
		}
	}
	return nil
}
