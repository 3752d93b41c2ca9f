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
	"strings"

	"github.com/neicnordic/crypt4gh/keys"
	"github.com/neicnordic/crypt4gh/model/headers"
	"golang.org/x/crypto/chacha20poly1305"

	"orcomgo/bins/parse"
)

// ErrKey is the error of files that no key opens which is known.
var ErrKey = errors.New("it is encrypted")

// ErrPlain is the error of files that are not encrypted where they must be.
var ErrPlain = errors.New("it is not encrypted")

// Key is a public or a secret key, of X25519.
type Key = [chacha20poly1305.KeySize]byte

// Envelope is the header of a file, and the key of the data that is in it. Files may have the same one.
type Envelope struct {
	header []byte
	data   Key
	aead   cipher.AEAD
}

// The header has a number of packets at countAt, and then the packets, one for each reader, which begin with their lengths.
const (
	countAt   = 12
	packetsAt = 16
	minPacket = 4 + 4 + chacha20poly1305.KeySize + chacha20poly1305.NonceSize + 4 + chacha20poly1305.Overhead
	// mostHeader is the longest header that is read, in bytes: one for 9,700 readers.
	mostHeader = 1 << 20
)

// New returns an envelope with a new key of the data, for the readers of these public keys.
func New(readers ...Key) (*Envelope, error) {
	e := new(Envelope)
	rand.Read(e.data[:]) // does not fail
	return e.For(readers...)
}

// For returns an envelope with the key of the data of e, for other readers.
func (e *Envelope) For(readers ...Key) (*Envelope, error) {
	_, writer, err := keys.GenerateKeyPair()
	if err != nil {
		return nil, err
	}
	h := headers.Header{Version: headers.Version, HeaderPacketCount: uint32(len(readers))}
	copy(h.MagicNumber[:], headers.MagicNumber)
	for _, r := range readers {
		h.HeaderPackets = append(h.HeaderPackets, headers.HeaderPacket{WriterPrivateKey: writer, ReaderPublicKey: r,
			EncryptedHeaderPacket: headers.DataEncryptionParametersHeaderPacket{DataKey: e.data}})
	}
	header, err := h.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return envelope(header, e.data)
}

// And returns an envelope for the readers of e and others.
func (e *Envelope) And(readers ...Key) (*Envelope, error) {
	more, err := e.For(readers...)
	if err != nil {
		return nil, err
	}
	header := append(bytes.Clone(e.header), more.header[packetsAt:]...)
	binary.LittleEndian.PutUint32(header[countAt:], uint32(e.Readers()+more.Readers()))
	return envelope(header, e.data)
}

func envelope(header []byte, data Key) (*Envelope, error) {
	aead, err := chacha20poly1305.New(data[:])
	return &Envelope{header, data, aead}, err
}

// Readers returns how many readers the header is for, whoever they are.
func (e *Envelope) Readers() int { return int(binary.LittleEndian.Uint32(e.header[countAt:])) }

// Header returns the header, which must not be changed.
func (e *Envelope) Header() []byte { return e.header }

// Encrypted reports whether a file that begins with these bytes is encrypted.
func Encrypted(first []byte) bool { return strings.HasPrefix(string(first), headers.MagicNumber) }

// ReadHeader returns the header of an encrypted file as an envelope without the key. The error is ErrPlain or wraps parse.ErrCorrupt.
func ReadHeader(file io.ReaderAt) (*Envelope, error) {
	first := make([]byte, packetsAt)
	if n, _ := file.ReadAt(first, 0); !Encrypted(first[:n]) {
		return nil, ErrPlain
	}
	header, err := headers.ReadHeader(io.NewSectionReader(file, 0, mostHeader))
	for rest := header; err == nil && len(rest) > 0; rest = rest[binary.LittleEndian.Uint32(rest):] {
		if len(rest) == len(header) {
			rest = rest[packetsAt:]
		}
		if len(rest) < minPacket || binary.LittleEndian.Uint32(rest) < minPacket {
			err = io.ErrUnexpectedEOF
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the header of what is encrypted is damaged: %w", parse.ErrCorrupt)
	}
	return &Envelope{header: header}, nil
}

// Open returns the envelope of an encrypted file, by the first of the secret keys that opens it. The error wraps ErrKey if none does, and
// parse.ErrCorrupt if the header is damaged.
func Open(file io.ReaderAt, secrets ...Key) (e *Envelope, err error) {
	defer func() { // package headers does not check what it has decrypted
		if recover() != nil {
			err = errors.New("the header of what is encrypted has what Crypt4GH does not know")
		}
	}()
	e, err = ReadHeader(file)
	if err != nil {
		return nil, err
	}
	for _, secret := range secrets {
		h, err := headers.NewHeader(bytes.NewReader(e.header), secret)
		if err != nil {
			continue
		}
		if h.GetDataEditListHeaderPacket() != nil {
			return nil, errors.New("parts of it were cut out after it was encrypted (an edit list): crypt4gh decrypt shows what is left")
		}
		if list, err := h.GetDataEncryptionParameterHeaderPackets(); err == nil {
			return envelope(e.header, (*list)[0].DataKey)
		}
	}
	if len(secrets) == 0 {
		return nil, fmt.Errorf("%w: --key KEY opens it", ErrKey)
	}
	return nil, fmt.Errorf("%w, and not for this --key", ErrKey)
}
