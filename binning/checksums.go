package binning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"orcomgo/bins/record"
	"orcomgo/digest"
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

// fileSums are the checksums of an input, which are being computed.
type fileSums struct {
	// first computes them of what is read of the input by tee; nil if that is a file that is read a second time, beside the other reading.
	first *digest.Stream
	tee   io.Reader
	// Of such a file:
	ahead    uint64 // how many bytes the second reading may be ahead
	keepGzip bool   // Config.KeepGzip says so
	start    sync.Once
	over     atomic.Bool   // the other reading is
	done     chan struct{} // closed when the following are set; nil before start
	sums     digest.Sums
	size     uint64
	err      error
}

// begin starts to compute the checksums of a file that is read a second time. It is called when the first block of the input is read:
// the second reading takes its bytes from the cache of the first.
func (f *fileSums) begin(ctx context.Context, s *source, places chan struct{}) {
	if f == nil || f.first != nil {
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
// read, also where the file is larger than the memory.
const aheadMost = 64 << 20

// recordsMD5 reports whether the MD5 of so many bytes of text is recorded. One thread computes it, and takes longer for many than all
// threads need to archive the text.
func (c *Config) recordsMD5(bytes uint64) bool {
	return c.Record == RecordAll || c.Record == RecordCompressed && bytes <= cmp.Or(c.mostMD5, 1e9)
}

// errNoFile is why a gzip file that comes by a pipe can't come back.
var errNoFile = errors.New("it is no file that can be read a second time")

// sumPiece is how many bytes are read at a time.
const sumPiece = 128 << 10

// aheadWait is how long it waits for the first reading before it looks again.
const aheadWait = 5 * time.Millisecond

// read reads the file of a source.
func (f *fileSums) read(ctx context.Context, s *source) {
	r := &secondReading{ctx: ctx, of: s, sums: digest.NewStream(ctx, digest.New(true, true)), f: f}
	var err error
	for buf := make([]byte, sumPiece); err == nil; {
		_, err = r.Read(buf)
	}
	f.size = r.sums.Size()
	if f.sums, f.err = r.sums.Sums(); f.err == nil && err != io.EOF {
		f.err = s.wrap(err)
	}
}

// secondReading reads the file of a source from its beginning, with a goroutine of its own, and sums it.
type secondReading struct {
	ctx  context.Context
	of   *source
	sums *digest.Stream
	f    *fileSums
}

func (r *secondReading) Read(p []byte) (int, error) {
	for r.sums.Size() > r.of.count.Load()+r.f.ahead && !r.f.over.Load() && r.ctx.Err() == nil {
		time.Sleep(aheadWait)
	}
	n, err := r.of.f.ReadAt(p, int64(r.sums.Size()))
	if _, failed := r.sums.Write(p[:n]); failed != nil {
		err = failed
	}
	return n, err
}

// end waits for the checksums, after the last block of the input. It returns how many bytes they are of, too.
func (f *fileSums) end() (digest.Sums, uint64, error) {
	if f.first == nil {
		f.over.Store(true)
		<-f.done
		return f.sums, f.size, f.err
	}
	// A decompressor may leave bytes at the end.
	if _, err := io.Copy(io.Discard, f.tee); err != nil {
		return digest.Sums{}, 0, err
	}
	sums, err := f.first.Sums()
	return sums, f.first.Size(), err
}

// recordSources sets what is recorded of the files of the inputs, which have been read.
func (r *run) recordSources(infos []record.Input) error {
	if r.Record == RecordNothing {
		return nil
	}
	for i, in := range r.inputs {
		s := &record.Source{Size: infos[i].SourceBytes, Plain: !in.src.compressed,
			TextMD5: r.Options.Exact(infos[i].Kind) && r.recordsMD5(infos[i].Bytes), Sample: in.spec.Sample}
		if in.src.named {
			s.Name = filepath.Base(in.spec.Path)
		}
		if b := in.src.before; b != nil && record.Recordable(b.ModTime()) {
			s.Time = b.ModTime().UTC()
		}
		if f := in.src.sums; f != nil {
			sums, size, err := f.end()
			if err != nil {
				return err
			}
			s.Sums, s.Size = &sums, size
			if r.Options.Exact(infos[i].Kind) {
				switch {
				case r.NeedGzip && f.first != nil && in.src.startGzip != nil:
					return fmt.Errorf("%s: only its text could come back: %w", in.spec.Path, errNoFile)
				case f.keepGzip && r.NeedGzip:
					s.Gzip = record.GzipNeeded
				case f.keepGzip:
					s.Gzip = record.GzipKept
				}
			}
		}
		infos[i].Source = s
	}
	return nil
}
