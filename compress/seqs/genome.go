package seqs

import (
	"fmt"
	"sync"
	"sync/atomic"

	"orcomgo/bases"
	"orcomgo/bins/parse"
	"orcomgo/compress/basemodel"
	"orcomgo/compress/edits"
)

// genome is the pseudogenome of a Decoder: a sequence under the base model, or the begin of one and then blocks, in which
// stretches repeat what comes before them. The base model has the other bases of blocks, too, after the begin.
type genome struct {
	modelled *basemodel.Sequence
	repeats  *repeats // nil if there are no blocks

	blocks blocks

	known *knownGenome // if not nil, nothing of the above is set
}

// blocks are the blocks of a genome, decoded one after another as far as they are asked for.
type blocks struct {
	bases  atomic.Int64 // of the pseudogenome that are decoded, if there are any of blocks
	mu     sync.Mutex   // of what follows
	d      *edits.Decoder
	packed []byte // the bases of blocks, four a byte, followed by 16 unused bytes
	at     int    // bases that are decoded of blocks
	next   int    // of the bases under the model
	err    error
	memory [2][]byte // of a block, and of literals
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
		if v[i], n = parse.Uvarint(rest); n <= 0 {
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

// padBases is how many bases beyond those that are asked for may be read along with them.
const padBases = 64

// Wait returns when the first n bases are decoded. The error wraps ErrCorrupt.
func (g *genome) Wait(n int) error {
	if g.known != nil {
		return nil
	}
	if g.repeats == nil || n <= g.repeats.begin {
		return corrupt(g.modelled.Wait(n))
	}
	n = min(n+padBases, g.repeats.all)
	if n <= int(g.blocks.bases.Load()) {
		return nil
	}
	g.blocks.mu.Lock()
	defer g.blocks.mu.Unlock()
	if g.blocks.err == nil {
		g.blocks.err = g.decodeBlocks(n)
	}
	return g.blocks.err
}

// Model waits until the bases under the base model are decoded and returns the model after them. An error wraps ErrCorrupt.
func (g *genome) Model() (*basemodel.Model, error) {
	model := g.modelled.Model
	if g.known != nil {
		model = g.known.model
	}
	m, err := model()
	return m, corrupt(err)
}

// decodeBlocks decodes the blocks with the first n bases, beside the base model, which it waits for where a block has bases of that.
func (g *genome) decodeBlocks(n int) error {
	r, k := g.repeats, &g.blocks
	bases := r.all - r.begin
	if k.d == nil {
		if err := g.modelled.Wait(r.begin); err != nil {
			return corrupt(err)
		}
		k.packed, k.next = make([]byte, (bases+3)/4+16), r.begin
		// What is not decoded yet is 0, as it is for the encoder.
		d, err := edits.NewDecoder(r.edits, edits.Options{Bases: uint64(r.all), Source: g.Append}, uint64(bases))
		if err != nil {
			return corrupt(err)
		}
		k.d, k.memory[0] = d, make([]byte, min(r.block, bases))
	}
	for k.at < bases && r.begin+k.at < n {
		if err := g.decodeBlock(k.memory[0][:min(r.block, bases-k.at)]); err != nil {
			return err
		}
		if k.at < bases {
			k.bases.Store(int64(r.begin + k.at))
		}
	}
	if k.at < bases {
		return nil
	}
	k.memory = [2][]byte{}
	if k.next != g.modelled.Len() {
		return fmt.Errorf("%w: the repeats leave out fewer bases than there are", ErrCorrupt)
	}
	if err := k.d.Finish(); err != nil {
		return corrupt(err)
	}
	if _, err := g.Model(); err != nil { // the section of the base model must end well
		return err
	}
	k.bases.Store(int64(r.all))
	return nil
}

// decodeBlock decodes the next block to b, one base a byte, and to packed.
func (g *genome) decodeBlock(b []byte) error {
	k := &g.blocks
	spans, err := k.d.Next(b, nil)
	if err != nil {
		return corrupt(err)
	}
	for _, s := range spans {
		n := int(s.End - s.Start)
		if n > g.modelled.Len()-k.next {
			return fmt.Errorf("%w: the repeats leave out more bases than there are", ErrCorrupt)
		}
		if err := g.modelled.Wait(k.next + n); err != nil {
			return corrupt(err)
		}
		k.memory[1] = g.modelled.Append(k.memory[1][:0], k.next, n)
		copy(b[s.Start:], k.memory[1])
		k.next += n
	}
	bases.Pack(k.packed[k.at/4:], b)
	k.at += len(b)
	return nil
}

// Packed returns packed bases, base i in byte i/4 at bits 2*(i%4), in which n bases from base pos on have the numbers from `at` on. 16
// bytes or more follow the last of them. They must not be changed. Wait must have returned for pos+n or more, and without an error.
func (g *genome) Packed(pos, n int) (packed []byte, at int) {
	switch r := g.repeats; {
	case g.known != nil:
		return g.known.packed, pos
	case r == nil || pos+n <= r.begin:
		return g.modelled.Packed(), pos
	case pos >= r.begin:
		return g.blocks.packed, pos - r.begin
	}
	packed = make([]byte, (n+3)/4+16)
	bases.Pack(packed, g.Append(nil, pos, n))
	return packed, 0
}

// Append appends n bases, one a byte (0 to 3), from base pos on to dst. Wait must have returned as for Packed.
func (g *genome) Append(dst []byte, pos, n int) []byte {
	if g.known != nil {
		return bases.Unpack(dst, g.known.packed, pos, n)
	}
	if r := g.repeats; r != nil && pos+n > r.begin {
		if k := r.begin - pos; k > 0 {
			dst = g.modelled.Append(dst, pos, k)
			pos, n = pos+k, n-k
		}
		return bases.Unpack(dst, g.blocks.packed, pos-r.begin, n)
	}
	return g.modelled.Append(dst, pos, n)
}

// Is reports whether the bases are those of packed ones, base i in byte i/4 at bits 2*(i%4), which 16 bytes follow. An error is that of
// decoding them.
func (g *genome) Is(packed []byte) (bool, error) {
	if err := g.Wait(g.Len()); err != nil {
		return false, err
	}
	const step = 1 << 16
	for at := 0; at < g.Len(); at += step {
		n := min(step, g.Len()-at)
		if own, from := g.Packed(at, n); !bases.Equal(own, from, packed, at, n) {
			return false, nil
		}
	}
	return true, nil
}
