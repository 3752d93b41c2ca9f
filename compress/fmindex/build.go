package fmindex

import (
	"bytes"
	"encoding/binary"
	"math"

	"orcomgo/bases"
	"orcomgo/compress/bwt"
	"orcomgo/internal/tasks"
)

// Content is what an index is made of.
type Content struct {
	Archive [16]byte // ID of the archive
	// Text are the bases of the pseudogenome and then of the literals, one a byte, 0 to 3.
	Text     []byte
	Coverage *Coverage // of the pseudogenome, whose length it gives
	Literals *Literals // Bases is not read
	Begins   *Begins   // Build ends it

	// Transform, if not nil, computes the transform in place of package bwt, or returns false. It writes the transform of text to dst, its
	// starting points, and where the suffixes of the ranks every-1, 2*every-1, ... begin to samples.
	Transform func(dst, text []byte, step int, starts []uint32, every int, samples []uint32) bool
}

// transform computes the transform. samples is nil if it was not computed with it.
func (c *Content) transform(threads int) (transformed []byte, starts, samples []uint32, err error) {
	n := len(c.Text)
	transformed = make([]byte, n)
	if c.Transform != nil && n > 0 {
		starts, samples = make([]uint32, bwt.Starts(n)), make([]uint32, n/sampleRows)
		if c.Transform(transformed, c.Text, bwt.Step(n), starts, sampleRows, samples) {
			return transformed, starts, samples, nil
		}
	}
	starts, err = bwt.Transform(transformed, c.Text, threads)
	return transformed, starts, nil, err
}

// BuildBytes is about how many bytes of memory Build takes for each base of the text, the text and the result included.
const BuildBytes = 10

// Build makes an index with the given number of threads. The result does not depend on that. The error is ErrTooLong.
func Build(c Content, threads int) (*Index, error) {
	threads = max(threads, 1)
	if uint64(len(c.Text)) > MaxBases || uint64(len(c.Literals.lengths)) > math.MaxUint32 {
		return nil, ErrTooLong
	}
	transformed, starts, samples, err := c.transform(threads)
	if err != nil {
		return nil, err
	}
	x := &Index{archive: c.Archive, genome: uint32(c.Coverage.bases), bases: uint32(len(c.Text)), span: c.Begins.span}
	for i := range starts {
		starts[i]++ // row 0 is the empty suffix
	}
	if len(starts) > 0 {
		x.first = starts[0]
		// The last base of the text is before the empty suffix, in row 0. In the transform it is that of row first, which has no base.
		last := transformed[x.first-1]
		copy(transformed[1:x.first], transformed[:x.first-1])
		transformed[0] = last
	}
	table, blocks := c.Begins.file()
	s := x.sections(uint64(len(c.Literals.ends)/2), uint64(len(c.Literals.lengths)))
	x.file = make([]byte, x.mainLen, x.mainLen+uint64(len(blocks)))
	x.cut(s)
	x.setRanks(transformed, threads)
	for i, s := range starts {
		binary.LittleEndian.PutUint32(x.starts[4*i:], s)
	}
	binary.LittleEndian.PutUint32(x.samples, x.bases) // row 0
	for i, p := range samples {
		binary.LittleEndian.PutUint32(x.samples[4*(i+1):], p)
	}
	if samples == nil {
		if err := x.setSamples(threads); err != nil {
			return nil, err
		}
	}
	for k := range c.Coverage.sums {
		binary.LittleEndian.PutUint16(x.coverage[2*k:], coverCode(c.Coverage.sums[k].Load()))
	}
	for i, v := range c.Literals.ends {
		binary.LittleEndian.PutUint32(x.slices[4*i:], v)
	}
	copy(x.lengths, c.Literals.lengths)
	if x.keepsLiterals() {
		bases.Pack(x.literals, c.Text[x.genome:])
	}
	copy(x.table, table)
	x.seal()
	x.file = append(x.file, blocks...)
	x.whole = bytes.NewReader(x.file)
	return x, x.markLiterals()
}

// setRanks sets the blocks, and less, from the base of each row but x.first.
func (x *Index) setRanks(rows []byte, threads int) {
	const blocks = 1 << 10 // that are filled at once
	parts := (len(x.ranks)/blockBytes + blocks - 1) / blocks
	counts := make([][4]uint32, parts+1)
	tasks.Each(parts, threads, func(_, t int) {
		var n [4]uint32
		for b := t * blocks; b < min((t+1)*blocks, len(x.ranks)/blockBytes); b++ {
			x.fillBlock(b, rows, &n)
		}
		counts[t+1] = n
	})
	for t := range parts {
		for c := range 4 {
			counts[t+1][c] += counts[t][c]
		}
	}
	tasks.Each(parts, threads, func(_, t int) {
		for b := t * blocks; b < min((t+1)*blocks, len(x.ranks)/blockBytes); b++ {
			to := x.ranks[b*blockBytes:]
			for c, n := range counts[t] {
				binary.LittleEndian.PutUint32(to[4*c:], binary.LittleEndian.Uint32(to[4*c:])+n)
			}
		}
	})
	x.setLess(counts[parts])
}

// setLess sets less from how often each base occurs: the first row of the suffixes that begin with it.
func (x *Index) setLess(counts [4]uint32) {
	x.less[0] = 1
	for c, n := range counts {
		x.less[c+1] = x.less[c] + n
	}
}

// fillBlock sets a block; n is how often each base occurs in those before it, and then with it.
func (x *Index) fillBlock(b int, rows []byte, n *[4]uint32) {
	to := x.ranks[b*blockBytes:][:blockBytes]
	for c, v := range n {
		binary.LittleEndian.PutUint32(to[4*c:], v)
	}
	rows = rows[min(b*blockBases, len(rows)):min((b+1)*blockBases, len(rows))]
	for w := 0; w*64 < len(rows); w++ {
		var low, high uint64
		for i, c := range rows[w*64 : min(w*64+64, len(rows))] {
			low |= uint64(c&1) << i
			high |= uint64(c>>1) << i
			n[c&3]++
		}
		binary.LittleEndian.PutUint64(to[lowAt+8*w:], low)
		binary.LittleEndian.PutUint64(to[highAt+8*w:], high)
	}
}

// setSamples sets the places of every 64th row but row 0.
func (x *Index) setSamples(threads int) error {
	return x.walkAll(threads, func(at int, _ byte, row uint32) {
		if row%sampleRows == 0 {
			binary.LittleEndian.PutUint32(x.samples[row/sampleRows*4:], uint32(at))
		}
	})
}
