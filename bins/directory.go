package bins

import (
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

// makeRoom makes room for what the directory has of each chunk of the section, which is number sec.
func (s *section) makeRoom(sec int) {
	n := s.chunks()
	s.sums = make([]uint64, n)
	if compressed(sec) {
		s.methods, s.ends = make([]uint8, n), make([]uint64, n)
	}
}

// code codes the directory.
func (d *directory) code(f *parse.Fields) {
	for i := range d.sections {
		s := &d.sections[i]
		if parse.Number(f, &s.raw, maxBytes); f.In != nil {
			if s.chunks() > len(f.In.Rest)/8 {
				f.Fail("it makes no sense")
				return
			}
			s.makeRoom(i)
		}
		at := uint64(0)
		for j := range s.sums {
			if compressed(i) {
				size := s.ends[j] - at
				parse.Byte(f, &s.methods[j], chunkCoded)
				if parse.Number(f, &size, chunkSize); !knownMethod(s.methods[j], i) || !s.fits(j, size) {
					f.Fail("it makes no sense")
				}
				at += size
				s.ends[j] = at
			}
			f.Uint64(&s.sums[j])
		}
		if s.stored = at; !compressed(i) {
			s.stored = s.raw
		}
	}
}

// parseDirectory parses the directory of the block b of a checked index.
func parseDirectory(data []byte, b *BlockInfo) (*directory, error) {
	d, c := new(directory), &parse.Cursor{Rest: data}
	d.code(&parse.Fields{In: c})
	dataAt, metaAt := b.dataAt, b.metaAt
	for i := range d.sections {
		s := &d.sections[i]
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
