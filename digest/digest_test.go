package digest

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"io"
	"testing"
)

// TestDigest: the checksums of bytes that come in pieces, at once and by a stream, and of those only that are asked for.
func TestDigest(t *testing.T) {
	data := make([]byte, 3*pieceLen+17)
	for i := range data {
		data[i] = byte(i * i >> 7)
	}
	for _, n := range []int{0, 1, hashPiece, pieceLen, len(data)} {
		whole := Sums{SHA256: sha256.Sum256(data[:n]), MD5: md5.Sum(data[:n])}
		for _, of := range [][2]bool{{true, true}, {true, false}, {false, true}, {}} {
			want := Sums{}
			if of[0] {
				want.SHA256 = whole.SHA256
			}
			if of[1] {
				want.MD5 = whole.MD5
			}
			d := New(of[0], of[1])
			d.Write(data[:n/3])
			d.Sums() // does not change what follows
			d.Write(data[n/3 : n])
			if got := d.Sums(); got != want {
				t.Errorf("%d bytes: %+v, want %+v", n, got, want)
			}
			s := NewStream(t.Context(), New(of[0], of[1]))
			if m, err := io.Copy(io.Discard, io.TeeReader(bytes.NewReader(data[:n]), s)); err != nil || m != int64(n) {
				t.Fatal(m, err)
			}
			if got, err := s.Sums(); err != nil || got != want || s.Size() != uint64(n) {
				t.Errorf("%d bytes by a stream: %+v, %v, want %+v", n, got, err, want)
			}
		}
	}
}

// TestStreamCancelled: the goroutines of a stream end with its context, and nothing waits for them then.
func TestStreamCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := NewStream(ctx, New(true, true))
	s.Write(make([]byte, 3*streamPieces*pieceLen))
	cancel()
	if _, err := s.Write(make([]byte, 3*streamPieces*pieceLen)); !errors.Is(err, context.Canceled) { // which nobody may take any more
		t.Error(err)
	}
	s.wait.Wait()
	if _, err := s.Sums(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
