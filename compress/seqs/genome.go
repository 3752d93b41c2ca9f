package seqs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"

	"orcomgo/compress/basemodel"
	"orcomgo/compress/edits"
	"orcomgo/compress/overlap"
)

// genome is the pseudogenome of a Decoder: a sequence under the base model, or the begin of one and then blocks, in which
// stretches repeat what comes before them. The base model has the other bases of blocks, too, after the begin.
type genome struct {
	modelled *basemodel.Sequence
	repeats  *repeats // nil if there are no blocks

	once   sync.Once // decodes the blocks
	packed []byte    // the bases of blocks, four a byte, followed by 16 unused bytes
	err    error

	known *knownGenome // if not nil, nothing of the above is set
}

// twoCodersWithRepeats is the length from which segments of the base model have two coders where there are repeats, in bases: groups of
// genomes of up to 10^6 bases have one coder then, as each genome alone, since two take a fifth more processor time.
const twoCodersWithRepeats = 3 << 19

// twoCoders returns the length from which segments of the base model have two coders.
func twoCoders(repeats bool) int {
	if repeats {
		return twoCodersWithRepeats
	}
	return basemodel.TwoCoders
}

// knownGenome is a pseudogenome whose bases are known without decoding it.
type knownGenome struct {
	packed []byte // four bases a byte, followed by 16 unused bytes
	bases  int
	model  func() (*basemodel.Model, error) // decodes it, when it is called first
}

// repeats is the section of repeats: see docs/FORMAT.md.
type repeats struct {
	begin int // bases before the blocks
	all   int // and with them
	block int // bases of a block; the last one may have fewer
	edits []byte
}

// Sizes of blocks, as logarithms.
const (
	minBlockBits = 12
	maxBlockBits = 24
)

// parseRepeats reads the section of repeats of a pseudogenome of which so many bases are under the base model.
func parseRepeats(section []byte, modelled int) (*repeats, error) {
	var v [2]uint64
	rest := section
	for i := range v {
		n := 0
		if v[i], n = binary.Uvarint(rest); n <= 0 {
			return nil, fmt.Errorf("%w: the section of repeats is cut off", ErrCorrupt)
		}
		rest = rest[n:]
	}
	if len(rest) == 0 || rest[0] < minBlockBits || rest[0] > maxBlockBits {
		return nil, fmt.Errorf("%w: the section of repeats has no plausible size of blocks", ErrCorrupt)
	}
	begin, blocks := v[0], v[1]
	if begin > uint64(modelled) || blocks > basemodel.MaxBases || begin+blocks > basemodel.MaxBases || begin+blocks < uint64(modelled) ||
		(begin+blocks-uint64(modelled))>>20 > uint64(len(section)) {
		return nil, fmt.Errorf("%w: the section of repeats has no plausible number of bases", ErrCorrupt)
	}
	return &repeats{int(begin), int(begin + blocks), 1 << rest[0], rest[1:]}, nil
}

// newGenome returns a pseudogenome whose bases are being decoded. section is that of repeats, nil if there is none.
func newGenome(s *basemodel.Sequence, section []byte) (*genome, error) {
	g := &genome{modelled: s}
	if section == nil {
		return g, nil
	}
	var err error
	g.repeats, err = parseRepeats(section, s.Len())
	return g, err
}

// Len returns the number of bases, decoded or not.
func (g *genome) Len() int {
	switch {
	case g.known != nil:
		return g.known.bases
	case g.repeats != nil:
		return g.repeats.all
	}
	return g.modelled.Len()
}

// Wait returns when the first n bases are decoded. The error wraps ErrCorrupt.
func (g *genome) Wait(n int) error {
	if g.known != nil {
		return nil
	}
	if g.repeats == nil || n <= g.repeats.begin {
		if err := g.modelled.Wait(n); err != nil {
			return corrupt(err)
		}
		return nil
	}
	g.once.Do(func() { g.err = g.decodeBlocks() })
	return g.err
}

// Model waits until the bases under the base model are decoded and returns the model after them. An error wraps ErrCorrupt.
func (g *genome) Model() (*basemodel.Model, error) {
	model := g.modelled.Model
	if g.known != nil {
		model = g.known.model
	}
	m, err := model()
	if err != nil {
		return nil, corrupt(err)
	}
	return m, nil
}

// decodeBlocks decodes the blocks, beside the base model, which it waits for where a block has bases of that.
func (g *genome) decodeBlocks() error {
	r := g.repeats
	bases := r.all - r.begin
	if err := g.modelled.Wait(r.begin); err != nil {
		return corrupt(err)
	}
	g.packed = make([]byte, (bases+3)/4+16)
	// What is not decoded yet is 0, as it is for the encoder.
	d, err := edits.NewDecoder(r.edits, edits.Options{Bases: uint64(r.all), Source: g.Append}, uint64(bases))
	if err != nil {
		return corrupt(err)
	}
	block := make([]byte, min(r.block, bases))
	var literal []byte
	next := r.begin // of the bases under the model
	for at := 0; at < bases; at += r.block {
		b := block[:min(r.block, bases-at)]
		spans, err := d.Next(b, nil)
		if err != nil {
			return corrupt(err)
		}
		for _, s := range spans {
			n := int(s.End - s.Start)
			if n > g.modelled.Len()-next {
				return fmt.Errorf("%w: the repeats leave out more bases than there are", ErrCorrupt)
			}
			if err := g.modelled.Wait(next + n); err != nil {
				return corrupt(err)
			}
			literal = g.modelled.Append(literal[:0], next, n)
			copy(b[s.Start:], literal)
			next += n
		}
		basemodel.Pack(g.packed[at/4:], b)
	}
	if next != g.modelled.Len() {
		return fmt.Errorf("%w: the repeats leave out fewer bases than there are", ErrCorrupt)
	}
	if err := d.Finish(); err != nil {
		return corrupt(err)
	}
	_, err = g.Model() // that the section of the base model ends well
	return err
}

// Packed returns packed bases, base i in byte i/4 at bits 2*(i%4), in which n bases from base pos on have the numbers from `at` on. 16
// bytes or more follow the last of them. They must not be changed. Wait must have returned for pos+n or more, and without an error.
func (g *genome) Packed(pos, n int) (packed []byte, at int) {
	switch r := g.repeats; {
	case g.known != nil:
		return g.known.packed, pos
	case r == nil || pos+n <= r.begin:
		return g.modelled.Packed(pos, n)
	case pos >= r.begin:
		return g.packed, pos - r.begin
	}
	packed = make([]byte, (n+3)/4+16)
	basemodel.Pack(packed, g.Append(nil, pos, n))
	return packed, 0
}

// Append appends n bases, one a byte (0 to 3), from base pos on to dst. Wait must have returned as for Packed.
func (g *genome) Append(dst []byte, pos, n int) []byte {
	if g.known != nil {
		return overlap.Unpack(dst, g.known.packed, pos, n)
	}
	if r := g.repeats; r != nil && pos+n > r.begin {
		if k := r.begin - pos; k > 0 {
			dst = g.modelled.Append(dst, pos, k)
			pos, n = pos+k, n-k
		}
		return overlap.Unpack(dst, g.packed, pos-r.begin, n)
	}
	return g.modelled.Append(dst, pos, n)
}

// Is reports whether the bases are those of packed ones, base i in byte i/4 at bits 2*(i%4), which 16 bytes follow. Model must have
// returned without an error. An error is that of decoding the blocks.
func (g *genome) Is(packed []byte) (bool, error) {
	if g.repeats == nil {
		return g.modelled.Is(packed), nil
	}
	if err := g.Wait(g.Len()); err != nil {
		return false, err
	}
	const step = 1 << 16
	var own, other []byte
	for at := 0; at < g.Len(); at += step {
		n := min(step, g.Len()-at)
		own, other = g.Append(own[:0], at, n), overlap.Unpack(other[:0], packed, at, n)
		if !bytes.Equal(own, other) {
			return false, nil
		}
	}
	return true, nil
}
