package fmindex

import (
	"encoding/binary"
	"runtime"
	"sync/atomic"

	"orcomgo/bases"
	"orcomgo/compress/bwt"
	"orcomgo/internal/largepages"
	"orcomgo/internal/tasks"
)

// sampleRows is the distance of the rows whose places are kept.
const sampleRows = 64

// located is a row whose place is looked for: steps bases before the one that was asked for.
type located struct {
	number     int
	row, steps uint32
}

// Locate replaces rows by the places in the text where their suffixes begin. The error is ErrCorrupt.
func (x *Index) Locate(rows []uint32) error {
	var active [sideBySide]located
	n, next := 0, 0
	read := byte(0)
	for {
		for n < sideBySide && next < len(rows) {
			active[n] = located{number: next, row: rows[next]}
			n, next = n+1, next+1
		}
		if n == 0 {
			runtime.KeepAlive(read)
			return nil
		}
		// The blocks of all are read before they are needed, so that the reads wait for memory together.
		for i := range active[:n] {
			b, _ := x.block(active[i].row)
			read += b[0]
		}
		for i := 0; i < n; i++ {
			w := &active[i]
			place := uint32(0)
			if w.row%sampleRows == 0 {
				place = binary.LittleEndian.Uint32(x.samples[w.row/sampleRows*4:])
			} else if w.row != x.first {
				if w.steps++; w.steps > x.bases {
					return corrupt("a row has no place")
				}
				_, w.row = x.back(w.row)
				continue
			}
			if place > x.bases-w.steps {
				return corrupt("a row is at place %d + %d of %d", place, w.steps, x.bases)
			}
			rows[w.number] = place + w.steps
			n--
			active[i] = active[n]
			i--
		}
	}
}

// Chunks returns how many chunks the text has, each of which can be restored by itself.
func (x *Index) Chunks() int { return bwt.Starts(int(x.bases)) }

// Chunk returns the places from..to-1 of chunk i.
func (x *Index) Chunk(i int) (from, to int) {
	step := bwt.Step(int(x.bases))
	return i * step, min((i+1)*step, int(x.bases))
}

// rowOf returns the row of the suffix with which chunk i begins; of the empty suffix for the number of chunks.
func (x *Index) rowOf(i int) uint32 {
	if i == x.Chunks() {
		return 0
	}
	return binary.LittleEndian.Uint32(x.starts[4*i:])
}

// chunkWalk is a way through a chunk, from its end to its beginning.
type chunkWalk struct {
	chunk    int
	row      uint32
	at, from int // the next base is before place at
}

// AppendText appends the bases of the chunks from..to-1 to dst, one a byte, 0 to 3. The error is ErrCorrupt, or that of GenomeBases.
func (x *Index) AppendText(dst []byte, from, to int) ([]byte, error) {
	if from >= to {
		return dst, nil
	}
	first, _ := x.Chunk(from)
	_, end := x.Chunk(to - 1)
	if n := x.Genome(); !x.HasRanks() {
		if first < n {
			var err error
			if dst, err = x.GenomeBases(dst, first, min(end, n)); err != nil {
				return nil, err
			}
		}
		first = max(first, n)
		return bases.Unpack(dst, x.literals, first-n, max(end-first, 0)), nil
	}
	old := len(dst)
	dst = append(dst, make([]byte, end-first)...)
	text := dst[old:]
	return dst, x.walk(from, to, func(at int, base byte, _ uint32) { text[at-first] = base })
}

// Packed returns the bases of the pseudogenome, base i in byte i/4 at bits 2*(i%4), followed by 16 unused bytes. It restores them by so
// many threads, and takes five bytes a base meanwhile. The error is ErrCorrupt.
func (x *Index) Packed(threads int) ([]byte, error) {
	n := x.Genome()
	letters, packed := largepages.Make[byte](n), largepages.Make[byte](bases.PackedLen(n)+bases.Pad)
	err := x.walkAll(threads, func(at int, base byte, _ uint32) {
		if at < n {
			letters[at] = base
		}
	})
	if err != nil {
		return nil, err
	}
	const each = 1 << 16 // bytes
	tasks.Each((n/4+each-1)/each, threads, func(_, i int) {
		from, to := i*each, min((i+1)*each, n/4)
		bases.Pack(packed[from:to], letters[4*from:4*to])
	})
	bases.Pack(packed[n/4:], letters[n&^3:])
	return packed, nil
}

// walkAll is walk for all chunks, by several threads.
func (x *Index) walkAll(threads int, visit func(at int, base byte, row uint32)) error {
	chunks := x.Chunks()
	group := min(max((chunks+threads-1)/threads, 1), sideBySide) // chunks that one thread walks through side by side
	var failed atomic.Pointer[error]
	tasks.Each((chunks+group-1)/group, threads, func(_, i int) {
		if err := x.walk(i*group, min((i+1)*group, chunks), visit); err != nil {
			failed.Store(&err)
		}
	})
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// walk calls visit for each place of the chunks from..to-1, in some order, with its base and its row. Several chunks are walked through
// side by side, since each step waits for memory.
func (x *Index) walk(from, to int, visit func(at int, base byte, row uint32)) error {
	var active [sideBySide]chunkWalk
	n, next := 0, from
	read := byte(0)
	for {
		for n < sideBySide && next < to {
			w := chunkWalk{chunk: next, row: x.rowOf(next + 1)}
			w.from, w.at = x.Chunk(next)
			active[n] = w
			n, next = n+1, next+1
		}
		if n == 0 {
			runtime.KeepAlive(read)
			return nil
		}
		for i := range active[:n] { // as in Locate
			b, _ := x.block(active[i].row)
			read += b[0]
		}
		for i := 0; i < n; i++ {
			w := &active[i]
			if w.at == w.from {
				if w.row != x.rowOf(w.chunk) {
					return corrupt("its chunk %d does not begin where the one before ends", w.chunk)
				}
				n--
				active[i] = active[n]
				i--
				continue
			}
			if w.row == x.first {
				return corrupt("the text begins in chunk %d", w.chunk)
			}
			var base byte
			base, w.row = x.back(w.row)
			w.at--
			visit(w.at, base, w.row)
		}
	}
}
