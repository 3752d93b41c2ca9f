package crypt

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	crand "crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/neicnordic/crypt4gh/keys"
	"github.com/neicnordic/crypt4gh/streaming"
	"golang.org/x/crypto/ssh"
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
		content := make([]byte, 1+rnd.IntN(50*blockLen))
		for i := range content {
			content[i] = byte(rnd.Uint32())
		}
		size := 0
		for size < len(content) { // what is written at a time is in any order, and some of it twice
			end := min(size+1+rnd.IntN(10*blockLen), len(content))
			var pieces [][2]int
			for at := size; at < end; {
				to := min(at+1+rnd.IntN(1<<rnd.IntN(19)), end)
				pieces = append(pieces, [2]int{at, to}, [2]int{max(at-rnd.IntN(1000), 0), to})
				at = to
			}
			rnd.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
			for _, p := range pieces {
				if _, err := f.WriteAt(content[p[0]:p[1]], int64(p[0])); err != nil {
					t.Fatal(err)
				}
			}
			size = end
			if rnd.IntN(2) == 0 {
				if err := f.Flush(); err != nil {
					t.Fatal(err)
				}
			}
			for range 20 {
				compare(t, rnd, f, content[:size])
			}
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
		if e, err = Open(stored, secret); err != nil {
			t.Fatal(err)
		}
		ours := e.Content(stored, int64(len(stored.b)))
		for range 50 {
			compare(t, rnd, ours, content[:size])
		}
	}
}

// TestReferenceFile reads the file that the tests of the reference program decrypt, by the key that they have.
func TestReferenceFile(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/neicnordic/crypt4gh").Output()
	if err != nil {
		t.Skip("no go command: ", err)
	}
	content := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	key := regexp.MustCompile("crypt4ghX25519Sec = `([^`]*)`").FindSubmatch(content("streaming/streaming_test.go"))
	if key == nil {
		t.Fatal("their test has no key")
	}
	secret, err := SecretKey(key[1], func() ([]byte, error) { return []byte("password"), nil })
	if err != nil {
		t.Fatal(err)
	}
	stored, want := content("test/sample.txt.enc"), content("test/sample.txt")
	e, err := Open(bytes.NewReader(stored), secret)
	if err != nil {
		t.Fatal(err)
	}
	f := e.Content(bytes.NewReader(stored), int64(len(stored)))
	if got, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size())); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d: %v", len(got), len(want), err)
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

// FuzzOpen: whatever a file begins with, it is opened or there is an error, and so are its blocks.
func FuzzOpen(f *testing.F) {
	public, secret, err := keys.GenerateKeyPair()
	if err != nil {
		f.Fatal(err)
	}
	e, err := New(public, public)
	if err != nil {
		f.Fatal(err)
	}
	stored := new(memory)
	c := e.Create(stored)
	c.Write([]byte("content"))
	c.Flush()
	f.Add(stored.b, 20, byte(1))
	f.Fuzz(func(t *testing.T, b []byte, at int, change byte) {
		b = bytes.Clone(b)
		if at >= 0 && at < len(b) {
			b[at] ^= change
		}
		e, err := Open(bytes.NewReader(b), secret)
		if err != nil {
			return
		}
		c := e.Content(bytes.NewReader(b), int64(len(b)))
		got, err := io.ReadAll(io.NewSectionReader(c, 0, c.Size()))
		if err == nil && int64(len(got)) != c.Size() {
			t.Fatalf("%d of %d bytes", len(got), c.Size())
		}
	})
}

// TestKeysOfSSH: keys of OpenSSH open what they encrypt, with a passphrase or without; those of other kinds are refused.
func TestKeysOfSSH(t *testing.T) {
	public, secret, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	to, err := PublicKey(ssh.MarshalAuthorizedKey(key))
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(to)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := ssh.MarshalPrivateKey(secret, "")
	locked, err2 := ssh.MarshalPrivateKeyWithPassphrase(secret, "", []byte("sesame"))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	asked := ""
	ask := func() ([]byte, error) { return []byte(asked), nil }
	for _, file := range []*pem.Block{plain, locked} {
		asked = "mustard"
		if _, err := SecretKey(pem.EncodeToMemory(file), ask); (err == nil) != (file == plain) {
			t.Error(err)
		}
		asked = "sesame"
		mine, err := SecretKey(pem.EncodeToMemory(file), ask)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(bytes.NewReader(e.Header()), mine); err != nil {
			t.Error(err)
		}
	}
	other, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err = ssh.MarshalPrivateKey(other, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := SecretKey(pem.EncodeToMemory(plain), ask); err == nil {
		t.Error("a key of another kind was read")
	}
	if key, err = ssh.NewPublicKey(&other.PublicKey); err != nil {
		t.Fatal(err)
	}
	if _, err := PublicKey(ssh.MarshalAuthorizedKey(key)); err == nil {
		t.Error("a public key of another kind was read")
	}
}
