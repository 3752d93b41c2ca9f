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

// Encoded is a block ready to be written. It may be used again for another block once it
// has been; the block's own slices must live and stay as they are until then.
type Encoded struct {
	info  BlockInfo
	data  [][]byte // what follows in the data file
	meta  [][]byte // and in the meta file
	names []byte   // memory of the compressed names
	small []byte   // memory of the short sections

	dataAt, metaAt uint64 // where the block goes
}

// Runner calls task with 0..n-1, in any order and on as many goroutines as it likes, and
// returns when all calls have.
type Runner func(n int, task func(i int))

// EncodeBlock checks, compresses and sums up a block. It works on nothing but its
// arguments, so blocks may be encoded side by side. The qualities are compressed in place:
// what b.Quals holds afterwards is of no use.
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
		HasExceptions: len(b.Exceptions) > 0, HasForms: !b.Forms.IsDefault(),
		NamesLen: uint64(len(b.Names)), QualsLen: uint64(len(b.Quals)), PackedLen: uint64(len(b.Packed))}
	if b.Lengths.Each == nil && b.Records > 0 {
		e.info.FixedLen = b.Lengths.Fixed
	}

	e.small = appendBins(e.small[:0], b, binSizes(b))
	ends := [3]int{0: len(e.small)}
	e.small = appendExceptions(e.small, b.Exceptions)
	ends[1] = len(e.small)
	e.small = record.MarshalForms(e.small, &b.Forms)
	ends[2] = len(e.small)

	var raw [sections][]byte
	raw[secDNA], raw[secNames], raw[secQuals] = b.Packed, b.Names, b.Quals
	raw[secBins], raw[secExceptions], raw[secForms] = e.small[:ends[0]], e.small[ends[0]:ends[1]], e.small[ends[1]:ends[2]]
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
			if packed(i) {
				s.ends[j] = s.stored
			}
		}
		switch {
		case packed(i):
			e.data = append(e.data, pieces[i]...)
		case i < dataSections:
			e.data = append(e.data, raw[i])
		default:
			e.meta = append(e.meta, raw[i])
			e.info.StoredMeta += uint64(len(raw[i]))
		}
	}
	e.info.StoredDNA, e.info.StoredNames, e.info.StoredQuals = d.sections[secDNA].stored, d.sections[secNames].stored, d.sections[secQuals].stored
	dir := d.append(nil)
	e.meta = append(e.meta, dir)
	e.info.dirLen, e.info.dirSum = uint64(len(dir)), sum(dir)
	e.info.StoredMeta += uint64(len(dir))
	return nil
}

// binSizes returns how many bytes each bin takes packed, where lengths vary.
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

// encodeChunks fills in the directory's sums, and returns for each section the stored
// bytes of its chunks. Chunks are independent of one another, so any way to run them gives
// the same bytes.
func encodeChunks(d *directory, raw *[sections][]byte, names []byte, run Runner) (*[sections][][]byte, error) {
	type task struct{ section, chunk int }
	var tasks []task
	pieces := new([sections][][]byte)
	for i := range d.sections {
		s := &d.sections[i]
		s.raw = uint64(len(raw[i]))
		n := chunks(s.raw, i)
		s.sums, pieces[i] = make([]uint64, n), make([][]byte, n)
		if packed(i) {
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
			chunk, s.methods[j] = p.name(chunk, names[at:at:at+uint64(len(chunk))])
		case secQuals:
			chunk, s.methods[j], err = p.qual(chunk)
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

// name returns a chunk of names as it is to be stored, in dst where that is shorter.
func (c *coder) name(chunk, dst []byte) ([]byte, uint8) {
	if out := c.zstd.EncodeAll(chunk, dst); len(out) < len(chunk) {
		return out, chunkZstd
	}
	return chunk, chunkRaw
}

// qual compresses a chunk of qualities in place.
func (c *coder) qual(chunk []byte) ([]byte, uint8, error) {
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
