package seqs

import (
	"bytes"
	"encoding/binary"
)

// Decoder decodes slices; it holds the pseudogenome.
type Decoder struct {
	pg    *pseudogenome
	err   error
	parts []decodedPart
	aside func(wait func())
}

type decodedPart struct {
	tree  *positions
	begun chan struct{} // closed once this, and pg or err of the Decoder, is set
}

// NewDecoder starts decoding the shared sections that an Encoder gave, with c's Threads and Aside,
// and returns at once: DecodeSlice waits for what it needs and reports what is wrong with it. A
// pseudogenome whose section is, byte for byte, that of checked (which may be nil) is not decoded again.
func NewDecoder(shared [][]byte, c Config, checked *Checked) (*Decoder, error) {
	d := &Decoder{aside: c.aside()}
	if len(shared) == 0 {
		return d, nil
	}
	section, trees := shared[0], shared[1:]
	d.parts = make([]decodedPart, len(trees))
	for k := range d.parts {
		d.parts[k].begun = make(chan struct{})
	}
	go func() {
		n, _, err := pseudogenomeLen(section)
		switch {
		case err != nil:
			d.err = err
		case checked != nil && bytes.Equal(checked.section, section):
			d.pg = checked.pg
		default:
			d.pg, d.err = decodePseudogenome(section, c.Threads)
		}
		for k := range d.parts {
			p := &d.parts[k]
			if d.err == nil {
				p.tree = newPositions(nil, int(n), decodeFrom(trees[k]))
			}
			close(p.begun)
		}
	}()
	return d, nil
}

// DecodeSlice decodes a slice whose columns have Records, Lengths or FixedLen, and Quals as they
// were when it was coded; mate is nil where there was none. It returns the letters of the reads
// of each, end to end. It is safe for concurrent use.
func (d *Decoder) DecodeSlice(data []byte, first, mate *Column) (seqs [2][]byte, err error) {
	if first.Records == 0 {
		if len(data) != 0 {
			return seqs, ErrCorrupt
		}
		return seqs, nil
	}
	k, n := binary.Uvarint(data)
	if n <= 0 || k >= uint64(len(d.parts)) || len(data) == n {
		return seqs, ErrCorrupt
	}
	flags := data[n]
	data = data[n+1:]
	if flags&^flagsKnown != 0 || flags&flagQuals != 0 != (first.Quals != nil) || flags&flagMate != 0 != (mate != nil) {
		return seqs, ErrCorrupt
	}
	cols := []*Column{first}
	if mate != nil {
		if mate.Records != first.Records || (mate.Quals != nil) != (first.Quals != nil) {
			return seqs, ErrCorrupt
		}
		cols = append(cols, mate)
	}
	for _, c := range cols {
		if c.Lengths.Each != nil && len(c.Lengths.Each) != c.Records || c.Quals != nil && uint64(len(c.Quals)) != c.bases() {
			return seqs, ErrCorrupt
		}
	}
	in, err := streamsOf(data)
	if err != nil {
		return seqs, err
	}
	p := &d.parts[k]
	d.aside(func() { <-p.begun })
	if d.err != nil {
		return seqs, d.err
	}
	s := &slice{stretch: d.pg.stretch, model: d.pg.all, sorted: flags&flagSorted != 0, limit: uint64(d.pg.n), aside: d.aside}
	out, err := s.decode(p.tree, cols, in, d.pg.wait)
	if err != nil {
		return seqs, err
	}
	copy(seqs[:], out)
	return seqs, nil
}

// streamsOf splits the body of a slice into its streams.
func streamsOf(data []byte) (in [streams][]byte, err error) {
	var sizes [streams]uint64
	for i := range sizes {
		v, n := binary.Uvarint(data)
		if n <= 0 {
			return in, ErrCorrupt
		}
		sizes[i], data = v, data[n:]
	}
	for i, v := range sizes {
		if v > uint64(len(data)) {
			return in, ErrCorrupt
		}
		in[i], data = data[:v], data[v:]
	}
	if len(data) != 0 {
		return in, ErrCorrupt
	}
	return in, nil
}
