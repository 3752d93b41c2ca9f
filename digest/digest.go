// Package digest computes the checksums of files and texts: SHA-256 and MD5, side by side, and the hash of a block of text.
package digest

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"hash"
	"sync"
	"sync/atomic"
)

// Sums are the checksums of all bytes of a file or text. One that is not computed is zeros.
type Sums struct {
	SHA256 [32]byte
	MD5    [16]byte
}

// Digest computes the SHA-256 and the MD5 of what is written to it, or one of them.
type Digest struct{ sha256, md5 hash.Hash } // nil if it is not computed

// New returns a Digest of no bytes.
func New(ofSHA256, ofMD5 bool) *Digest {
	d := new(Digest)
	if ofSHA256 {
		d.sha256 = sha256.New()
	}
	if ofMD5 {
		d.md5 = md5.New()
	}
	return d
}

// Write adds bytes: to the two checksums at the same time. It never fails.
func (d *Digest) Write(p []byte) (int, error) {
	var other sync.WaitGroup
	if d.md5 != nil {
		other.Go(func() { d.AddMD5(p) })
	}
	d.AddSHA256(p)
	other.Wait()
	return len(p), nil
}

// AddSHA256 is the part of Write that computes the SHA-256.
func (d *Digest) AddSHA256(p []byte) { add(d.sha256, p) }

// AddMD5 is the part of Write that computes the MD5.
func (d *Digest) AddMD5(p []byte) { add(d.md5, p) }

// hashPiece is how many bytes are given to a hash.Hash at a time. Its loop can't be interrupted, so for each collection of garbage all
// other threads wait until it is through with them.
const hashPiece = 32 << 10

// add adds bytes to a hash unless that is nil.
func add(h hash.Hash, p []byte) {
	for h != nil && len(p) > 0 {
		n := min(len(p), hashPiece)
		h.Write(p[:n]) // a hash.Hash does not fail
		p = p[n:]
	}
}

// Sums returns the checksums of all that was written.
func (d *Digest) Sums() (s Sums) {
	if d.sha256 != nil {
		d.sha256.Sum(s.SHA256[:0])
	}
	if d.md5 != nil {
		d.md5.Sum(s.MD5[:0])
	}
	return s
}

// A Stream computes SHA-256 and MD5 in a goroutine each, while its caller makes the next bytes. The goroutines end with its context, or
// with Sums. It is used by one goroutine.
type Stream struct {
	ctx    context.Context
	digest *Digest
	free   chan *piece
	queues [2]chan *piece // of the goroutine of each checksum
	wait   sync.WaitGroup
	size   uint64
}

// piece is bytes that both goroutines take.
type piece struct {
	data []byte
	left atomic.Int32 // goroutines that still need it
}

const (
	streamPieces = 8
	pieceLen     = 128 << 10
)

// NewStream starts the goroutines that add to a Digest.
func NewStream(ctx context.Context, d *Digest) *Stream {
	s := &Stream{ctx: ctx, digest: d, free: make(chan *piece, streamPieces)}
	for range streamPieces {
		s.free <- new(piece)
	}
	for i, add := range [len(s.queues)]func(p []byte){d.AddSHA256, d.AddMD5} {
		q := make(chan *piece, streamPieces)
		s.queues[i] = q
		s.wait.Go(func() { s.take(q, add) })
	}
	return s
}

// take adds the pieces of a queue to a checksum.
func (s *Stream) take(q chan *piece, add func(p []byte)) {
	for {
		select {
		case p, ok := <-q:
			if !ok {
				return
			}
			if add(p.data); p.left.Add(-1) == 0 {
				s.free <- p
			}
		case <-s.ctx.Done():
			return
		}
	}
}

// Fill calls read with free memory and adds the bytes that it reads there. It returns what read returns, or the error of the context.
func (s *Stream) Fill(read func(buf []byte) (n int, err error)) (n int, err error) {
	var p *piece
	select {
	case p = <-s.free:
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
	if p.data == nil {
		p.data = make([]byte, pieceLen)
	}
	n, err = read(p.data[:pieceLen])
	p.data = p.data[:n]
	s.size += uint64(n)
	p.left.Store(int32(len(s.queues)))
	for _, q := range s.queues {
		q <- p // there is room for all pieces
	}
	return n, err
}

// Write adds bytes. The error is that of the context.
func (s *Stream) Write(b []byte) (int, error) {
	done := 0
	for done < len(b) {
		n, err := s.Fill(func(buf []byte) (int, error) { return copy(buf, b[done:]), nil })
		if done += n; err != nil {
			return done, err
		}
	}
	return done, nil
}

// Size returns how many bytes were added.
func (s *Stream) Size() uint64 { return s.size }

// Sums ends the goroutines and returns the checksums of all that was added. Nothing may be added then. The error is that of the context.
func (s *Stream) Sums() (Sums, error) {
	for _, q := range s.queues {
		close(q)
	}
	s.wait.Wait()
	if err := s.ctx.Err(); err != nil {
		return Sums{}, err
	}
	return s.digest.Sums(), nil
}
