package sidefiles

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/zeebo/xxh3"

	"orcomgo/compress/blocksort"
)

const (
	tailSize     = 8 + 8 + len(magic)
	maxIndexSize = 1 << 28 // bytes
)

// Reader reads the files of a stream. Its methods may be called from several goroutines.
type Reader struct {
	r       io.ReaderAt
	o       options
	entries []entry // in the order of the stream
	starts  []int64 // of each entry among the bytes of all files
	place   []int   // of each file, by its number, in entries
	blocks  []placedBlock

	mutex sync.Mutex
	last  int // the block that was decoded last, or -1
	text  []byte
}

// placedBlock is a block and where it is.
type placedBlock struct {
	block
	start int64 // among the bytes of all files
	at    int64 // in the stream
}

// NewReader returns a Reader of the stream of size bytes in r.
func NewReader(r io.ReaderAt, size int64, list ...Option) (*Reader, error) {
	o, err := newOptions(list)
	if err != nil {
		return nil, err
	}
	z := &Reader{r: r, o: o, last: -1}
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
	b, err := blocksort.NewReader(bytes.NewReader(coded), blocksort.WithThreads(1), blocksort.WithBlockSize(maxIndexSize))
	if err != nil {
		return nil, ErrCorrupt
	}
	index, err := io.ReadAll(io.LimitReader(b, maxIndexSize+1))
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
func (z *Reader) readIndex(b []byte, coded uint64) bool {
	ok := true
	number := func(limit uint64) uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > limit {
			ok, b = false, nil
			return 0
		}
		b = b[n:]
		return v
	}
	take := func(n uint64) []byte {
		if n > uint64(len(b)) {
			ok, b = false, nil
			return make([]byte, 8)
		}
		t := b[:n]
		b = b[n:]
		return t
	}
	const maxTotal = 1 << 62
	z.entries = make([]entry, number(uint64(len(b)/11)))
	z.starts, z.place = make([]int64, len(z.entries)), make([]int, len(z.entries))
	for i := range z.place {
		z.place[i] = -1
	}
	total := uint64(0)
	for i := range z.entries {
		e := &z.entries[i]
		e.number = int(number(uint64(len(z.entries) - 1)))
		e.name = string(take(number(uint64(len(b)))))
		e.size = int64(number(maxTotal - total))
		e.hash = binary.LittleEndian.Uint64(take(8))
		if !ok || z.place[e.number] >= 0 {
			return false
		}
		z.place[e.number] = i
		z.starts[i] = int64(total)
		total += uint64(e.size)
	}
	z.blocks = make([]placedBlock, number(uint64(len(b)/11)))
	start, at := uint64(0), uint64(0)
	for i := range z.blocks {
		p := &z.blocks[i]
		p.method = method(take(1)[0])
		p.size, p.coded = int(number(MaxBlockSize)), int(number(MaxBlockSize))
		p.hash = binary.LittleEndian.Uint64(take(8))
		p.start, p.at = int64(start), int64(at)+int64(len(magic))
		start, at = start+uint64(p.size), at+uint64(p.coded)
		if !ok || p.method >= methods || p.size == 0 || at > coded {
			return false
		}
	}
	return ok && start == total && at == coded && len(b) == 0
}

// Len returns the number of files.
func (z *Reader) Len() int { return len(z.entries) }

// Name returns the name of file i.
func (z *Reader) Name(i int) string { return z.entries[z.place[i]].name }

// Size returns the bytes of file i.
func (z *Reader) Size(i int) int64 { return z.entries[z.place[i]].size }

// Hash returns the XXH3-64 hash of the content of file i.
func (z *Reader) Hash(i int) uint64 { return z.entries[z.place[i]].hash }

// Order returns the numbers of the files in the order of the stream. Files are read fastest in this order.
func (z *Reader) Order() []int {
	list := make([]int, len(z.entries))
	for i, e := range z.entries {
		list[i] = e.number
	}
	return list
}

// WriteFile writes the content of file i to w. Up to as many blocks as there are threads are decoded at a time. Each block is
// compared with its hash before any of it is written. If the content as a whole is not what its hash says, the error is ErrCorrupt,
// as for any other damage.
func (z *Reader) WriteFile(w io.Writer, i int) error {
	e := &z.entries[z.place[i]]
	from := z.starts[z.place[i]]
	to := from + e.size
	hash := xxh3.New()
	first := z.find(from)
	type decoded struct {
		text []byte
		err  error
	}
	var queue []chan decoded
	next := first
	for b := first; b < len(z.blocks) && z.blocks[b].start < to; b++ {
		for ; next < len(z.blocks) && z.blocks[next].start < to && len(queue) < z.o.threads; next++ {
			c := make(chan decoded, 1)
			queue = append(queue, c)
			n := next
			decode := func() {
				text, err := z.decode(n)
				c <- decoded{text, err}
			}
			if next == first {
				decode() // small files need no goroutine
			} else {
				go decode()
			}
		}
		d := <-queue[0]
		queue = queue[1:]
		if d.err != nil {
			return fmt.Errorf("%s: %w", e.name, d.err)
		}
		start := z.blocks[b].start
		part := d.text[max(from-start, 0):min(to-start, int64(len(d.text)))]
		hash.Write(part)
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	if hash.Sum64() != e.hash {
		return fmt.Errorf("%s: %w", e.name, ErrCorrupt)
	}
	return nil
}

// find returns the number of the block that has the byte at a place among the bytes of all files.
func (z *Reader) find(place int64) int {
	low, high := 0, len(z.blocks)
	for low < high {
		if m := (low + high) / 2; z.blocks[m].start+int64(z.blocks[m].size) <= place {
			low = m + 1
		} else {
			high = m
		}
	}
	return low
}

// decode returns the text of a block. That of the last one decoded is kept, since several files may be in it.
func (z *Reader) decode(i int) ([]byte, error) {
	z.mutex.Lock()
	if z.last == i {
		defer z.mutex.Unlock()
		return z.text, nil
	}
	z.mutex.Unlock()
	b := &z.blocks[i]
	coded := make([]byte, b.coded)
	if err := readAt(z.r, coded, b.at); err != nil {
		return nil, err
	}
	text, err := decodeBlock(b.method, coded, b.size)
	if err != nil {
		return nil, err
	}
	if xxh3.Hash(text) != b.hash {
		return nil, ErrCorrupt
	}
	z.mutex.Lock()
	defer z.mutex.Unlock()
	z.last, z.text = i, text
	return text, nil
}
