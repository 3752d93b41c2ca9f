package bins

import (
	"encoding/binary"
	"fmt"

	"orcomgo/bins/parse"
)

// directory says where the sections of a block are and has their checksums. It follows the
// block's other sections in the meta file, so that it need not be kept in memory while binning.
type directory struct {
	sections [sections]section
}

// section is a sequence of chunks in one of the files. All but the last have chunkSize bytes before compression.
type section struct {
	at     uint64 // in its file; not stored, sections follow one another
	raw    uint64 // bytes before compression
	stored uint64 // bytes in the file
	sums   []uint64
	// For names and qualities: how each chunk is stored, and where it ends, counted from at.
	methods []uint8
	ends    []uint64
}

func compressed(sec int) bool { return sec == secNames || sec == secQuals }

// chunks returns how many chunks the section has.
func (s *section) chunks() int { return int((s.raw + chunkSize - 1) / chunkSize) }

func (d *directory) append(dst []byte) []byte {
	for i := range d.sections {
		s := &d.sections[i]
		dst = binary.AppendUvarint(dst, s.raw)
		last := uint64(0)
		for j, sum := range s.sums {
			if compressed(i) {
				dst = append(dst, s.methods[j])
				dst = binary.AppendUvarint(dst, s.ends[j]-last)
				last = s.ends[j]
			}
			dst = binary.LittleEndian.AppendUint64(dst, sum)
		}
	}
	return dst
}

// parseDirectory is the inverse of append, for the block b of a checked index.
func parseDirectory(data []byte, b *BlockInfo) (*directory, error) {
	d := new(directory)
	c := parse.Cursor{Rest: data}
	dataAt, metaAt := b.dataAt, b.metaAt
	for i := range d.sections {
		s := &d.sections[i]
		s.raw = c.AtMost(1 << 56)
		n := s.chunks()
		if n > len(c.Rest)/8 {
			c.Fail("it makes no sense")
			break
		}
		s.sums = make([]uint64, n)
		if compressed(i) {
			s.methods, s.ends = make([]uint8, n), make([]uint64, n)
		} else {
			s.stored = s.raw
		}
		for j := range s.sums {
			if compressed(i) {
				s.methods[j] = c.Byte()
				size := c.AtMost(chunkSize)
				if !knownMethod(s.methods[j], i) || !s.fits(j, size) {
					c.Fail("it makes no sense")
				}
				s.stored += size
				s.ends[j] = s.stored
			}
			s.sums[j] = c.Uint64()
		}
		if i < dataSections {
			s.at = dataAt
			dataAt += s.stored
		} else {
			s.at = metaAt
			metaAt += s.stored
		}
	}
	s := &d.sections
	perRead := 4 * uint64(b.Records)
	lengths := uint64(0)
	if b.Varied {
		lengths = perRead
	}
	if !c.Done() || s[secDNA].raw != b.PackedLen || s[secNames].raw != b.NamesLen || s[secNames].stored != b.StoredNames ||
		s[secQuals].raw != b.QualsLen || s[secQuals].stored != b.StoredQuals || s[secOrder].raw != perRead || s[secPlace].raw != perRead ||
		s[secLengths].raw != lengths || (s[secExceptions].raw > 0) != b.HasExceptions || (s[secForms].raw > 0) != b.HasForms ||
		metaAt != b.metaAt+b.StoredMeta-b.dirLen {
		return nil, fmt.Errorf("%w: the directory of a block makes no sense", parse.ErrCorrupt)
	}
	return d, nil
}

// fits reports whether chunk j can have so many stored bytes.
func (s *section) fits(j int, size uint64) bool {
	switch s.methods[j] {
	case chunkRaw:
		return size == s.chunkLen(j)
	case chunkSame:
		return size == 1
	}
	return size > 0 && size <= s.chunkLen(j)
}

// chunkLen returns how many bytes chunk j holds before compression.
func (s *section) chunkLen(j int) uint64 { return min(chunkSize, s.raw-uint64(j)*chunkSize) }

// chunkAt returns where chunk j of names or qualities is in its file, and how many bytes it has there.
func (s *section) chunkAt(j int) (at, size uint64) {
	if j > 0 {
		at = s.ends[j-1]
	}
	return s.at + at, s.ends[j] - at
}
