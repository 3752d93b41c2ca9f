package sidefiles

import (
	"io"
	"sort"

	"github.com/zeebo/xxh3"

	"orcomgo/bins/parse"
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
	at    int64 // in what was written of them
}

// NewReader returns a Reader of so many files, whose blocks are the size bytes of r, given their index.
func NewReader(r io.ReaderAt, size int64, index []byte, files int, o Options) (*Reader, error) {
	z := &Reader{r: r, o: o.complete(), entries: make([]entry, files)}
	if !z.readIndex(index, uint64(size)) {
		return nil, ErrCorrupt
	}
	return z, nil
}

// readIndex is the inverse of appendIndex, for blocks of coded bytes in all.
func (z *Reader) readIndex(index []byte, coded uint64) bool {
	const maxTotal = 1 << 62
	c := parse.Cursor{Rest: index}
	z.starts, z.place = make([]int64, len(z.entries)), make([]int, len(z.entries))
	for i := range z.place {
		z.place[i] = -1
	}
	next := 0
	for i := range z.entries {
		n := next + int(c.Varint(int64(len(z.entries))))
		if c.Failed() || n < 0 || n >= len(z.place) || z.place[n] >= 0 {
			return false
		}
		z.entries[i].number, z.place[n], next = n, i, n+1
	}
	total := uint64(0)
	for i := range z.entries {
		z.entries[i].size, z.starts[i] = int64(c.AtMost(maxTotal-total)), int64(total)
		total += uint64(z.entries[i].size)
	}
	z.blocks = make([]placedBlock, c.Count(10, "blocks"))
	start, at, largest := uint64(0), uint64(0), uint64(0)
	for i := range z.blocks {
		p := &z.blocks[i]
		p.method = method(c.ByteAtMost(byte(methods - 1)))
		p.size, p.hash = int(c.AtMost(maxBlockSize)), c.Uint64()
		p.coded, p.codedHash = p.size, p.hash
		if p.method != methodStored {
			p.coded, p.codedHash = int(c.AtMost(maxBlockSize)), c.Uint64()
		}
		p.start, p.at = int64(start), int64(at)
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

// Coded returns about how many bytes file i takes in the stream: of each block its share.
func (z *Reader) Coded(i int) int64 {
	sum := 0.0
	for b, to := z.blocksOf(z.place[i]); b < to; b++ {
		start, end := z.part(z.place[i], b)
		sum += float64(end-start) * float64(z.blocks[b].coded) / float64(z.blocks[b].size)
	}
	return int64(sum)
}

// blocksOf returns the blocks, from one up to another, that have the content of an entry: none of an empty file.
func (z *Reader) blocksOf(at int) (from, to int) {
	start, size := z.starts[at], z.entries[at].size
	from = sort.Search(len(z.blocks), func(b int) bool { return z.blocks[b].start+int64(z.blocks[b].size) > start })
	for to = from; size > 0 && to < len(z.blocks) && z.blocks[to].start < start+size; to++ {
	}
	return from, to
}

// part returns from where to where in a block the content of an entry is.
func (z *Reader) part(at, b int) (start, end int) {
	from := z.starts[at] - z.blocks[b].start
	return int(max(from, 0)), int(min(from+z.entries[at].size, int64(z.blocks[b].size)))
}

// coded returns the bytes of a block as they are stored, compared with their hash.
func (z *Reader) coded(i int) ([]byte, error) {
	b := &z.blocks[i]
	coded := make([]byte, b.coded)
	err := parse.ReadAt(z.r, coded, b.at)
	switch {
	case err == io.ErrUnexpectedEOF || err == nil && xxh3.Hash(coded) != b.codedHash:
		return nil, ErrCorrupt
	case err != nil:
		return nil, err
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
