package crypt

import (
	"crypto/rand"
	"fmt"
	"io"
	"sync"

	"golang.org/x/crypto/chacha20poly1305"

	"orcomgo/bins/parse"
)

// The lengths of blocks, in bytes: of the content, and of what is stored, with nonce and tag.
const (
	blockLen  = 64 << 10
	nonceLen  = chacha20poly1305.NonceSize
	sealedLen = nonceLen + blockLen + chacha20poly1305.Overhead
)

// keptBlocks is how many blocks of a file are kept, for what is read piece by piece. So many in a row are read at once at most.
const (
	keptBlocks = 64
	runBlocks  = 512
)

// File is the content of an encrypted file. It is safe for concurrent use.
type File struct {
	e     *Envelope
	from  io.ReaderAt
	zeros bool // blocks that are damaged are read as zeros

	mu   sync.Mutex
	size int64
	kept map[int64][]byte // content of blocks

	// Of a file that is written, where the first block and those that are not full are kept:
	to     io.WriterAt
	filled []int32 // how many bytes were written to each block; those that are full are stored
	sealed []byte  // room for a block
}

// Content returns that of a file of so many bytes.
func (e *Envelope) Content(file io.ReaderAt, size int64) *File {
	n := max(size-int64(len(e.header)), 0)
	content := n/sealedLen*blockLen + max(n%sealedLen-(sealedLen-blockLen), 0)
	return &File{e: e, from: file, size: content, kept: make(map[int64][]byte)}
}

// Create returns the content of a new file, which is empty. Flush stores what is written to it.
func (e *Envelope) Create(to interface {
	io.ReaderAt
	io.WriterAt
}) *File {
	f := e.Content(to, 0)
	f.to, f.sealed = to, make([]byte, sealedLen)
	return f
}

// Envelope returns what the content is encrypted by.
func (f *File) Envelope() *Envelope { return f.e }

// Lenient returns the same content, but with zeros where it can't be read because it is damaged.
func (f *File) Lenient() *File {
	return &File{e: f.e, from: f.from, zeros: true, size: f.size, kept: make(map[int64][]byte)}
}

// Size returns how many bytes the content has.
func (f *File) Size() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.size
}

// ReadAt implements io.ReaderAt. The error wraps parse.ErrCorrupt if a block is damaged.
func (f *File) ReadAt(p []byte, at int64) (done int, err error) {
	for done < len(p) {
		size := f.Size()
		if at >= size {
			return done, io.EOF
		}
		n, err := f.read(p[done:][:min(int64(len(p)-done), size-at)], at, size)
		done, at = done+n, at+int64(n)
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// read is ReadAt within content of so many bytes. It may return less: of a block that is kept, or of as many as are read at once.
func (f *File) read(p []byte, at, size int64) (done int, err error) {
	i, last := at/blockLen, (at+int64(len(p))-1)/blockLen
	last = min(last, i+runBlocks-1)
	f.mu.Lock()
	b := f.kept[i]
	for k := i + 1; k <= last; k++ {
		if f.kept[k] != nil {
			last = k - 1
		}
	}
	f.mu.Unlock()
	if b != nil {
		return copy(p, b[at%blockLen:min(size-i*blockLen, blockLen)]), nil
	}
	stored := make([]byte, f.place(last)-f.place(i)+min(size-last*blockLen, blockLen)+sealedLen-blockLen)
	if n, err := f.from.ReadAt(stored, f.place(i)); n < len(stored) && err != io.EOF {
		return 0, err
	}
	for ; i <= last; i++ {
		sealed := stored[:min(sealedLen, len(stored))]
		stored = stored[len(sealed):]
		n, skip := len(sealed)-(sealedLen-blockLen), int(at%blockLen)
		if skip == 0 && n <= len(p)-done {
			if err := f.open(p[done:done+n], sealed, i); err != nil {
				return done, err
			}
		} else {
			b := make([]byte, n)
			if err := f.open(b, sealed, i); err != nil {
				return done, err
			}
			f.keep(i, b)
			n = copy(p[done:], b[skip:])
		}
		done, at = done+n, at+int64(n)
	}
	return done, nil
}

// keep keeps a block that was read, unless the file is written.
func (f *File) keep(i int64, b []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.to != nil {
		return
	}
	if len(f.kept) == keptBlocks {
		clear(f.kept)
	}
	f.kept[i] = b
}

// place returns where block i is stored.
func (f *File) place(i int64) int64 { return int64(len(f.e.header)) + i*sealedLen }

// Blocks returns where whole blocks of n bytes of the content are stored, and how many bytes they have there.
func (f *File) Blocks(at, n int64) (from, stored int64) {
	first, end := (at+blockLen-1)/blockLen, (at+n)/blockLen
	return f.place(first), max(end-first, 0) * sealedLen
}

// open decrypts block i, which fills b then.
func (f *File) open(b, sealed []byte, i int64) error {
	_, err := f.e.aead.Open(b[:0], sealed[:nonceLen], sealed[nonceLen:], nil)
	switch {
	case err == nil:
		return nil
	case f.zeros:
		clear(b)
		return nil
	}
	return fmt.Errorf("an encrypted block was changed, at byte %d of what is stored: %w", f.place(i), parse.ErrCorrupt)
}

// WriteAt implements io.WriterAt. Nothing may be left out in the end; to write again what was written takes as long as to read it.
func (f *File) WriteAt(p []byte, at int64) (done int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size == 0 { // nothing of the content is stored before the header
		if _, err := f.to.WriteAt(f.e.header, 0); err != nil {
			return 0, err
		}
	}
	for done < len(p) {
		i := at / blockLen
		for int64(len(f.filled)) <= i {
			f.filled = append(f.filled, 0)
		}
		b := f.kept[i]
		switch whole := at%blockLen == 0 && len(p)-done >= blockLen; {
		case b != nil:
		case whole && i > 0:
			b = p[done:][:blockLen] // and stored at once
		case f.filled[i] >= blockLen:
			b = make([]byte, blockLen)
			if _, err = io.ReadFull(io.NewSectionReader(f.from, f.place(i), sealedLen), f.sealed); err == nil {
				err = f.open(b, f.sealed, i)
			}
		default:
			b = make([]byte, blockLen)
		}
		if err != nil {
			return done, err
		}
		n := copy(b[at%blockLen:], p[done:])
		f.kept[i] = b
		f.filled[i] += int32(n)
		done, at = done+n, at+int64(n)
		f.size = max(f.size, at)
		if f.filled[i] >= blockLen && i > 0 && f.size >= (i+1)*blockLen {
			if err := f.store(i); err != nil {
				return done, err
			}
			delete(f.kept, i)
		}
	}
	return done, nil
}

// Write implements io.Writer: it appends to the file. It is for one goroutine.
func (f *File) Write(p []byte) (int, error) { return f.WriteAt(p, f.Size()) }

// store writes a block that is kept. f.mu must be held.
func (f *File) store(i int64) error {
	nonce := f.sealed[:nonceLen]
	rand.Read(nonce) // does not fail
	_, err := f.to.WriteAt(f.e.aead.Seal(nonce, nonce, f.kept[i][:min(f.size-i*blockLen, blockLen)], nil), f.place(i))
	return err
}

// Flush stores what is not stored yet. The file is that of its content then.
func (f *File) Flush() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.kept {
		if err := f.store(i); err != nil {
			return err
		}
	}
	return nil
}
