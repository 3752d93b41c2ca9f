package binning

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"

	"orcomgo/bins"
)

// BGZF (SAM specification, section 4.1) is gzip in members of at most 64 KiB that tell
// their own size in an extra field, so that they can be inflated side by side. The last
// member is empty; without it the file was cut off.

const (
	bgzfHeader = 18 // as every known program writes it: the extra field is the size alone
	bgzfMember = 1 << 16
	bgzfBatch  = 64 // members inflated at a time, at most
)

var errBGZFEnd = errors.New("the bgzip end-of-file block is missing: is the file truncated?")

func isBGZF(head []byte) bool {
	return len(head) >= bgzfHeader && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8 && head[3] == 4 &&
		binary.LittleEndian.Uint16(head[10:]) == 6 && head[12] == 'B' && head[13] == 'C' && binary.LittleEndian.Uint16(head[14:]) == 2
}

// bgzf inflates BGZF, batch by batch. Ordinary gzip members may follow, and zero bytes.
type bgzf struct {
	in      *bufio.Reader
	run     bins.Runner
	members []member
	n, at   int           // members that hold text, and the first that is not used up
	rest    []byte        // of that one
	empty   bool          // the last member was
	offset  func() uint64 // in the file, of what in gives next
	gzip    io.Reader
	err     error
}

type member struct {
	in, out []byte
	err     error
}

// newBGZF begins with the member that is next in in. run uses so many threads. offset tells
// errors how far in is.
func newBGZF(in *bufio.Reader, offset func() uint64, run bins.Runner, threads int) *bgzf {
	return &bgzf{in: in, offset: offset, run: run, members: make([]member, min(bgzfBatch, 16*threads))}
}

// Read implements io.Reader.
func (z *bgzf) Read(p []byte) (int, error) {
	for len(z.rest) == 0 {
		if z.gzip != nil {
			return z.gzip.Read(p)
		}
		if z.at < z.n {
			m := &z.members[z.at]
			if m.err != nil {
				return 0, m.err
			}
			z.rest = m.out
			z.at++
			continue
		}
		if z.err != nil {
			return 0, z.err
		}
		z.batch()
	}
	n := copy(p, z.rest)
	z.rest = z.rest[n:]
	return n, nil
}

// batch reads and inflates the members that come next. What stops it is left in err, or
// gzip set, for when their text has been used.
func (z *bgzf) batch() {
	z.n, z.at = 0, 0
	for z.n < len(z.members) {
		head, _ := z.in.Peek(bgzfHeader)
		if !isBGZF(head) {
			if z.n == 0 {
				z.behind()
				return
			}
			break // after this batch
		}
		size := int(binary.LittleEndian.Uint16(head[16:])) + 1
		m := &z.members[z.n]
		if m.in == nil {
			m.in, m.out = make([]byte, bgzfMember), make([]byte, bgzfMember)
		}
		m.in = m.in[:size]
		if _, err := io.ReadFull(z.in, m.in); err != nil || size < bgzfHeader+8 {
			z.err = io.ErrUnexpectedEOF
			break
		}
		z.empty = binary.LittleEndian.Uint32(m.in[size-4:]) == 0
		z.n++
	}
	z.run(z.n, func(i int) {
		f := inflaters.Get().(io.ReadCloser)
		defer inflaters.Put(f)
		z.members[i].inflate(f)
	})
}

// behind looks at what follows the last BGZF member.
func (z *bgzf) behind() {
	if z.err = behindMember(z.in, z.offset); z.err == nil {
		g, err := newGzip(z.in, z.offset)
		if z.err = err; err == nil {
			z.gzip = g
		}
	} else if z.err == io.EOF && !z.empty {
		z.err = errBGZFEnd
	}
}

var inflaters = sync.Pool{New: func() any { return flate.NewReader(nil) }}

func (m *member) inflate(f io.ReadCloser) {
	tail := m.in[len(m.in)-8:]
	n := binary.LittleEndian.Uint32(tail[4:])
	m.err = gzip.ErrChecksum
	if n > bgzfMember {
		return
	}
	m.out = m.out[:n]
	if err := f.(flate.Resetter).Reset(bytes.NewReader(m.in[bgzfHeader:len(m.in)-8]), nil); err != nil {
		m.err = err
		return
	}
	if _, err := io.ReadFull(f, m.out); err != nil {
		return
	}
	var one [1]byte
	if k, err := f.Read(one[:]); k != 0 || err != io.EOF || crc32.ChecksumIEEE(m.out) != binary.LittleEndian.Uint32(tail) {
		return
	}
	m.err = nil
}
