package restoring

import (
	"fmt"
	"slices"

	"orcomgo/bins/vfs"
	"orcomgo/compress/archive"
)

// ColumnBytes says where an archive's bytes are.
type ColumnBytes struct {
	// ByColumn is indexed by archive.Column. Sequences include what places them, and their order.
	// In bins, forms include lengths and the order of reads.
	ByColumn [archive.Columns]uint64
	Index    uint64 // manifest, headers and checksums
	Files    uint64 // of bins: the .gz that they keep
}

// Total returns the size of the archive.
func (c ColumnBytes) Total() uint64 {
	n := c.Index + c.Files
	for _, b := range c.ByColumn {
		n += b
	}
	return n
}

// Each calls f for each column, the largest ones of most archives first, and then for the index.
func (c ColumnBytes) Each(f func(name string, bytes uint64)) {
	for i, b := range slices.Backward(c.ByColumn[:]) {
		f(archive.Column(i).String(), b)
	}
	f("index", c.Index)
	if c.Files > 0 {
		f("files", c.Files)
	}
}

// MarshalJSON returns an object with the bytes of each column by its name.
func (c ColumnBytes) MarshalJSON() ([]byte, error) {
	var b []byte
	c.Each(func(name string, bytes uint64) { b = fmt.Appendf(b, ",%q:%d", name, bytes) })
	b[0] = '{'
	return append(b, '}'), nil
}

// Summary is the outcome of Pack or Unpack; as JSON it is that of Pack, for scripts.
type Summary struct {
	ID           [16]byte    `json:"-"` // of the packed archive; zero for bins
	Inputs       int         `json:"inputs"`
	Records      uint64      `json:"records"`
	Bases        uint64      `json:"bases"`
	TextBytes    uint64      `json:"text_bytes"`    // of the inputs, uncompressed
	ArchiveBytes uint64      `json:"archive_bytes"` // both files; of a packed data file that was cut off, what it had
	Columns      ColumnBytes `json:"columns"`
	Verified     bool        `json:"verified"` // the archive was decoded and compared when it was packed

	AlreadyPacked bool         `json:"already_packed"` // Pack found the archive finished
	Slices        int          `json:"-"`
	Files         []FileStatus `json:"-"` // by input; Unpack only
	Notes         []string     `json:"-"` // what is wrong with the archive, though it does not matter here; Unpack only
}

// SummaryOf sums up an archive whose files are paths, that of the data first.
func SummaryOf(man *archive.Manifest, paths []string, already bool) (*Summary, error) {
	s := &Summary{ID: man.ID, Inputs: len(man.Inputs), Verified: man.Verified, AlreadyPacked: already, Slices: len(man.Slices)}
	for i := range man.Inputs {
		in := &man.Inputs[i]
		s.Records += in.Records
		s.Bases += in.Bases
		s.TextBytes += in.Bytes
	}
	for i, p := range paths {
		st, err := vfs.Stat(p)
		if err != nil {
			return nil, err
		}
		size := uint64(st.Size())
		if i == 0 {
			size = max(size, man.FileLen()) // as it was written, like the sizes of the columns, if it was cut off since
		}
		s.ArchiveBytes += size
	}
	s.Columns = ColumnBytes{ByColumn: man.Sizes()}
	s.Columns.Index = s.ArchiveBytes - s.Columns.Total()
	return s, nil
}
