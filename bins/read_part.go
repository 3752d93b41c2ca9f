package bins

import (
	"bytes"
	"sync"

	"orcomgo/bases"
	"orcomgo/bins/record"
)

// ReadNames reads bytes from..to-1 of the names of a block, each of which ends in '\n', into dst if that has room.
func (r *Reader) ReadNames(block int, from, to uint64, dst []byte) ([]byte, error) {
	return r.columnRange(secNames, block, from, to, dst)
}

// ReadQuals reads the qualities from..to-1 of a block, which are in input order end to end, into dst if that has room.
func (r *Reader) ReadQuals(block int, from, to uint64, dst []byte) ([]byte, error) {
	return r.columnRange(secQuals, block, from, to, dst)
}

func (r *Reader) columnRange(sec, block int, from, to uint64, dst []byte) ([]byte, error) {
	d, _, err := r.directory(block)
	if err != nil {
		return nil, err
	}
	if from > to || to > d.sections[sec].raw {
		return nil, r.corrupt(sec, block, errShort)
	}
	return r.packedRange(d, sec, block, from, to, dst)
}

// NameMarks returns where in the names of a block the name of every `every`-th record begins, from record 0 on, and where the names end. It
// checks that there is a name for each record, and holds one chunk of the names at a time.
func (r *Reader) NameMarks(block, every int) ([]uint64, error) {
	d, info, err := r.directory(block)
	if err != nil || !info.HasNames {
		return nil, err
	}
	s := &d.sections[secNames]
	marks := make([]uint64, 0, info.Records/every+2)
	var chunk []byte
	records := 0 // names that have started
	open := false
	for j := range s.sums {
		from := uint64(j) * chunkSize
		if chunk, err = r.packedRange(d, secNames, block, from, from+s.chunkLen(j), chunk); err != nil {
			return nil, err
		}
		for at := 0; at < len(chunk); {
			if !open {
				if records%every == 0 {
					marks = append(marks, from+uint64(at))
				}
				records++
			}
			n := bytes.IndexByte(chunk[at:], '\n')
			if open = n < 0; open {
				break
			}
			at += n + 1
		}
	}
	if open || records != info.Records {
		return nil, r.corrupt(secNames, block, errCount)
	}
	return append(marks, s.raw), nil
}

// ExceptionMark is a place in the exceptions of a block at which those of a read begin.
type ExceptionMark struct {
	At     uint64 // bytes before it
	Before uint32 // the read of the exception before it
}

// ExceptionMarks returns where in the exceptions of a block those of every `every`-th record and the following ones begin, from record 0
// on, and where they end. It checks them all, and holds one chunk of them at a time. lengths are those of the block.
func (r *Reader) ExceptionMarks(block, every int, lengths *record.Lengths) ([]ExceptionMark, error) {
	d, info, err := r.directory(block)
	if err != nil || !info.HasExceptions {
		return nil, err
	}
	var marks []ExceptionMark
	before := uint32(0)
	s := &d.sections[secExceptions]
	err = r.exceptions(block, ExceptionMark{}, s.raw, lengths, func(e record.Exception, at uint64) error {
		for len(marks)*every <= int(e.Read) {
			marks = append(marks, ExceptionMark{at, before})
		}
		before = e.Read
		return nil
	})
	if err != nil {
		return nil, err
	}
	for len(marks) < (info.Records+every-1)/every+1 {
		marks = append(marks, ExceptionMark{s.raw, before})
	}
	return marks, nil
}

// ReadExceptions calls f with each of the exceptions of a block between two of its marks.
func (r *Reader) ReadExceptions(block int, from, to ExceptionMark, lengths *record.Lengths, f func(e record.Exception) error) error {
	return r.exceptions(block, from, to.At, lengths, func(e record.Exception, _ uint64) error { return f(e) })
}

// EachException calls f with each exception of a block, and holds one chunk of them at a time. lengths are those of the block.
func (r *Reader) EachException(block int, lengths *record.Lengths, f func(e record.Exception) error) error {
	d, _, err := r.directory(block)
	if err != nil {
		return err
	}
	return r.ReadExceptions(block, ExceptionMark{}, ExceptionMark{At: d.sections[secExceptions].raw}, lengths, f)
}

// exceptions calls f with the exceptions from..to and where each begins.
func (r *Reader) exceptions(block int, from ExceptionMark, to uint64, lengths *record.Lengths,
	f func(e record.Exception, at uint64) error) error {
	d, info, err := r.directory(block)
	if err != nil {
		return err
	}
	if from.At > to || to > d.sections[secExceptions].raw {
		return r.corrupt(secExceptions, block, errShort)
	}
	p := record.ParserAt(from.Before)
	buf := make([]byte, min(2*chunkSize, d.sections[secExceptions].raw)) // whole chunks are read
	for at := from.At; at < to; {
		// Chunks are read once each, but for the one that an exception crosses the end of.
		end := min((at+record.MaxException)/chunkSize*chunkSize+chunkSize, to)
		data, err := r.rawRange(d, secExceptions, block, at, end-at, buf)
		if err != nil {
			return err
		}
		for len(data) > 0 && (end == to || len(data) >= record.MaxException) {
			e, n, ok := p.Next(data, info.Records, lengths)
			if !ok {
				return r.corrupt(secExceptions, block, errNonsense)
			}
			if err := f(e, at); err != nil {
				return err
			}
			data, at = data[n:], at+uint64(n)
		}
	}
	return nil
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
	in, err := r.selectBins(d, info, block, lo, hi, dst)
	if err == nil && info.Varied && len(dst.Lengths.Each) != info.Records {
		err = r.readLengths(d, info, block, dst)
	}
	if err != nil {
		return err
	}
	from, reads, at := in.firstRead, in.reads, in.firstByte
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

// StoredRead is a read as a block has it.
type StoredRead struct {
	Bin    int // number of its bin among those that were asked for
	Record uint32
	Place  uint32 // as in Block.Place
	Len    int    // bases
	Packed []byte
}

// EachRead calls f with one read of a block after another of those with signatures lo to hi, inclusive. It is like EachPart for all else.
func (r *Reader) EachRead(block int, lo, hi uint32, dst *Block, f func(read *StoredRead) error) error {
	var read StoredRead
	bin, left := -1, uint32(0) // the current bin, and how many of its reads are to come
	return r.EachPart(block, lo, hi, dst, func() error {
		packed := dst.Packed
		for k, record := range dst.Order {
			for left == 0 {
				bin++
				left = dst.Bins[bin].Reads
			}
			left--
			n := dst.Lengths.Of(int(record))
			size := bases.PackedLen(n)
			read = StoredRead{Bin: bin, Record: record, Place: dst.Place[k], Len: n, Packed: packed[:size]}
			if err := f(&read); err != nil {
				return err
			}
			packed = packed[size:]
		}
		return nil
	})
}
