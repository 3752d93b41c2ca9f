package sidefiles

import (
	"io"
	"slices"
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

// maxTotal is how many bytes all files have at most.
const maxTotal = 1 << 62

// readIndex parses an index, for blocks of coded bytes in all.
func (z *Reader) readIndex(data []byte, coded uint64) bool {
	f, x := &parse.Fields{In: &parse.Cursor{Rest: data}}, index{entries: z.entries}
	if x.code(f); !f.In.Done() {
		return false
	}
	z.starts, z.place = make([]int64, len(z.entries)), slices.Repeat([]int{-1}, len(z.entries))
	total := int64(0)
	for i, e := range z.entries {
		if e.number < 0 || e.number >= len(z.place) || z.place[e.number] >= 0 || e.size > maxTotal-total {
			return false
		}
		z.place[e.number], z.starts[i] = i, total
		total += e.size
	}
	start, at, largest := int64(0), int64(0), 0
	for _, b := range x.blocks {
		z.blocks = append(z.blocks, placedBlock{b, start, at})
		start, at, largest = start+int64(b.size), at+int64(b.coded), max(largest, b.size)
		if b.size == 0 {
			return false
		}
	}
	z.o.Threads = z.o.within(decodeMemory * uint64(largest))
	return start == total && uint64(at) == coded
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
