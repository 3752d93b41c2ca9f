package sidefiles

import (
	"encoding/binary"
	"io"
	"sort"

	"github.com/zeebo/xxh3"

	"orcomgo/bins/parse"
	"orcomgo/compress/general"
)

const (
	tailSize     = 8 + 8 + len(magic)
	maxIndexSize = 1 << 28 // bytes
	// The text of an index has at most indexSlack bytes, and indexRatio for each byte as it is stored: the hashes in it are not compressed.
	indexSlack = 1 << 20
	indexRatio = 1 << 4
)

// Reader reads the files of a stream. Its methods may be called from several goroutines.
type Reader struct {
	r       io.ReaderAt
	o       Options
	entries []entry // in the order of the stream
	starts  []int64 // of each entry among the bytes of all files
	place   []int   // of each file, by its number, in entries
	blocks  []placedBlock
}

// placedBlock is a block and where it is.
type placedBlock struct {
	block
	start int64 // among the bytes of all files
	at    int64 // in the stream
}

// NewReader returns a Reader of the stream of size bytes in r.
func NewReader(r io.ReaderAt, size int64, o Options) (*Reader, error) {
	z := &Reader{r: r, o: o.complete()}
	head, tail := make([]byte, len(magic)), make([]byte, tailSize)
	if size < int64(len(magic)+tailSize) {
		return nil, ErrFormat
	}
	if err := readAt(r, head, 0); err != nil {
		return nil, err
	}
	if string(head) != magic {
		return nil, ErrFormat
	}
	if err := readAt(r, tail, size-int64(tailSize)); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(tail[8:])
	room := uint64(size) - uint64(len(magic)+tailSize)
	if string(tail[16:]) != magic || n > room || n > maxIndexSize {
		return nil, ErrCorrupt
	}
	coded := make([]byte, n)
	if err := readAt(r, coded, size-int64(tailSize)-int64(n)); err != nil {
		return nil, err
	}
	if xxh3.Hash(coded) != binary.LittleEndian.Uint64(tail) {
		return nil, ErrCorrupt
	}
	index, err := general.Decode(coded, min(maxIndexSize, indexSlack+indexRatio*len(coded)))
	if err != nil || !z.readIndex(index, room-n) {
		return nil, ErrCorrupt
	}
	return z, nil
}

func readAt(r io.ReaderAt, b []byte, at int64) error {
	if n, err := r.ReadAt(b, at); n < len(b) {
		if err == nil || err == io.EOF {
			err = ErrCorrupt
		}
		return err
	}
	return nil
}

// readIndex is the inverse of appendIndex, for blocks of coded bytes in all.
func (z *Reader) readIndex(index []byte, coded uint64) bool {
	const maxTotal = 1 << 62
	c := parse.Cursor{Rest: index}
	z.entries = make([]entry, c.Count(10, "files"))
	z.starts, z.place = make([]int64, len(z.entries)), make([]int, len(z.entries))
	for i := range z.place {
		z.place[i] = -1
	}
	total := uint64(0)
	for i := range z.entries {
		e := &z.entries[i]
		e.number = int(c.AtMost(uint64(len(z.entries) - 1)))
		e.size = int64(c.AtMost(maxTotal - total))
		e.hash = c.Uint64()
		if c.Failed() || z.place[e.number] >= 0 {
			return false
		}
		z.place[e.number] = i
		z.starts[i] = int64(total)
		total += uint64(e.size)
	}
	z.blocks = make([]placedBlock, c.Count(19, "blocks"))
	start, at, largest := uint64(0), uint64(0), uint64(0)
	for i := range z.blocks {
		p := &z.blocks[i]
		p.method = method(c.ByteAtMost(byte(methods - 1)))
		p.size, p.coded = int(c.AtMost(maxBlockSize)), int(c.AtMost(maxBlockSize))
		p.hash, p.codedHash = c.Uint64(), c.Uint64()
		p.start, p.at = int64(start), int64(at)+int64(len(magic))
		start, at, largest = start+uint64(p.size), at+uint64(p.coded), max(largest, uint64(p.size))
		if c.Failed() || p.size == 0 || at > coded {
			return false
		}
	}
	z.o.Threads = z.o.within(decodeMemory * largest)
	return c.Done() && start == total && at == coded
}

// Len returns the number of files.
func (z *Reader) Len() int { return len(z.entries) }

// Size returns the bytes of file i.
func (z *Reader) Size(i int) int64 { return z.entries[z.place[i]].size }

// Hash returns the XXH3-64 hash of the content of file i.
func (z *Reader) Hash(i int) uint64 { return z.entries[z.place[i]].hash }

// Coded returns about how many bytes file i takes in the stream: of each block its share.
func (z *Reader) Coded(i int) int64 {
	from := z.starts[z.place[i]]
	to, sum := from+z.Size(i), 0.0
	for b := z.find(from); b < len(z.blocks) && z.blocks[b].start < to; b++ {
		p := &z.blocks[b]
		part := min(to, p.start+int64(p.size)) - max(from, p.start)
		sum += float64(part) * float64(p.coded) / float64(p.size)
	}
	return int64(sum)
}

// find returns the number of the block that has the byte at a place among the bytes of all files.
func (z *Reader) find(place int64) int {
	return sort.Search(len(z.blocks), func(b int) bool { return z.blocks[b].start+int64(z.blocks[b].size) > place })
}

// coded returns the bytes of a block as they are stored, compared with their hash.
func (z *Reader) coded(i int) ([]byte, error) {
	b := &z.blocks[i]
	coded := make([]byte, b.coded)
	if err := readAt(z.r, coded, b.at); err != nil {
		return nil, err
	}
	if xxh3.Hash(coded) != b.codedHash {
		return nil, ErrCorrupt
	}
	return coded, nil
}

// decode returns the text of a block.
func (z *Reader) decode(i int) ([]byte, error) {
	coded, err := z.coded(i)
	if err != nil {
		return nil, err
	}
	text, err := decodeBlock(z.blocks[i].method, coded, z.blocks[i].size)
	if err != nil {
		return nil, err
	}
	if xxh3.Hash(text) != z.blocks[i].hash {
		return nil, ErrCorrupt
	}
	z.o.Coded(len(text))
	return text, nil
}
