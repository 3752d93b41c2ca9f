package binning

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"orcomgo/binning/inflate"
	"orcomgo/bins/bam"
	"orcomgo/bins/vfs"
	"orcomgo/digest"
	"orcomgo/internal/tasks"
)

// source gives the text of one input, inflated.
type source struct {
	path string // as errors call it
	f    *vfs.File

	// What unchanged compares: the file, where it is a regular one, as it was before
	// anything was read, and whether path is its name.
	file   statter
	before fs.FileInfo
	named  bool

	plain bool // regular and not compressed: read by ReadAt, in parallel
	// compressed says that the text is not the bytes of the input.
	compressed bool
	sums       *fileSums // nil if no checksums of the input are wanted
	size       int64
	at         int64 // of a plain file
	gzip       *inflate.Reader
	// startGzip sets gzip to a reader of in, which begins at an offset of the file.
	startGzip func(in io.Reader, offset uint64)
	piece     *inflate.Piece // of the text of gzip
	rest      []byte         // of the piece: not stored yet
	bgzf      *bgzfReader    // instead of gzip, if not nil
	r         io.Reader      // of the text, for any other input
	isBAM     bool           // the input is BAM
	fastq     *bam.Reader    // of BAM that is read as FASTQ: it is r; else nil
	ahead     []byte         // of the text of r: read, and not stored yet
	one       [1]byte        // memory of ahead
	close     func()
	count     *atomic.Uint64 // bytes of the input, as stored, that have been read
	first     *counted       // reads the input from its beginning
	tick      func()         // called when count has grown
	// threads is how many goroutines read a plain file, or copy inflated text.
	threads int
}

// openSource opens an input and finds out from its first bytes how it is compressed. What is
// read from anything but a regular file ends with ctx, even while it waits for bytes.
func (r *run) openSource(ctx context.Context, path string, count *atomic.Uint64) (_ *source, err error) {
	// Reading waits more than it works, so it has goroutines of its own.
	s := &source{path: path, count: count, tick: r.progress, threads: min(16, max(2, r.Threads)), close: func() {}}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	var in io.Reader
	if path == "-" {
		s.path = "stdin"
		if in = r.Stdin; in == nil {
			in = os.Stdin
		}
		if f, ok := in.(statter); ok {
			if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
				s.file, s.before = f, info
			}
		}
		in = newPump(ctx, in)
	} else {
		f, err := openFile(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, vfs.Cause(err))
		}
		s.f, in = f, f
		s.close = func() { f.Close() }
		info, err := f.Stat()
		if err == nil && info.IsDir() {
			err = errors.New("is a directory, expected a FASTQ or FASTA file")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, vfs.Cause(err))
		}
		if s.plain, s.size = info.Mode().IsRegular(), info.Size(); s.plain {
			s.file, s.before, s.named = f, info, true
		} else {
			in = newPump(ctx, f)
		}
	}
	if r.Record >= RecordCompressed && !s.named {
		sums := digest.NewStream(ctx, digest.New(true, true))
		in = io.TeeReader(in, sums)
		s.sums = &fileSums{first: sums, tee: in}
	}
	s.first = &counted{r: in, n: count}
	b := bufio.NewReaderSize(s.first, 1<<18)
	head, err := b.Peek(18)
	if err != nil && err != io.EOF {
		return nil, s.wrap(err)
	}
	more, err := b.Peek(4 << 10)
	if err != nil && err != io.EOF {
		return nil, s.wrap(err)
	}
	if s.isBAM, err = refuseForeign(s.path, more); err != nil {
		return nil, err
	}
	regular := s.plain
	s.compressed, s.plain = true, false
	switch {
	case s.isBAM && r.bamAsFASTQ:
		z := inflate.NewReader(ctx, b, inflate.Options{Threads: r.Threads, Memory: r.inflating})
		file := s.close
		s.fastq = bam.NewReader(z)
		s.r, s.close = s.fastq, func() { z.Close(); file() }
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		s.startGzip = func(in io.Reader, offset uint64) {
			z := inflate.NewReader(ctx, in, inflate.Options{Threads: r.Threads, Memory: r.inflating, Offset: offset})
			file := s.close
			s.gzip, s.close = z, func() { z.Close(); file() }
		}
		s.startGzip(b, 0)
	case isZstd(head):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(1<<31))
		if err != nil {
			return nil, s.wrap(err)
		}
		file := s.close
		s.r, s.close = z, func() { z.Close(); file() }
	case isXZ(head):
		if s.r, err = newXZ(b); err != nil {
			return nil, s.wrap(err)
		}
	case isBzip2(head):
		s.r = newBzip2(b)
	case regular:
		count.Add(-uint64(b.Buffered())) // it is read again, in place
		s.compressed, s.plain = false, true
	default:
		s.r, s.compressed = b, false
	}
	if s.named && (r.Record == RecordAll || r.Record == RecordCompressed && s.compressed) {
		s.sums = &fileSums{ahead: cmp.Or(r.sumsAhead, aheadMost)}
		if s.startGzip != nil && r.KeepGzip != nil {
			if s.sums.keepGzip, err = r.KeepGzip(io.NewSectionReader(s.f, 0, s.size)); err != nil {
				return nil, fmt.Errorf("%s: only its text could come back: %w", path, err)
			}
		}
	}
	return s, nil
}

// isZstd reports whether an input begins with a zstd frame, or a skippable frame before one.
func isZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(head) >= 4 && head[0]&0xf0 == 0x50 && head[1] == 0x2a && head[2] == 0x4d && head[3] == 0x18
}

// atMost returns how much text there can be in a buffer that holds n bytes and is filled
// up to target.
func (s *source) atMost(n, target int) int {
	if s.plain {
		return int(min(int64(target), int64(n)+s.size-s.at))
	}
	if s.named {
		target = int(min(int64(target), max(int64(n)+1, s.likely())))
	}
	return target + s.slack()
}

// slack returns how many bytes fill may store more than it is asked for.
func (s *source) slack() int {
	if s.bgzf != nil {
		return memberSlack
	}
	return 0
}

// likely returns how much text a file most likely has at most: a buffer begins with room for that. Room for a whole block would be
// memory that is cleared for nothing.
func (s *source) likely() int64 { return min(s.size, math.MaxInt64/likelyRatio)*likelyRatio + sniffLen }

// likelyRatio is how many times larger the text of reads is, at most, than when it is compressed, but for unusual ones.
const likelyRatio = 16

// fill stores the next n bytes in a text from offset at on, where there is room for them, fewer if
// the input ends; then the error is io.EOF. It counts the line ends of every fillPiece bytes, as
// marks; lines is how many there are before. Of BGZF it may store up to memberSlack bytes more, for
// which there must be room, too (see atMost), and marks none of them. In memory of a device BGZF has no
// marks.
func (s *source) fill(text TextBuffer, at, n, lines int, marks []Mark) (int, []Mark, error) {
	if s.plain {
		return s.fillAt(text, at, n, lines, marks)
	}
	if s.bgzf != nil {
		if text.Inflates() {
			return s.fillMembers(text, at, n, lines, marks)
		}
		if err := s.leaveBGZF(); err != nil {
			return 0, marks, err
		}
	}
	if s.gzip != nil {
		return s.fillInflated(text, at, n, lines, marks)
	}
	for done := 0; ; {
		if done == n {
			// Whether the input ends here has to be known, as it is for a plain file.
			if len(s.ahead) > 0 {
				return n, marks, nil
			}
			if k, err := readFull(s.r, s.one[:]); err == io.EOF && k == 0 {
				return n, marks, io.EOF
			} else if k == 0 {
				return n, marks, s.wrap(err)
			}
			s.ahead = s.one[:]
			return n, marks, nil
		}
		var end error // of the input
		k, err := text.Fill(at+done, min(fillPiece, n-done), func(p []byte) (int, error) {
			k := copy(p, s.ahead)
			s.ahead = s.ahead[k:]
			more := 0
			if k < len(p) {
				more, end = readFull(s.r, p[k:])
			}
			lines += bytes.Count(p[:k+more], []byte{'\n'})
			return k + more, nil
		})
		if err != nil {
			return done, marks, err
		}
		if k > 0 {
			done += k
			marks = append(marks, Mark{at + done, lines})
			s.tick()
		}
		switch {
		case end == io.EOF:
			return done, marks, io.EOF
		case end != nil:
			return done, marks, s.wrap(end)
		}
	}
}

// readFull is io.ReadFull with io.EOF for the end of the input, wherever it comes, so that
// what a decompressor says about truncation stands out.
func readFull(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var k int
		k, err = r.Read(p[n:])
		n += k
	}
	return n, err
}

// readStep is how many bytes of a plain file are read before their line ends are counted, while they are in the cache.
const readStep = 128 << 10

// fillAt is fill for a plain file.
func (s *source) fillAt(text TextBuffer, at, n, lines int, marks []Mark) (int, []Mark, error) {
	n = int(min(s.size-s.at, int64(n)))
	step := text.FillSize()
	counts := make([]int, (n+fillPiece-1)/fillPiece)
	var failed atomic.Pointer[error]
	tasks.NewPool(s.threads).Run((n+step-1)/step, func(i int) {
		if failed.Load() != nil {
			return
		}
		from := i * step
		_, err := text.Fill(at+from, min(step, n-from), func(p []byte) (_ int, err error) {
			for k := 0; k < len(p) && err == nil; k += fillPiece {
				counts[(from+k)/fillPiece], err = s.readAt(p[k:min(k+fillPiece, len(p))], s.at+int64(from+k))
			}
			return len(p), err
		})
		if err != nil {
			failed.Store(&err)
		}
	})
	if err := failed.Load(); err != nil {
		return 0, marks, *err
	}
	marks = appendMarks(marks, counts, lines, at, at+n)
	s.at += int64(n)
	if s.at < s.size {
		return n, marks, nil
	}
	var one [1]byte
	if k, _ := s.f.ReadAt(one[:], s.size); k > 0 {
		return n, marks, s.wrap(changedError("the file became longer while it was read"))
	}
	return n, marks, io.EOF
}

// readAt reads bytes of a plain file at an offset, and returns how many line ends they have.
func (s *source) readAt(p []byte, offset int64) (lines int, err error) {
	for at := 0; at < len(p); at += readStep {
		step := p[at:min(at+readStep, len(p))]
		k, err := s.f.ReadAt(step, offset+int64(at))
		if k < len(step) {
			if err == io.EOF {
				err = changedError("the file became shorter while it was read")
			}
			return 0, s.wrap(err)
		}
		lines += bytes.Count(step, []byte{'\n'})
	}
	s.count.Add(uint64(len(p)))
	s.tick()
	return lines, nil
}

// Read implements io.Reader, for the parts of the program that don't fill blocks. It fills p, unless the input ends.
func (s *source) Read(p []byte) (int, error) {
	n, _, err := s.fill(&hostText{buf: p}, 0, len(p), 0, nil)
	return n, err
}

// wrap says in the user's words what is wrong with an input.
func (s *source) wrap(err error) error {
	bad := gzipError(err)
	var unsuited *bam.UnsuitedError
	switch {
	case errors.As(err, &unsuited):
		return foreignError(s.path, fmt.Sprintf("BAM of %s (record %d)", unsuited.What, unsuited.Record), orKeptAligned)
	case bad != nil:
		err = bad
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		err = errors.New("the compressed data ends too early: is the file truncated?")
	case errors.Is(err, zstd.ErrMagicMismatch):
		err = errZstdGarbage // the first frame had the right one
	default:
		err = vfs.Cause(err)
	}
	return fmt.Errorf("%s: %w", s.path, err)
}

// counted counts the bytes that are read.
type counted struct {
	r       io.Reader
	n       *atomic.Uint64
	mu      sync.Mutex
	stopped bool // no more bytes are counted
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped {
		c.n.Add(uint64(n))
	}
	return n, err
}

// stop ends the counting, also of a Read that another goroutine is in.
func (c *counted) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
}
