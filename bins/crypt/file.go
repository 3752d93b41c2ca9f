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

// keptBlocks is how many blocks of a file are kept, for what is read piece by piece.
const keptBlocks = 64

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
		left := f.Size() - at
		if left <= 0 {
			return done, io.EOF
		}
		b, err := f.block(at / blockLen)
		if err != nil {
			return done, err
		}
		n := copy(p[done:], b[at%blockLen:][:min(left, blockLen-at%blockLen)])
		done, at = done+n, at+int64(n)
	}
	return done, nil
}

// block returns the content of a block.
func (f *File) block(i int64) ([]byte, error) {
	f.mu.Lock()
	b, size := f.kept[i], f.size
	f.mu.Unlock()
	if b != nil {
		return b, nil
	}
	b, err := f.load(i, int(min(size-i*blockLen, blockLen)))
	if err == nil && f.to == nil {
		f.mu.Lock()
		if len(f.kept) == keptBlocks {
			clear(f.kept)
		}
		f.kept[i] = b
		f.mu.Unlock()
	}
	return b, err
}

// place returns where block i is stored.
func (f *File) place(i int64) int64 { return int64(len(f.e.header)) + i*sealedLen }

// load reads block i, whose content has n bytes.
func (f *File) load(i int64, n int) ([]byte, error) {
	b := make([]byte, n+sealedLen-blockLen)
	got, err := f.from.ReadAt(b, f.place(i))
	if got == len(b) || err == io.EOF {
		_, err = f.e.aead.Open(b[nonceLen:nonceLen], b[:nonceLen], b[nonceLen:], nil)
		if err != nil {
			err = fmt.Errorf("an encrypted block was changed, at byte %d of what is stored: %w", f.place(i), parse.ErrCorrupt)
		}
		if err != nil && f.zeros {
			clear(b)
			err = nil
		}
	}
	return b[nonceLen:][:n], err
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
			b, err = f.load(i, blockLen)
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
