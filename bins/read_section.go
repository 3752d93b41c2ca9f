package bins

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"orcomgo/bases"
	"orcomgo/bins/entropy"
	"orcomgo/bins/parse"
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

// directory returns the directory of a block.
func (r *Reader) directory(block int) (*directory, *BlockInfo, error) {
	b := &r.info.Blocks[block]
	if d := r.dirs[block].Load(); d != nil {
		return d, b, nil
	}
	data := make([]byte, b.dirLen)
	if err := readAt(r.meta, data, b.metaAt+b.StoredMeta-b.dirLen); err != nil {
		return nil, nil, err
	}
	if sum(data) != b.dirSum {
		return nil, nil, fmt.Errorf("%s: %w: the checksum of block %d's directory differs", r.meta.Name(), parse.ErrCorrupt, block)
	}
	d, err := parseDirectory(data, b)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", r.meta.Name(), err)
	}
	r.dirs[block].Store(d)
	return d, b, nil
}

// corrupt returns an error about a section of a block, which wraps ErrCorrupt and the cause.
func (r *Reader) corrupt(sec, block int, cause error) error {
	f := r.meta
	if sec < dataSections {
		f = r.data
	}
	if errors.Is(cause, parse.ErrCorrupt) {
		return fmt.Errorf("%s: block %d: %s: %w", f.Name(), block, sectionNames[sec], cause)
	}
	return fmt.Errorf("%s: %w: block %d: %s: %w", f.Name(), parse.ErrCorrupt, block, sectionNames[sec], cause)
}

// readAt fills p with the bytes of a file from at on.
func readAt(f inFile, p []byte, at uint64) error {
	_, err := f.ReadAt(p, int64(at))
	if err == io.EOF {
		return fmt.Errorf("%s: %w: it is truncated", f.Name(), parse.ErrCorrupt)
	}
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
		data, err := r.chunks.chunk(chunkKey{sec, block, j}, func() ([]byte, error) { return r.wholeChunk(s, sec, block, j) })
		if err != nil {
			return nil, err
		}
		copy(dst[lo-from:], data[lo-first:hi-first])
	}
	return dst, nil
}

// wholeChunk returns chunk j of a section of names or qualities, which must not be changed.
func (r *Reader) wholeChunk(s *section, sec, block, j int) ([]byte, error) {
	if r.Unnamed() && s.methods[j] == chunkRaw {
		if data := r.unnamed[0].view(s.chunkAt(j)); data != nil {
			if sum(data) != s.sums[j] {
				return nil, r.corrupt(sec, block, errChecksum)
			}
			return data, nil
		}
	}
	data := make([]byte, s.chunkLen(j))
	return data, r.decodeChunk(s, sec, block, j, data)
}

// decodeChunk decodes chunk j of a section of names or qualities to dst.
func (r *Reader) decodeChunk(s *section, sec, block, j int, dst []byte) error {
	p := decoders.Get().(*decoder)
	defer decoders.Put(p)
	at, n := s.chunkAt(j)
	stored := dst // of the length of a raw chunk: parseDirectory checks that
	if s.methods[j] != chunkRaw {
		p.buf = resize(p.buf, int(n))
		stored = p.buf
	}
	if err := readAt(r.data, stored, at); err != nil {
		return err
	}
	if sum(stored) != s.sums[j] {
		return r.corrupt(sec, block, errChecksum)
	}
	if err := p.decode(dst, sec, s.methods[j]); err != nil {
		return r.corrupt(sec, block, err)
	}
	return nil
}

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

// decoder holds the working memory of one goroutine.
type decoder struct {
	entropy entropy.Decoder
	buf     []byte
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// decode expands the chunk of a section in p.buf to fill dst.
func (p *decoder) decode(dst []byte, sec int, method uint8) error {
	switch method {
	case chunkRaw: // dst has it
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
			// Field by field: a copy of the whole, two fields at a time, would wait until all that was written before is in the cache.
			read.Bin, read.Record, read.Place, read.Len, read.Packed = bin, record, dst.Place[k], n, packed[:size]
			if err := f(&read); err != nil {
				return err
			}
			packed = packed[size:]
		}
		return nil
	})
}
