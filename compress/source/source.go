// Package source gives back the records of an archive, slice by slice, as columns: of a packed archive, whose columns it decodes, or of
// bins.
package source

import (
	"context"
	"fmt"
	"math"

	"github.com/zeebo/xxh3"

	"orcomgo/bins/parse"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/workers"
)

// Source gives back the records of an archive, slice by slice, packed or still in bins.
type Source interface {
	// manifest describes the archive. For bins it is made from their index: its slices
	// have no sections, and it is not Verified.
	Manifest() *archive.Manifest
	// pass prepares for demands, which its decoder will be asked for, each once. Several passes may be made at the same time.
	Pass(demands []Demand) Decoder
	// paths are the files of the archive.
	Paths() []string
	// place is the directory of the archive and its name.
	Place() (dir, name string)
	// problems are damages that don't keep it from being read.
	Problems() []error
	Close() error
}

// Demand says what of a slice is wanted.
type Demand struct {
	Slice   int
	Want    [2]bool      // members
	Columns columns.Kept // those wanted, as far as the input has them: see columns.Kept.Wanted
	First   int          // how many of its records are wanted, the first ones; 0: all
	// spans, if not nil, are those of the first records that are wanted; letters of others may be zeros.
	Spans   []columns.Span
	Layouts bool // where its reads are on the pseudogenome is wanted as well, of a packed archive
	// Of the reads, only the letters of those without a place are wanted. With layouts only.
	WithoutPlaced bool
	// WithoutLiterals leaves out reads that have no place, with layouts; not where reads are aligned in pieces.
	WithoutLiterals bool
	// The batch is for batch.text only, which does not need letters that are in two bits a base.
	AsText bool
	// lines, if not nil, has the letters of sequences that are rendered as lines be those lines, in memory for n bytes that it returns. All
	// records must be wanted.
	Lines func(n int) []byte
	Turn  int // of the tasks that decode it: see places
	// Known are the qualities of members, if they were decoded before.
	Known [2]KnownQuals

	// coded, if not nil, is told how many more qualities and bases were decoded, by any goroutine.
	Coded func(n int)
}

// KnownQuals are the qualities that a section of so many bytes with this checksum holds; nil where that is not known.
type KnownQuals struct {
	Quals     []byte
	Len, Hash uint64
}

// Decoder decodes slices of a source.
type Decoder interface {
	// decode returns what is wanted of a slice. What is needed for other members and columns is not decoded unless what is
	// wanted depends on it. A member that can't be decoded has an error in the batch; the error returned is that of ctx, or that the
	// pass takes more memory than MemoryLimit. The batch may have more records than d.first. Safe for concurrent use.
	Decode(ctx context.Context, d Demand) (*Decoded, error)
}

// Decoded is a decoded slice: the columns of its members, or of an interleaved input, which is one member; nil where not wanted, and where
// err says why they could not be decoded.
type Decoded struct {
	Slice *archive.Slice
	Cols  [2]*columns.Columns
	Err   [2]error

	memory *workers.Buffers // that takes back sequences in two bits a base
	known  [2]KnownQuals
}

// Text renders member m of b, after checking that it is what was verified when the archive
// was packed, if all of its records are there. ends is as in columns.Render.
func (b *Decoded) Text(dst []byte, man *archive.Manifest, m int, ends []int) ([]byte, error) {
	text, err := b.TextPieces(dst, man, m, ends, math.MaxInt, nil)
	if err != nil {
		return nil, err
	}
	if man.Verified && b.Cols[m].Records == b.Slice.Records {
		mem := b.Slice.Members()[m]
		if uint64(len(text)) != mem.TextLen || xxh3.Hash(text) != mem.TextHash {
			return nil, fmt.Errorf("%s: the text differs from what was packed: %w", WhereRecords(man, b.Slice, m), parse.ErrCorrupt)
		}
	}
	return text, nil
}

// TextPieces renders member m of b in pieces, as columns.RenderPieces. They are not checked.
func (b *Decoded) TextPieces(dst []byte, man *archive.Manifest, m int, ends []int, least int,
	next func(text []byte) ([]byte, error)) ([]byte, error) {
	c := b.Cols[m]
	in := &man.Inputs[c.Input]
	last, err := columns.RenderPieces(dst, record.RenderingOf(man.Options, in.Kind), in.Kind, c, ends, least, next)
	if c.AsText && c.TwoBit != nil { // nothing else is wanted of it
		b.memory.Put(c.TwoBit.Memory())
		c.TwoBit = nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", WhereRecords(man, b.Slice, m), err)
	}
	return last, nil
}

// WhereRecords names the records of a member of a slice, for errors.
func WhereRecords(man *archive.Manifest, s *archive.Slice, m int) string {
	return fmt.Sprintf("records %d to %d of %s", s.From+1, s.From+uint64(s.Records), man.Inputs[s.Members()[m].Input].Name)
}

// SliceBytes returns how much text slice i gives, near enough if it was not verified.
func SliceBytes(man *archive.Manifest, i int) uint64 {
	s := &man.Slices[i]
	var n uint64
	for _, mem := range s.Texts() {
		in := &man.Inputs[mem.Input]
		if man.Verified {
			n += mem.TextLen
		} else {
			n += workers.Share(in.Bytes, uint64(s.Records), in.Records)
		}
	}
	return n
}

// EachRead calls f with each read of the members of b that were decoded: record by record, the first mate first.
func (b *Decoded) EachRead(f func(m, i int, letters []byte)) {
	var at [2]int
	for i := range b.Slice.Records {
		for m, c := range b.Cols {
			if c == nil {
				continue
			}
			n := c.Lengths.Of(i)
			f(m, i, c.Letters[at[m]:at[m]+n])
			at[m] += n
		}
	}
}
