package bins

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"orcomgo/bases"
	"orcomgo/bins/entropy"
	"orcomgo/bins/record"
)

// What can be wrong with a section.
var (
	errChecksum = errors.New("the checksum differs")
	errChunk    = errors.New("a chunk does not decode")
	errCount    = errors.New("their number differs")
	errNonsense = errors.New("it makes no sense")
	errShort    = errors.New("it is too short")
	errSum      = errors.New("their sum differs")
)

// Columns is a set of columns of a block.
type Columns uint8

// The columns that ReadColumns can read.
const (
	WantNames Columns = 1 << iota
	WantQuals
	WantForms
	WantLengths
	WantExceptions
	WantAll = 1<<iota - 1
)

// ReadColumns reads the wanted columns of a block into dst, reusing its memory, and sets
// Input, FirstRecord, Records, TextLen, TextHash and FixedLen. Other columns of dst keep
// their content. A wanted column that the archive does not have becomes nil.
func (r *Reader) ReadColumns(block int, want Columns, dst *Block) error {
	d, info, err := r.directory(block)
	if err != nil {
		return err
	}
	fillInfo(dst, info)
	if want&(WantLengths|WantExceptions) != 0 {
		lengths := dst
		if want&WantLengths == 0 {
			lengths = &Block{Records: info.Records, Lengths: record.Lengths{Fixed: info.FixedLen}}
		}
		if err := r.readLengths(d, info, block, lengths); err != nil {
			return err
		}
		if want&WantExceptions != 0 {
			dst.Exceptions.Reset()
			err := r.EachException(block, &lengths.Lengths, func(e record.Exception) error {
				dst.Exceptions.Append(e)
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	if want&WantNames != 0 {
		if !info.HasNames {
			dst.Names = nil
		} else if dst.Names, err = r.section(d, secNames, block, dst.Names); err != nil {
			return err
		} else if bytes.Count(dst.Names, []byte{'\n'}) != info.Records || info.Records > 0 && dst.Names[len(dst.Names)-1] != '\n' {
			return r.corrupt(secNames, block, errCount)
		}
	}
	if want&WantQuals != 0 {
		if !info.HasQuals {
			dst.Quals = nil
		} else if dst.Quals, err = r.section(d, secQuals, block, dst.Quals); err != nil {
			return err
		}
	}
	if want&WantForms != 0 {
		data, err := r.section(d, secForms, block, nil)
		if err != nil {
			return err
		}
		if dst.Forms, err = record.UnmarshalForms(data, info.Records); err != nil {
			return r.corrupt(secForms, block, err)
		}
	}
	return nil
}

func fillInfo(dst *Block, info *BlockInfo) {
	dst.Input, dst.FirstRecord, dst.Records = info.Input, info.FirstRecord, info.Records
	dst.TextLen, dst.TextHash, dst.Lengths.Fixed = info.TextLen, info.TextHash, info.FixedLen
}

func (r *Reader) readLengths(d *directory, info *BlockInfo, block int, dst *Block) error {
	if !info.Varied {
		dst.Lengths.Each = nil
		return nil
	}
	data, err := r.section(d, secLengths, block, nil)
	if err != nil {
		return err
	}
	dst.Lengths.Each = toUint32(dst.Lengths.Each, data)
	var total, size uint64
	for _, n := range dst.Lengths.Each {
		total += uint64(n)
		size += uint64(bases.PackedLen(int(n)))
	}
	if total != info.Bases || size != info.PackedLen {
		return r.corrupt(secLengths, block, errSum)
	}
	return nil
}

// BinIndex returns all the bins of a block.
func (r *Reader) BinIndex(block int) ([]Bin, error) {
	d, info, err := r.directory(block)
	if err != nil {
		return nil, err
	}
	bins, _, err := r.binTable(d, info, block)
	return bins, err
}

func (r *Reader) binTable(d *directory, info *BlockInfo, block int) ([]Bin, []uint64, error) {
	data, err := r.section(d, secBins, block, nil)
	if err != nil {
		return nil, nil, err
	}
	bins, sizes, err := parseBins(data, info)
	if err != nil {
		return nil, nil, r.corrupt(secBins, block, err)
	}
	return bins, sizes, nil
}

// readRange is a range of the stored reads of a block.
type readRange struct {
	firstRead, reads uint64
	firstByte, bytes uint64 // of their packed bases
}

// selectBins returns where the reads with signatures lo to hi are. It sets Bins of dst to their
// bins, and what ReadColumns always sets.
func (r *Reader) selectBins(d *directory, info *BlockInfo, block int, lo, hi uint32, dst *Block) (in readRange, err error) {
	bins, sizes, err := r.binTable(d, info, block)
	if err != nil {
		return in, err
	}
	fillInfo(dst, info)
	dst.Bins = dst.Bins[:0]
	for i, bin := range bins {
		switch {
		case bin.Signature < lo:
			in.firstRead += uint64(bin.Reads)
			in.firstByte += sizes[i]
		case bin.Signature <= hi:
			in.reads += uint64(bin.Reads)
			in.bytes += sizes[i]
			dst.Bins = append(dst.Bins, bin)
		}
	}
	return in, nil
}

// ReadBins reads the reads of a block with signatures lo to hi, inclusive (NBin counts as a
// signature). It sets Bins, Order, Place and Packed of dst to those of that range, reusing its
// memory, and what ReadColumns always sets. Of the lengths it needs what EachPart does.
func (r *Reader) ReadBins(block int, lo, hi uint32, dst *Block) error {
	info := &r.info.Blocks[block]
	order, place := slices.Grow(dst.Order[:0], info.Records), slices.Grow(dst.Place[:0], info.Records)
	packed := slices.Grow(dst.Packed[:0], int(info.PackedLen))
	err := r.EachPart(block, lo, hi, dst, func() error {
		order, place, packed = append(order, dst.Order...), append(place, dst.Place...), append(packed, dst.Packed...)
		return nil
	})
	dst.Order, dst.Place, dst.Packed = order, place, packed
	return err
}

// rawRange reads bytes at..at+n-1 of an uncompressed section, into dst if it has room, by one
// read of all chunks that hold them.
func (r *Reader) rawRange(d *directory, sec, block int, at, n uint64, dst []byte) ([]byte, error) {
	s := &d.sections[sec]
	if n == 0 {
		return dst[:0], nil
	}
	if at+n > s.raw {
		return nil, r.corrupt(sec, block, errShort)
	}
	first, last := at/chunkSize, (at+n-1)/chunkSize
	start := first * chunkSize
	dst = resize(dst, int(min((last+1)*chunkSize, s.raw)-start))
	f := r.meta
	if sec < dataSections {
		f = r.data
	}
	if err := readAt(f, dst, s.at+start); err != nil {
		return nil, err
	}
	for j := first; j <= last; j++ {
		from := (j - first) * chunkSize
		if sum(dst[from:from+s.chunkLen(int(j))]) != s.sums[j] {
			return nil, r.corrupt(sec, block, errChecksum)
		}
	}
	return dst[at-start : at-start+n], nil
}

// section reads a whole section, into dst if it has room.
func (r *Reader) section(d *directory, sec, block int, dst []byte) ([]byte, error) {
	s := &d.sections[sec]
	if !compressed(sec) {
		return r.rawRange(d, sec, block, 0, s.raw, dst)
	}
	return r.packedRange(d, sec, block, 0, s.raw, dst)
}

// packedRange reads bytes from..to-1, before compression, of a section of names or qualities, into dst if that has room.
func (r *Reader) packedRange(d *directory, sec, block int, from, to uint64, dst []byte) ([]byte, error) {
	s := &d.sections[sec]
	dst = resize(dst, int(to-from))
	if from == to {
		return dst, nil
	}
	for j := int(from / chunkSize); j <= int((to-1)/chunkSize); j++ {
		first := uint64(j) * chunkSize
		end := first + s.chunkLen(j)
		if first >= from && end <= to {
			if err := r.decodeChunk(s, sec, block, j, dst[first-from:end-from]); err != nil {
				return nil, err
			}
			continue
		}
		lo, hi := max(first, from), min(end, to)
		err := r.chunks.with(chunkKey{sec, block, j}, int(end-first),
			func(to []byte) error { return r.decodeChunk(s, sec, block, j, to) },
			func(data []byte) { copy(dst[lo-from:], data[lo-first:hi-first]) })
		if err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// decodeChunk decodes chunk j of a section of names or qualities to dst.
func (r *Reader) decodeChunk(s *section, sec, block, j int, dst []byte) error {
	p := decoders.Get().(*decoder)
	defer decoders.Put(p)
	at, n := s.chunkAt(j)
	p.buf = resize(p.buf, int(n))
	if err := readAt(r.data, p.buf, at); err != nil {
		return err
	}
	if sum(p.buf) != s.sums[j] {
		return r.corrupt(sec, block, errChecksum)
	}
	if err := p.decode(dst, sec, s.methods[j]); err != nil {
		return r.corrupt(sec, block, err)
	}
	return nil
}

// Check reads everything and compares the checksums. The error is about the first damage.
func (r *Reader) Check(ctx context.Context) error {
	var b Block
	for i := range r.info.Blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.ReadColumns(i, WantAll&^WantExceptions, &b); err != nil {
			return err
		}
		if err := r.EachException(i, &b.Lengths, func(record.Exception) error { return nil }); err != nil {
			return err
		}
		if err := r.ReadBins(i, 0, NBin, &b); err != nil {
			return err
		}
	}
	return nil
}

// decoder holds the working memory of one goroutine.
type decoder struct {
	entropy entropy.Decoder
	buf     []byte
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// decode expands the chunk of a section in p.buf to fill dst.
func (p *decoder) decode(dst []byte, sec int, method uint8) error {
	switch method {
	case chunkRaw:
		copy(dst, p.buf) // of the same length: parseDirectory checks that
	case chunkSame:
		for n := copy(dst, p.buf[:1]); n < len(dst); {
			n += copy(dst[n:], dst[:n])
		}
	default:
		code := p.entropy.Stream
		if sec == secNames {
			code = p.entropy.Names
		}
		if err := code(dst, p.buf); err != nil {
			return fmt.Errorf("%w: %w", errChunk, err)
		}
	}
	return nil
}
