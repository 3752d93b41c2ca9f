package vfs

import (
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"orcomgo/bins/crypt"
)

// encryption says how files are encrypted.
var encryption struct {
	sync.Mutex
	secrets  []crypt.Key
	envelope *crypt.Envelope   // of files that are made; nil: they are not encrypted
	known    []*crypt.Envelope // of files that were made
}

// SetKeys has files opened from now on that are encrypted for the holders of these secret keys.
func SetKeys(secrets ...crypt.Key) {
	encryption.Lock()
	defer encryption.Unlock()
	encryption.secrets, encryption.known = secrets, nil
}

// Encrypt has files that Create and CreateUnnamed make from now on encrypted; with nil, not. It is called while no such file is made.
func Encrypt(e *crypt.Envelope) {
	encryption.Lock()
	defer encryption.Unlock()
	encryption.envelope = e
}

// Encrypting reports whether Encrypt has files encrypted.
func Encrypting() bool {
	encryption.Lock()
	defer encryption.Unlock()
	return encryption.envelope != nil
}

// encrypted has a new file encrypted as Encrypt says.
func encrypted(f *File, err error) (*File, error) {
	encryption.Lock()
	e := encryption.envelope
	encryption.Unlock()
	if err != nil || e == nil {
		return f, err
	}
	return f, f.EncryptAs(e)
}

// EncryptAs has a new file encrypted, whatever Encrypt says; with nil, not. What was written to it is lost.
func (f *File) EncryptAs(e *crypt.Envelope) error {
	if f.content != nil {
		if err := f.Stored().SetSize(0); err != nil {
			return err
		}
	}
	if f.content, f.reader = nil, nil; e == nil {
		return nil
	}
	encryption.Lock()
	defer encryption.Unlock()
	if !slices.Contains(encryption.known, e) {
		encryption.known = append(encryption.known, e)
	}
	f.content = e.Create(f.Stored())
	f.reader = readOf(f.content)
	return nil
}

// Envelope returns how the file is encrypted; nil if it is not, or is seen as it is stored.
func (f *File) Envelope() *crypt.Envelope {
	if f.content == nil {
		return nil
	}
	return f.content.Envelope()
}

// Stored returns the file as it is stored, encrypted or not. It is closed with f.
func (f *File) Stored() *File {
	s := &File{f: f.f, remote: f.remote, path: f.path}
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
func OpenContent(path string) (*File, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err == nil {
		f.content, err = decrypted(f.Stored(), size)
	}
	if err != nil {
		f.Close()
		return nil, OfPath(path, err)
	}
	if f.content != nil {
		f.reader = readOf(f.content)
	}
	return f, nil
}

// readOf returns a reader of all of a file.
func readOf(f *crypt.File) io.Reader { return io.NewSectionReader(f, 0, 1<<62) }

// Content returns the content of so many bytes, if they are those of an encrypted file; else the bytes.
func Content(stored io.ReaderAt, size int64) (io.ReaderAt, int64, error) {
	c, err := decrypted(stored, size)
	if err != nil || c == nil {
		return stored, size, err
	}
	return c, c.Size(), nil
}

// firstLen is how much of a file is read to see whether it is encrypted: more than its first block and most headers take.
const firstLen = 68 << 10

// decrypted returns the content of an encrypted file; nil if it is none.
func decrypted(stored io.ReaderAt, size int64) (*crypt.File, error) {
	encryption.Lock()
	secrets, known := encryption.secrets, encryption.known
	encryption.Unlock()
	first := make([]byte, len(crypt.Magic))
	if len(secrets) > 0 { // remotes are asked once for the header and what follows
		first = make([]byte, firstLen)
	}
	n, err := stored.ReadAt(first, 0)
	if !strings.HasPrefix(string(first[:n]), crypt.Magic) {
		if n >= len(crypt.Magic) || err == io.EOF {
			err = nil
		}
		return nil, err
	}
	c, err := crypt.OpenFile(stored, size, secrets...)
	if errors.Is(err, crypt.ErrKey) {
		for _, e := range known { // no key is needed for files of this process
			if header := e.Header(); size >= int64(len(header)) {
				got := make([]byte, len(header))
				if n, _ := stored.ReadAt(got, 0); n == len(got) && slices.Equal(got, header) {
					return e.Read(stored, int64(len(header)), size), nil
				}
			}
		}
	}
	return c, err
}
