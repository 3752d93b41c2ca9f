package bins

import (
	"fmt"
	"io"

	"orcomgo/bins/parse"
	"orcomgo/digest"
)

// CheckBlock compares the checksums of all sections of a block with the two files, without decoding anything. It calls count with the
// number of bytes of each piece that it reads. The first section that differs is the error, which wraps parse.ErrCorrupt.
func (r *Reader) CheckBlock(block int, count func(bytes uint64)) error {
	d, b, err := r.directory(block)
	if err != nil {
		return err
	}
	count(b.dirLen)
	buf := make([]byte, chunkSize)
	for i := range d.sections {
		s, f := &d.sections[i], r.meta
		if i < dataSections {
			f = r.data
		}
		for j := range s.sums {
			at, size := s.at+uint64(j)*chunkSize, s.chunkLen(j)
			if compressed(i) {
				at, size = s.chunkAt(j)
			}
			if err := readAt(f, buf[:size], at); err != nil {
				return err
			}
			if sum(buf[:size]) != s.sums[j] {
				return r.corrupt(i, block, errChecksum)
			}
			count(size)
		}
	}
	return nil
}

// CheckFile compares the file of an input, if the bins have it, with its checksum. It calls count with the number of bytes of each piece
// that it reads.
func (r *Reader) CheckFile(input int, count func(bytes uint64)) error {
	file, sums := r.File(input), digest.New(true, false)
	if file == nil {
		return nil
	}
	buf := make([]byte, chunkSize)
	for {
		n, err := file.Read(buf)
		sums.Write(buf[:n])
		count(uint64(n))
		if err == io.EOF {
			break
		} else if err != nil {
			return err
		}
	}
	in := &r.info.Inputs[input]
	if sums.Sums().SHA256 != in.Source.Sums.SHA256 {
		return fmt.Errorf("%s: the file of %s: %w: %w", r.data.Name(), in.Name, parse.ErrCorrupt, errChecksum)
	}
	return nil
}

// StoredBytes returns how many bytes of the two files belong to blocks.
func (m *Meta) StoredBytes() (n uint64) {
	for i := range m.Blocks {
		b := &m.Blocks[i]
		n += b.StoredDNA + b.StoredNames + b.StoredQuals + b.StoredMeta
	}
	return n
}
