package bins

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"orcomgo/bins/record"

	"github.com/klauspost/compress/huff0"
	"github.com/klauspost/compress/zstd"
)

// Encoded is a block that is ready to be written. It refers to the block's slices, which must
// not change until it has been written; then it may be used for another block.
type Encoded struct {
	info  BlockInfo
	data  [][]byte // the block in the data file
	meta  [][]byte // and in the meta file
	names []byte   // buffer of the compressed names
	small []byte   // buffer of the short sections

	dataAt, metaAt uint64 // offsets of the block in the files
}

// Runner calls task with each of 0..n-1, in any order and on any number of goroutines, and
// returns when all calls have returned.
type Runner func(n int, task func(i int))

// EncodeBlock checks a block, compresses it and computes its checksums. It uses nothing but its
// arguments, so blocks may be encoded concurrently. The qualities are compressed in place:
// afterwards the content of b.Quals is undefined.
func EncodeBlock(e *Encoded, b *Block, run Runner) error {
	bases := uint64(0)
	for i := range b.Bins {
		bases += b.Bins[i].Bases
	}
	if len(b.Order) != b.Records || len(b.Place) != b.Records || b.Lengths.Each != nil && len(b.Lengths.Each) != b.Records ||
		b.Quals != nil && uint64(len(b.Quals)) != bases {
		return fmt.Errorf("bins: block of %d records has %d ordinals, %d places, %d lengths, %d bases and %d qualities",
			b.Records, len(b.Order), len(b.Place), len(b.Lengths.Each), bases, len(b.Quals))
	}
	e.info = BlockInfo{Input: b.Input, FirstRecord: b.FirstRecord, Records: b.Records, TextLen: b.TextLen, TextHash: b.TextHash,
		Bases: bases, Varied: b.Lengths.Each != nil, HasNames: b.Names != nil, HasQuals: b.Quals != nil,
		HasExceptions: !b.Exceptions.Empty(), HasForms: !b.Forms.IsDefault(),
		NamesLen: uint64(len(b.Names)), QualsLen: uint64(len(b.Quals)), PackedLen: uint64(len(b.Packed))}
	if b.Lengths.Each == nil && b.Records > 0 {
		e.info.FixedLen = b.Lengths.Fixed
	}

	e.small = appendBins(e.small[:0], b, binSizes(b))
	binsEnd := len(e.small)
	e.small = record.MarshalForms(e.small, &b.Forms)

	var raw [sections][]byte
	raw[secDNA], raw[secNames], raw[secQuals] = b.Packed, b.Names, b.Quals
	raw[secBins], raw[secExceptions], raw[secForms] = e.small[:binsEnd], b.Exceptions.Data(), e.small[binsEnd:]
	raw[secOrder], raw[secPlace], raw[secLengths] = bytesOf(b.Order), bytesOf(b.Place), bytesOf(b.Lengths.Each)

	d := new(directory)
	e.names = resize(e.names, len(b.Names))
	pieces, err := encodeChunks(d, &raw, e.names, run)
	if err != nil {
		return err
	}
	e.data, e.meta = e.data[:0], e.meta[:0]
	for i := range d.sections {
		s := &d.sections[i]
		s.stored = 0
		for j, p := range pieces[i] {
			s.stored += uint64(len(p))
			if compressed(i) {
				s.ends[j] = s.stored
			}
		}
		switch {
		case compressed(i):
			e.data = append(e.data, pieces[i]...)
		case i < dataSections:
			e.data = append(e.data, raw[i])
		default:
			e.meta = append(e.meta, raw[i])
			e.info.StoredMeta += uint64(len(raw[i]))
		}
	}
	e.info.StoredDNA = d.sections[secDNA].stored
	e.info.StoredNames, e.info.StoredQuals = d.sections[secNames].stored, d.sections[secQuals].stored
	dir := d.append(nil)
	e.meta = append(e.meta, dir)
	e.info.dirLen, e.info.dirSum = uint64(len(dir)), sum(dir)
	e.info.StoredMeta += uint64(len(dir))
	return nil
}

// binSizes returns how many packed bytes each bin has, nil where all reads have one length.
func binSizes(b *Block) []uint64 {
	if b.Lengths.Each == nil {
		return nil
	}
	sizes := make([]uint64, len(b.Bins))
	at := 0
	for i, bin := range b.Bins {
		for _, read := range b.Order[at : at+int(bin.Reads)] {
			sizes[i] += uint64(record.PackedLen(int(b.Lengths.Each[read])))
		}
		at += int(bin.Reads)
	}
	return sizes
}

// encodeChunks fills in the directory's checksums, and returns for each section the stored
// bytes of its chunks. Chunks are independent of one another, so their bytes don't depend on
// the order in which they are encoded.
func encodeChunks(d *directory, raw *[sections][]byte, names []byte, run Runner) (*[sections][][]byte, error) {
	type task struct{ section, chunk int }
	var tasks []task
	pieces := new([sections][][]byte)
	for i := range d.sections {
		s := &d.sections[i]
		s.raw = uint64(len(raw[i]))
		n := chunks(s.raw, i)
		s.sums, pieces[i] = make([]uint64, n), make([][]byte, n)
		if compressed(i) {
			s.methods, s.ends = make([]uint8, n), make([]uint64, n)
		}
		for j := range n {
			tasks = append(tasks, task{i, j})
		}
	}
	var failed atomic.Pointer[error]
	run(len(tasks), func(k int) {
		p := coders.Get().(*coder)
		defer coders.Put(p)
		i, j := tasks[k].section, tasks[k].chunk
		s := &d.sections[i]
		at := uint64(j) * chunkSize(i)
		chunk := raw[i][at : at+s.chunkLen(i, j)]
		var err error
		switch i {
		case secNames:
			chunk, s.methods[j] = p.encodeNames(chunk, names[at:at:at+uint64(len(chunk))])
		case secQuals:
			chunk, s.methods[j], err = p.encodeQuals(chunk)
		}
		if err != nil {
			failed.Store(&err)
			return
		}
		pieces[i][j] = chunk
		s.sums[j] = sum(chunk)
	})
	if err := failed.Load(); err != nil {
		return nil, *err
	}
	return pieces, nil
}

// coder holds the working memory of one goroutine.
type coder struct {
	zstd *zstd.Encoder
	huff huff0.Scratch
}

var coders = sync.Pool{New: func() any {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(nameChunk), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return &coder{zstd: z}
}}

// encodeNames returns a chunk of names as it is to be stored: compressed, in dst, where that is
// shorter.
func (c *coder) encodeNames(chunk, dst []byte) ([]byte, uint8) {
	if out := c.zstd.EncodeAll(chunk, dst); len(out) < len(chunk) {
		return out, chunkZstd
	}
	return chunk, chunkRaw
}

// encodeQuals compresses a chunk of qualities in place where that makes it shorter.
func (c *coder) encodeQuals(chunk []byte) ([]byte, uint8, error) {
	c.huff.Reuse = huff0.ReusePolicyNone
	out, _, err := huff0.Compress4X(chunk, &c.huff)
	switch {
	case err == nil && len(out) < len(chunk):
		return chunk[:copy(chunk, out)], chunkHuff, nil
	case errors.Is(err, huff0.ErrUseRLE):
		return chunk[:1], chunkSame, nil
	case err == nil || errors.Is(err, huff0.ErrIncompressible):
		return chunk, chunkRaw, nil
	}
	return nil, 0, fmt.Errorf("bins: qualities: %w", err)
}
