package bins

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"orcomgo/bases"
	"orcomgo/bins/record"
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

// selectBins returns where the reads with signatures lo to hi are among the stored reads and in the packed bases, and how many they are.
// It sets Bins of dst to their bins, and what ReadColumns always sets.
func (r *Reader) selectBins(d *directory, info *BlockInfo, block int, lo, hi uint32, dst *Block) (first, at, reads uint64, err error) {
	bins, sizes, err := r.binTable(d, info, block)
	if err != nil {
		return 0, 0, 0, err
	}
	fillInfo(dst, info)
	dst.Bins = dst.Bins[:0]
	for i, bin := range bins {
		switch {
		case bin.Signature < lo:
			first += uint64(bin.Reads)
			at += sizes[i]
		case bin.Signature <= hi:
			reads += uint64(bin.Reads)
			dst.Bins = append(dst.Bins, bin)
		}
	}
	return first, at, reads, nil
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

// partSize is how much of a block EachPart has in memory at once: so many reads, and of their bases so many bytes, or one read.
type partSize struct {
	reads uint64
	bytes int
}

// largeParts has a chunk of Order, and of Place.
var largeParts = partSize{reads: chunkSize / 4, bytes: 4 << 20}

// partBuffer holds the memory that EachPart reads into.
type partBuffer struct {
	order, place []uint32
	raw, packed  []byte
}

var partBuffers = sync.Pool{New: func() any { return new(partBuffer) }}

// readOrder reads Order and Place of n reads of a block, from the stored read `from` on.
func (p *partBuffer) readOrder(r *Reader, d *directory, block int, from, n uint64) error {
	for _, c := range []struct {
		section int
		dst     *[]uint32
	}{{secOrder, &p.order}, {secPlace, &p.place}} {
		if need := min(4*n+2*chunkSize, d.sections[c.section].raw); need > uint64(cap(p.raw)) { // whole chunks are read
			p.raw = make([]byte, need)
		}
		raw, err := r.rawRange(d, c.section, block, 4*from, 4*n, p.raw)
		if err != nil {
			return err
		}
		*c.dst = toUint32(*c.dst, raw)
	}
	return nil
}

// EachPart reads the reads of a block with signatures lo to hi, inclusive (NBin is one),
// part after part: f finds in Order, Place and Packed of dst those of a part.
// Before the first call, Bins of dst is set to the bins of the range. The lengths of dst must be
// those of the block if they vary; it reads them if there are none. Order, Place and Packed are valid until f returns, and nil
// in the end.
func (r *Reader) EachPart(block int, lo, hi uint32, dst *Block, f func() error) error {
	d, info, err := r.directory(block)
	if err != nil {
		return err
	}
	from, at, reads, err := r.selectBins(d, info, block, lo, hi, dst)
	if err == nil && info.Varied && len(dst.Lengths.Each) != info.Records {
		err = r.readLengths(d, info, block, dst)
	}
	if err != nil {
		return err
	}
	p := partBuffers.Get().(*partBuffer)
	defer func() {
		dst.Order, dst.Place, dst.Packed = nil, nil, nil // of p, which others reuse
		partBuffers.Put(p)
	}()
	bin, left, last := 0, uint32(0), -1 // reads of the bins up to bin that are to come, and the one before these
	for reads > 0 {
		// Chunks are read once each.
		n := min(reads, r.part.reads-from%r.part.reads)
		if err = p.readOrder(r, d, block, from, n); err != nil {
			return err
		}
		order := p.order
		from, reads = from+n, reads-n
		for i := 0; i < len(order); {
			k, size := i, 0
			for ; k < len(order); k++ {
				if left == 0 {
					left, last = dst.Bins[bin].Reads, -1
					bin++
				}
				read := int(order[k])
				if read <= last || read >= info.Records {
					return r.corrupt(secOrder, block, errNonsense)
				}
				length := bases.PackedLen(dst.Lengths.Of(read))
				if k > i && size+length > r.part.bytes {
					break
				}
				size += length
				last = read
				left--
			}
			if need := min(uint64(size)+2*chunkSize, d.sections[secDNA].raw); need > uint64(cap(p.packed)) { // whole chunks are read
				p.packed = make([]byte, min(need+need/8, d.sections[secDNA].raw))
			}
			packed, err := r.rawRange(d, secDNA, block, at, uint64(size), p.packed)
			if err != nil {
				return err
			}
			at += uint64(size)
			dst.Order, dst.Place, dst.Packed = order[i:k], p.place[i:k], packed
			if err := f(); err != nil {
				return err
			}
			i = k
		}
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
	for i := range r.info.Inputs {
		if err := r.CheckFile(i, func(uint64) {}); err != nil {
			return err
		}
	}
	return nil
}
