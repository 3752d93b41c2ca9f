package crypt

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/neicnordic/crypt4gh/keys"
	"github.com/neicnordic/crypt4gh/streaming"
)

// memory is a file in memory.
type memory struct{ b []byte }

func (m *memory) ReadAt(p []byte, at int64) (int, error) { return bytes.NewReader(m.b).ReadAt(p, at) }
func (m *memory) WriteAt(p []byte, at int64) (int, error) {
	if n := int(at) + len(p) - len(m.b); n > 0 {
		m.b = append(m.b, make([]byte, n)...)
	}
	return copy(m.b[at:], p), nil
}

// TestFile writes at random places, reads at others, and compares with a slice of bytes and with what the reference program decrypts.
func TestFile(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	public, secret, err := keys.GenerateKeyPair()
	if err != nil {
		t.Fatal(err)
	}
	for range 12 {
		e, err := New(public)
		if err != nil {
			t.Fatal(err)
		}
		stored := new(memory)
		f := e.Create(stored)
		content := make([]byte, 1+rnd.IntN(200*blockLen))
		size := 0
		for range 300 {
			at := rnd.IntN(len(content))
			n := min(rnd.IntN(3*blockLen), len(content)-at)
			for i := range n {
				content[at+i] = byte(rnd.Uint32())
			}
			if _, err := f.WriteAt(content[at:at+n], int64(at)); err != nil {
				t.Fatal(err)
			}
			if n > 0 {
				size = max(size, at+n)
			}
			if rnd.IntN(50) == 0 {
				if err := f.Flush(); err != nil {
					t.Fatal(err)
				}
			}
			compare(t, rnd, f, content[:size])
		}
		if err := f.Flush(); err != nil {
			t.Fatal(err)
		}
		theirs, err := streaming.NewCrypt4GHReader(bytes.NewReader(stored.b), secret, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(theirs); err != nil || !bytes.Equal(got, content[:size]) {
			t.Fatalf("the reference program has %d of %d bytes: %v", len(got), size, err)
		}
		ours, err := OpenFile(stored, int64(len(stored.b)), secret)
		if err != nil || ours.Size() != int64(size) {
			t.Fatal(err)
		}
		for range 50 {
			compare(t, rnd, ours, content[:size])
		}
	}
}

func compare(t *testing.T, rnd *rand.Rand, f *File, content []byte) {
	at := rnd.IntN(len(content) + 1)
	got := make([]byte, rnd.IntN(1<<rnd.IntN(20)+1))
	n, err := f.ReadAt(got, int64(at))
	if n != min(len(got), len(content)-at) || (n < len(got)) != (err == io.EOF) || !bytes.Equal(got[:n], content[at:at+n]) {
		t.Fatalf("%d bytes at %d of %d: %d, %v", len(got), at, len(content), n, err)
	}
}
