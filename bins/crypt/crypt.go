// Package crypt reads and writes files that are encrypted as Crypt4GH (a standard of GA4GH) has it, at any place of them: a header that has
// the key of the data for each reader, and then blocks of 64 KiB, each encrypted and authenticated on its own by ChaCha20-Poly1305.
package crypt

import (
	"bytes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/neicnordic/crypt4gh/keys"
	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/chacha20poly1305"

	"orcomgo/bins/parse"
)

// ErrKey is the error of files that no key opens which is known.
var ErrKey = errors.New("it is encrypted")

// Magic is how encrypted files begin.
const Magic = "crypt4gh"

// The header has a version and a number of packets, each of which has its length, a method, the public key of the writer, a nonce, and what
// is encrypted by that key and the reader's: a kind, a method, and the key of the data.
const (
	version     = 1
	fixedLen    = 16
	packetStart = 4 + 4 + chacha20poly1305.KeySize + chacha20poly1305.NonceSize
	secretLen   = 4 + 4 + chacha20poly1305.KeySize
	packetLen   = packetStart + secretLen + chacha20poly1305.Overhead
	editList    = 1 // the kind of a packet that says which bytes of the data are meant
	// mostHeader is the longest header that is read, in bytes: one for 9,700 readers.
	mostHeader = 1 << 20
)

// Key is a public or a secret key, of X25519.
type Key = [chacha20poly1305.KeySize]byte

// Envelope is the header of a file, and the keys of the data that are in it. Files may have the same one.
type Envelope struct {
	packets [][]byte // of the header
	data    [][]byte // keys; files that this package makes have one
	ciphers []cipher.AEAD
}

// New returns an envelope with a new key of the data, for the readers of these public keys.
func New(readers ...Key) (*Envelope, error) {
	data := make([]byte, chacha20poly1305.KeySize)
	rand.Read(data) // does not fail
	e := new(Envelope)
	if err := e.addKey(data); err != nil {
		return nil, err
	}
	for _, r := range readers {
		if err := e.Add(r); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (e *Envelope) addKey(data []byte) error {
	c, err := chacha20poly1305.New(data)
	e.data, e.ciphers = append(e.data, data), append(e.ciphers, c)
	return err
}

// Open returns the envelope of a file, and how long its header is, by the first of the secret keys that opens it. The error wraps ErrKey if
// none does, and parse.ErrCorrupt if it is no header.
func Open(file io.ReaderAt, secrets []Key) (e *Envelope, length int64, err error) {
	e = new(Envelope)
	if e.packets, length, err = readPackets(file); err != nil {
		return nil, 0, err
	}
	for _, p := range e.packets {
		for _, secret := range secrets {
			content, err := openPacket(p, func(writer Key) (*[]byte, error) { return keys.GenerateReaderSharedKey(secret, writer) })
			if err != nil {
				continue
			}
			if binary.LittleEndian.Uint32(content) == editList {
				return nil, 0, errors.New("parts of it were cut out after it was encrypted (an edit list): crypt4gh decrypt shows what is left")
			}
			if len(content) == secretLen && binary.LittleEndian.Uint64(content) == 0 {
				if err := e.addKey(content[8:]); err != nil {
					return nil, 0, err
				}
			}
		}
	}
	switch {
	case len(e.data) > 0:
		return e, length, nil
	case len(secrets) == 0:
		return nil, 0, fmt.Errorf("%w: --key KEY opens it", ErrKey)
	}
	return nil, 0, fmt.Errorf("%w, and not for this --key", ErrKey)
}

// Readers returns for how many readers a file is encrypted, whoever they are; 0 for one that is not.
func Readers(file io.ReaderAt) (int, error) {
	magic := make([]byte, len(Magic))
	if n, err := file.ReadAt(magic, 0); string(magic[:n]) != Magic {
		if err == io.EOF {
			err = nil
		}
		return 0, err
	}
	packets, _, err := readPackets(file)
	return len(packets), err
}

// Readers returns how many readers the header is for.
func (e *Envelope) Readers() int { return len(e.packets) }

// readPackets returns the packets of a header, and how long it is.
func readPackets(file io.ReaderAt) (packets [][]byte, length int64, err error) {
	r := io.NewSectionReader(file, 0, mostHeader)
	damaged := fmt.Errorf("its header is damaged: %w", parse.ErrCorrupt)
	fixed := make([]byte, fixedLen)
	if _, err := io.ReadFull(r, fixed); err != nil || string(fixed[:8]) != Magic || binary.LittleEndian.Uint32(fixed[8:]) != version {
		return nil, 0, damaged
	}
	length = fixedLen
	for range binary.LittleEndian.Uint32(fixed[12:]) {
		var n [4]byte
		if _, err := io.ReadFull(r, n[:]); err != nil {
			return nil, 0, damaged
		}
		p := make([]byte, min(binary.LittleEndian.Uint32(n[:]), mostHeader))
		if len(p) < packetStart+chacha20poly1305.Overhead {
			return nil, 0, damaged
		}
		copy(p, n[:])
		if _, err := io.ReadFull(r, p[len(n):]); err != nil {
			return nil, 0, damaged
		}
		packets, length = append(packets, p), length+int64(len(p))
	}
	return packets, length, nil
}

// openPacket returns what a packet has, of four bytes at least, given the function for the key that its reader and its writer share.
func openPacket(p []byte, shared func(writer Key) (*[]byte, error)) ([]byte, error) {
	if binary.LittleEndian.Uint32(p[4:]) != 0 {
		return nil, errors.ErrUnsupported
	}
	key, err := shared(Key(p[8:]))
	if err != nil {
		return nil, err
	}
	c, err := chacha20poly1305.New(*key)
	if err != nil {
		return nil, err
	}
	nonce := p[8+chacha20poly1305.KeySize : packetStart]
	content, err := c.Open(nil, nonce, p[packetStart:], nil)
	if err == nil && len(content) < 4 {
		err = errors.ErrUnsupported
	}
	return content, err
}

// writer returns the secret key by which this package adds readers. It follows from the key of the data, so whoever can read the file can
// tell which packet is a reader's.
func (e *Envelope) writer() Key {
	return blake2b.Sum256(append([]byte("orcomgo: who wrote the header"), e.data[0]...))
}

// Add adds a reader to the header, unless it is one.
func (e *Envelope) Add(reader Key) error {
	if e.number(reader) >= 0 {
		return nil
	}
	writer := e.writer()
	for _, data := range e.data {
		key, err := keys.GenerateWriterSharedKey(writer, reader)
		if err != nil {
			return err
		}
		c, err := chacha20poly1305.New(*key)
		if err != nil {
			return err
		}
		p := binary.LittleEndian.AppendUint64(nil, packetLen) // and the method, 0
		public := keys.DerivePublicKey(writer)
		p = append(p, public[:]...)
		nonce := make([]byte, chacha20poly1305.NonceSize)
		rand.Read(nonce)
		p = append(p, nonce...)
		e.packets = append(e.packets, c.Seal(p, nonce, append(make([]byte, 8), data...), nil))
	}
	return nil
}

// Remove removes a reader from the header, and reports whether it was one that this package has added.
func (e *Envelope) Remove(reader Key) bool {
	was := len(e.packets)
	for i := e.number(reader); i >= 0; i = e.number(reader) {
		e.packets = slices.Delete(e.packets, i, i+1)
	}
	return len(e.packets) < was
}

// number returns that of the first packet of a reader, or -1.
func (e *Envelope) number(reader Key) int {
	writer := e.writer()
	shared := func(Key) (*[]byte, error) { return keys.GenerateWriterSharedKey(writer, reader) }
	return slices.IndexFunc(e.packets, func(p []byte) bool {
		_, err := openPacket(p, shared)
		return err == nil
	})
}

// Header returns the header.
func (e *Envelope) Header() []byte {
	b := binary.LittleEndian.AppendUint32([]byte(Magic), version)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(e.packets)))
	return append(b, bytes.Join(e.packets, nil)...)
}
