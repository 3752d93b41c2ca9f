package bins

import (
	"fmt"
	"sync"
	"sync/atomic"

	"orcomgo/bases"
	"orcomgo/bins/entropy"
	"orcomgo/bins/parse"
	"orcomgo/bins/record"
)

// Encoded is a block that is ready to be written. It refers to the block's slices, which must
// not change until it has been written; then it may be used for another block.
type Encoded struct {
	info  BlockInfo
	data  [][]byte // the block in the data file
	meta  [][]byte // and in the meta file
	small []byte   // buffer of the short sections

	dataAt, metaAt uint64 // offsets of the block in the files
}

// Runner calls task with each of 0..n-1, in any order and on any number of goroutines, and
// returns when all calls have returned.
type Runner func(n int, task func(i int))

// EncodeBlock checks a block, compresses it and computes its checksums. It uses nothing but its
// arguments, so blocks may be encoded concurrently. Names and qualities are compressed in place:
// afterwards the content of b.Names and b.Quals is undefined.
func EncodeBlock(e *Encoded, b *Block, run Runner) error {
	bases := uint64(0)
	for i := range b.Bins {
		bases += b.Bins[i].Bases
	}
	names, hasNames := rawSize(b.Names, b.CodedNames)
	quals, hasQuals := rawSize(b.Quals, b.CodedQuals)
	if len(b.Order) != b.Records || len(b.Place) != b.Records || b.Lengths.Each != nil && len(b.Lengths.Each) != b.Records ||
		hasQuals && quals != bases {
		return fmt.Errorf("bins: block of %d records has %d ordinals, %d places, %d lengths, %d bases and %d qualities",
			b.Records, len(b.Order), len(b.Place), len(b.Lengths.Each), bases, quals)
	}
	e.info = BlockInfo{Input: b.Input, FirstRecord: b.FirstRecord, Records: b.Records, TextLen: b.TextLen, TextHash: b.TextHash,
		Bases: bases, Varied: b.Lengths.Each != nil, HasNames: hasNames, HasQuals: hasQuals,
		HasExceptions: !b.Exceptions.Empty(), HasForms: !b.Forms.IsDefault(),
		NamesLen: names, QualsLen: quals, PackedLen: uint64(len(b.Packed))}
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
	coded := [sections]*Coded{secNames: b.CodedNames, secQuals: b.CodedQuals}
	pieces, err := encodeChunks(d, &raw, &coded, b.Uncoded, run)
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
	var dir parse.Fields
	d.code(&dir)
	e.meta = append(e.meta, dir.Out)
	e.info.dirLen, e.info.dirSum = uint64(len(dir.Out)), sum(dir.Out)
	e.info.StoredMeta += uint64(len(dir.Out))
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
			sizes[i] += uint64(bases.PackedLen(int(b.Lengths.Each[read])))
		}
		at += int(bin.Reads)
	}
	return sizes
}

// encodeChunks fills in the directory's checksums, and returns for each section the stored
// bytes of its chunks. Chunks are independent of one another, so their bytes don't depend on
// the order in which they are encoded. uncoded says that names and qualities are stored as they are.
func encodeChunks(d *directory, raw *[sections][]byte, coded *[sections]*Coded, uncoded bool, run Runner) (*[sections][][]byte, error) {
	type task struct{ section, chunk int }
	var tasks []task
	pieces := new([sections][][]byte)
	for i := range d.sections {
		s := &d.sections[i]
		s.raw = uint64(len(raw[i]))
		if coded[i] != nil {
			s.raw = coded[i].Raw
		}
		n := s.chunks()
		s.makeRoom(i)
		pieces[i] = make([][]byte, n)
		if coded[i] != nil {
			if err := coded[i].divide(s, i, pieces[i]); err != nil {
				return nil, err
			}
		}
		for j := range n {
			tasks = append(tasks, task{i, j})
		}
	}
	var next atomic.Int64
	run(min(len(tasks), mostCoders), func(int) {
		k := int(next.Add(1)) - 1
		if k >= len(tasks) {
			return // without a coder, which may have to be made
		}
		coder := coders.Get().(*coder)
		defer coders.Put(coder)
		for ; k < len(tasks); k = int(next.Add(1)) - 1 {
			i, j := tasks[k].section, tasks[k].chunk
			s := &d.sections[i]
			if coded[i] == nil {
				at := uint64(j) * chunkSize
				chunk := raw[i][at : at+s.chunkLen(j)]
				switch {
				case uncoded:
				case i == secNames:
					chunk, s.methods[j] = coder.encodeNames(chunk)
				case i == secQuals:
					chunk, s.methods[j] = coder.encodeQuals(chunk)
				}
				pieces[i][j] = chunk
			}
			s.sums[j] = sum(pieces[i][j])
		}
	})
	return pieces, nil
}

// mostCoders is how many goroutines encode the chunks of a block at most, so that the memory that they take does not grow with the
// machine. Each has a coder, which takes up to 3 MB.
const mostCoders = 16

var coders = sync.Pool{New: func() any { return &coder{buf: make([]byte, 0, chunkSize)} }}

// coder holds the working memory of one goroutine.
type coder struct {
	entropy entropy.Encoder
	buf     []byte // a coded chunk
}

// encodeNames codes a chunk of names in place where that makes it shorter.
func (c *coder) encodeNames(chunk []byte) ([]byte, uint8) {
	c.buf = c.entropy.AppendNames(c.buf[:0], chunk)
	if len(c.buf) < len(chunk) {
		return chunk[:copy(chunk, c.buf)], chunkCoded
	}
	return chunk, chunkRaw
}

// encodeQuals codes a chunk of qualities in place where that makes it shorter.
func (c *coder) encodeQuals(chunk []byte) ([]byte, uint8) {
	c.buf = c.entropy.AppendStream(c.buf[:0], chunk, true)
	switch entropy.Kind(c.buf[0]) {
	case entropy.Raw:
		return chunk, chunkRaw
	case entropy.Same:
		return chunk[:1], chunkSame
	}
	return chunk[:copy(chunk, c.buf)], chunkCoded
}
