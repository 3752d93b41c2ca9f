package binning

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"hash"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"orcomgo/bins/record"
)

// RecordMode says what of the input files is recorded (record.Source).
type RecordMode int

// The modes.
const (
	// RecordNothing: the archive of a text is the same, whatever file it was read from.
	RecordNothing RecordMode = iota
	// RecordTime: name, size and time.
	RecordTime
	// RecordCompressed: checksums, too, but of plain files only those of their text, which pack computes: a plain file is read
	// faster than one thread can compute its checksums.
	RecordCompressed
	// RecordAll: checksums of all files.
	RecordAll
)

// hasher computes SHA-256 and MD5 of bytes in two goroutines, which end with its context.
type hasher struct {
	ctx    context.Context
	free   chan *hasherPiece
	queues [2]chan *hasherPiece
	hashes [2]hash.Hash
	wait   sync.WaitGroup
	size   uint64
}

// hasherPiece is bytes that both goroutines take.
type hasherPiece struct {
	data []byte
	left atomic.Int32 // goroutines that still need it
}

const (
	hasherPieces   = 8
	hasherPieceLen = 128 << 10
)

func newHasher(ctx context.Context) *hasher {
	h := &hasher{ctx: ctx, free: make(chan *hasherPiece, hasherPieces), hashes: [2]hash.Hash{sha256.New(), md5.New()}}
	for range hasherPieces {
		h.free <- new(hasherPiece)
	}
	for i := range h.queues {
		h.queues[i] = make(chan *hasherPiece, hasherPieces)
		h.wait.Add(1)
		go func() {
			defer h.wait.Done()
			h.hash(i)
		}()
	}
	return h
}

// hash computes one of the two checksums.
func (h *hasher) hash(i int) {
	for {
		select {
		case p, ok := <-h.queues[i]:
			if !ok {
				return
			}
			h.hashes[i].Write(p.data) // a hash.Hash does not fail
			if p.left.Add(-1) == 0 {
				h.free <- p
			}
		case <-h.ctx.Done():
			return
		}
	}
}

// next returns a piece to be filled and given to put; nil after the end of the context.
func (h *hasher) next() *hasherPiece {
	select {
	case p := <-h.free:
		if p.data == nil {
			p.data = make([]byte, hasherPieceLen)
		}
		p.data = p.data[:hasherPieceLen]
		return p
	case <-h.ctx.Done():
		return nil
	}
}

// put adds a piece.
func (h *hasher) put(p *hasherPiece) {
	h.size += uint64(len(p.data))
	p.left.Store(int32(len(h.queues)))
	for _, q := range h.queues {
		q <- p // there is room for all pieces
	}
}

// write adds bytes.
func (h *hasher) write(b []byte) {
	for len(b) > 0 {
		p := h.next()
		if p == nil {
			return
		}
		p.data = p.data[:copy(p.data, b)]
		b = b[len(p.data):]
		h.put(p)
	}
}

// sums returns the checksums of all that was added. Nothing may be added then. The error is that of the context.
func (h *hasher) sums() (*record.Checksums, error) {
	for _, q := range h.queues {
		close(q)
	}
	h.wait.Wait()
	if err := h.ctx.Err(); err != nil {
		return nil, err
	}
	s := new(record.Checksums)
	h.hashes[0].Sum(s.SHA256[:0])
	h.hashes[1].Sum(s.MD5[:0])
	return s, nil
}

// tee reads r and hashes what it reads.
type tee struct {
	r io.Reader
	h *hasher
}

// Read implements io.Reader.
func (t *tee) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.h.write(p[:n])
	return n, err
}

// fileSums are the checksums of an input, which are being computed.
type fileSums struct {
	tee *tee // what reads the input, unless it is a file that is read a second time, beside the other reading
	// Of such a file:
	start sync.Once
	over  atomic.Bool   // the other reading is
	done  chan struct{} // closed when the following are set; nil before start
	sums  *record.Checksums
	size  uint64
	err   error
}

// begin starts to compute the checksums of a file that is read a second time. It is called when the first block of the input is read:
// the second reading takes its bytes from the cache of the first.
func (f *fileSums) begin(ctx context.Context, s *source, places chan struct{}) {
	if f == nil || f.tee != nil {
		return
	}
	f.start.Do(func() {
		f.done = make(chan struct{})
		go func() {
			defer close(f.done)
			select {
			case places <- struct{}{}:
				defer func() { <-places }()
			case <-ctx.Done():
				f.err = ctx.Err()
				return
			}
			f.read(ctx, s)
		}()
	})
}

// The second reading of a file is at most so many bytes ahead of the first, so that one of them finds in the cache what the other has
// read, also where the file is larger than the memory. Tests change it.
var aheadMost uint64 = 64 << 20

// aheadWait is how long it waits for the first reading before it looks again.
const aheadWait = 5 * time.Millisecond

// read reads the file of a source.
func (f *fileSums) read(ctx context.Context, s *source) {
	h := newHasher(ctx)
	for at := int64(0); ; {
		for uint64(at) > s.count.Load()+aheadMost && !f.over.Load() && ctx.Err() == nil {
			time.Sleep(aheadWait)
		}
		p := h.next()
		if p == nil {
			break
		}
		n, err := s.f.ReadAt(p.data, at)
		p.data = p.data[:n]
		at += int64(n)
		h.put(p)
		if err != nil {
			if err != io.EOF {
				f.err = s.wrap(err)
			}
			break
		}
	}
	sums, err := h.sums()
	if f.err == nil {
		f.sums, f.size, f.err = sums, h.size, err
	}
}

// end waits for the checksums, after the last block of the input. It returns how many bytes they are of, too.
func (f *fileSums) end() (*record.Checksums, uint64, error) {
	if f.tee == nil {
		f.over.Store(true)
		<-f.done
		return f.sums, f.size, f.err
	}
	// A decompressor may leave bytes at the end.
	if _, err := io.Copy(io.Discard, f.tee); err != nil {
		return nil, 0, err
	}
	sums, err := f.tee.h.sums()
	return sums, f.tee.h.size, err
}

// stop waits for the goroutines that use the file of the source, after the context has ended.
func (f *fileSums) stop() {
	if f != nil && f.done != nil {
		<-f.done
	}
}

// recordSources sets what is recorded of the files of the inputs, which have been read.
func (r *run) recordSources(infos []record.Input) error {
	if r.Record == RecordNothing {
		return nil
	}
	for i, in := range r.inputs {
		s := &record.Source{Size: infos[i].SourceBytes, Plain: !in.src.compressed,
			TextMD5: r.Record > RecordTime && r.Options.Exact(infos[i].Kind), Sample: in.spec.Sample}
		if in.src.named {
			s.Name = inputFile(in.spec.Path)
		}
		if b := in.src.before; b != nil && record.Recordable(b.ModTime()) {
			s.Time = b.ModTime().UTC()
		}
		if f := in.src.sums; f != nil {
			var err error
			if s.Sums, s.Size, err = f.end(); err != nil {
				return err
			}
		}
		infos[i].Source = s
	}
	return nil
}
