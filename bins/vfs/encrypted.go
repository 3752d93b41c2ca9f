package vfs

import (
	"errors"
	"io"

	"orcomgo/bins/crypt"
	"orcomgo/bins/parse"
)

// How files are encrypted. These are set while no file is open.
var (
	// Secrets are the keys by which OpenContent opens files.
	Secrets []crypt.Key
	// Encrypt, if not nil, is how files are encrypted that Create and CreateUnnamed make.
	Encrypt *crypt.Envelope
)

// encrypted has a new file encrypted as Encrypt says.
func encrypted(f *File, err error) (*File, error) {
	if err != nil || Encrypt == nil {
		return f, err
	}
	f.EncryptAs(Encrypt)
	return f, nil
}

// EncryptAs has a new file encrypted, whatever Encrypt says; with nil, not. What was written to it, a few bytes at most, is lost.
func (f *File) EncryptAs(e *crypt.Envelope) {
	stored := f.Stored()
	if *f = *stored; e != nil {
		f.show(e.Create(stored))
	}
}

// show has the content of a file read and written instead of what is stored.
func (f *File) show(c *crypt.File) { f.content, f.reader = c, io.NewSectionReader(c, 0, 1<<62) }

// Envelope returns how the file is encrypted; nil if it is not, or is seen as it is stored.
func (f *File) Envelope() *crypt.Envelope {
	if f.content == nil {
		return nil
	}
	return f.content.Envelope()
}

// Stored returns the file as it is stored, encrypted or not. It is closed with f.
func (f *File) Stored() *File {
	s := &File{f: f.f, remote: f.remote, upload: f.upload, path: f.path}
	if f.remote != nil {
		s.reader = io.NewSectionReader(f.remote, 0, f.remote.Stat().Size())
	}
	return s
}

// Lenient returns what is read of the file, but with zeros for what is encrypted and can't be decrypted since it is damaged.
func (f *File) Lenient() io.ReaderAt {
	if f.content == nil {
		return f
	}
	return f.content.Lenient()
}

// Size returns how many bytes are read of the file.
func (f *File) Size() (int64, error) {
	if f.content != nil {
		return f.content.Size(), nil
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// OpenContent is OpenRegular for a file of an archive: if it is encrypted, what is read of it is its content. The error wraps
// crypt.ErrKey if no key opens it.
func OpenContent(path string) (*File, error) { return OpenAhead(path, 0) }

// OpenAhead is OpenContent of a file of which so many first bytes will be read: see File.Fetch.
func OpenAhead(path string, n int64) (*File, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	if n > 0 {
		f.Fetch(0, n)
	}
	stored := f.Stored()
	size, err := f.Size()
	var c *crypt.File
	if err == nil {
		c, err = Content(stored, size)
	}
	if err != nil {
		f.Close()
		return nil, OfPath(path, err)
	}
	if c != nil {
		f.show(c)
	}
	return f, nil
}

// firstLen is how much of a file is read to see whether it is encrypted: more than its first block and most headers take.
const firstLen = 68 << 10

// Content returns the content of so many bytes, if they are those of an encrypted file whose header is not damaged; else nil.
func Content(stored io.ReaderAt, size int64) (*crypt.File, error) {
	e, err := envelope(stored)
	switch {
	case errors.Is(err, parse.ErrCorrupt):
		return nil, nil
	case e == nil || err != nil:
		return nil, err
	}
	return e.Content(stored, size), nil
}

// envelope returns how a file is encrypted; nil if it is not.
func envelope(stored io.ReaderAt) (*crypt.Envelope, error) {
	first := make([]byte, 8)
	if len(Secrets) > 0 { // remotes are asked once for the header and what follows
		first = make([]byte, firstLen)
	}
	n, err := stored.ReadAt(first, 0)
	if !crypt.Encrypted(first[:n]) {
		if n >= 8 || err == io.EOF {
			err = nil
		}
		return nil, err
	}
	e, err := crypt.ReadHeader(stored)
	if err == nil && Encrypt != nil && string(e.Header()) == string(Encrypt.Header()) { // this process has made it
		return Encrypt, nil
	}
	return crypt.Open(stored, Secrets...)
}
