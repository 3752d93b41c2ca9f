package seqs

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"orcomgo/bins/parse"
	"orcomgo/compress/basemodel"
	"orcomgo/compress/rangecoder"
)

// Decoder decodes slices. It holds the pseudogenome and the positions of each part.
type Decoder struct {
	genome       *genome
	err          error
	started      chan struct{} // closed when genome or err is set
	parts        []decodedPart
	releaseWhile func(wait func())

	// Of a Decoder that follows an Encoder, genome is the pseudogenome that the Encoder codes, since decoding it takes longer than coding.
	// It is decoded all the same, and compared in the end; see Check.
	decoded *genome
	modeled chan *basemodel.Model // has the model of the pseudogenome that is coded
}

type decodedPart struct {
	tree  *positions
	ready chan struct{} // closed when tree, and genome or err of the Decoder, is set
}

// newDecoder returns a Decoder of so many parts, without a pseudogenome.
func newDecoder(parts int, c Config) *Decoder {
	d := &Decoder{started: make(chan struct{}), parts: make([]decodedPart, parts), releaseWhile: c.releaseWhile()}
	for k := range d.parts {
		d.parts[k].ready = make(chan struct{})
	}
	return d
}

// follow sets the pseudogenome, which is being coded and decoded.
func (d *Decoder) follow(s *basemodel.Sequence, repeats, packed []byte) {
	d.modeled = make(chan *basemodel.Model, 1)
	if d.decoded, d.err = newGenome(s, repeats); d.err == nil {
		model := sync.OnceValues(func() (*basemodel.Model, error) { return <-d.modeled, nil })
		d.genome = &genome{known: &knownGenome{packed, d.decoded.Len(), model}}
	}
	close(d.started)
}

// Check waits until the pseudogenome is decoded, and compares it and its model with those by which slices were decoded. It must be called,
// if d is a Decoder of Encoder.Follow, after Encoder.Close. An error wraps ErrCorrupt.
func (d *Decoder) Check() error {
	select {
	case <-d.started:
	default:
		return nil // there were no reads
	}
	if d.err != nil || d.decoded == nil {
		return d.err
	}
	m, err := d.decoded.Model()
	if err != nil {
		return err
	}
	same, err := d.decoded.Is(d.genome.known.packed)
	if err != nil {
		return err
	}
	coded, err := d.genome.Model()
	if err != nil {
		return err
	}
	if !same || !m.Equal(coded) {
		return fmt.Errorf("%w: the pseudogenome is decoded to another one than was coded", ErrCorrupt)
	}
	return nil
}

// setTree decodes the tree of part k once there is a pseudogenome.
func (d *Decoder) setTree(k int, section []byte) {
	<-d.started
	if d.err == nil {
		d.parts[k].tree = decodePositions(d.genome.Len(), decodeFrom(section))
	}
	close(d.parts[k].ready)
}

// NewDecoder starts decoding the shared sections of an Encoder, with c's Threads, Repeats, ReleaseWhile and Hold,
// and returns at once: DecodeSlice waits for what it needs and returns the errors.
func NewDecoder(shared [][]byte, c Config) *Decoder {
	if len(shared) == 0 {
		return newDecoder(0, c)
	}
	section, trees := shared[0], shared[1:]
	var repeats []byte
	if c.Repeats && len(trees) > 0 {
		repeats, trees = trees[0], trees[1:]
	}
	d := newDecoder(len(trees), c)
	o := basemodel.Options{Threads: c.Threads, Progress: c.Decoded}
	if genome, err := basemodel.Decode(section, o); err != nil {
		d.err = corrupt(err)
		close(d.started)
	} else {
		d.genome, d.err = newGenome(genome, repeats) // its bases may still be being decoded
		close(d.started)
		c.holdForDecoding(context.Background(), genome)
	}
	go d.setTrees(trees)
	return d
}

// NewDecoderOf is NewDecoder where the bases of the pseudogenome are known: packed ones, base i in byte i/4 at bits 2*(i%4), which 16
// bytes follow. The shared sections are read, one by its number, when they are needed: that of the pseudogenome, which is decoded then,
// only if a slice is decoded with reads that have no place.
func NewDecoderOf(shared int, read func(i int) ([]byte, error), packed []byte, bases int, c Config) (*Decoder, error) {
	if shared == 0 {
		return newDecoder(0, c), nil
	}
	var trees [][]byte
	for i := 1 + rangecoder.BitOf(c.Repeats); i < shared; i++ {
		tree, err := read(i)
		if err != nil {
			return nil, err
		}
		trees = append(trees, tree)
	}
	d := newDecoder(len(trees), c)
	d.genome = &genome{known: &knownGenome{packed, bases, sync.OnceValues(func() (*basemodel.Model, error) {
		section, err := read(0)
		if err != nil {
			return nil, err
		}
		s, err := basemodel.Decode(section, basemodel.Options{Threads: c.Threads})
		if err != nil {
			return nil, err
		}
		return s.Model()
	})}}
	close(d.started)
	go d.setTrees(trees)
	return d, nil
}

func (d *Decoder) setTrees(trees [][]byte) {
	for k, tree := range trees {
		d.setTree(k, tree)
	}
}

// corrupt returns an error of another package, which may be nil, as one of this package.
func corrupt(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// DecodeSlice decodes a slice whose columns have Records, Lengths and Quals as they
// were when it was coded; mate is nil if there was none. It returns the letters of the reads
// of each, end to end: of the First ones, if these are set, which must be equal for mates. An error wraps ErrCorrupt. It is safe for
// concurrent use.
func (d *Decoder) DecodeSlice(data []byte, first, mate *Column) (seqs [2][]byte, err error) {
	if first.Records == 0 {
		if len(data) != 0 {
			return seqs, ErrCorrupt
		}
		return seqs, nil
	}
	p, flags, in, err := d.cutSlice(data, first, mate)
	if err != nil {
		return seqs, err
	}
	cols := []*Column{first}
	if mate != nil {
		if mate.First != first.First {
			return seqs, ErrCorrupt
		}
		cols = append(cols, mate)
	}
	for _, c := range cols {
		if c.Quals != nil && uint64(len(c.Quals)) != c.Lengths.Sum(0, c.withQuals()) ||
			!c.Skip && flags&flagQuals != 0 != (c.Quals != nil) {
			return seqs, ErrCorrupt
		}
	}
	if first.decoded() < first.Records && NeedsAll(data) {
		return seqs, errTooFew
	}
	if err := d.wait(p); err != nil {
		return seqs, err
	}
	s := &slice{genome: d.genome.Packed, model: d.genome.Model, sorted: flags&flagSorted != 0, inPieces: flags&flagPieces != 0,
		byQual: flags&flagQuals != 0, limit: uint64(d.genome.Len()), releaseWhile: d.releaseWhile}
	out, err := s.decode(p.tree, cols, in, d.genome.Wait)
	if err != nil {
		return seqs, err
	}
	copy(seqs[:], out)
	return seqs, nil
}

// errTooFew is an error of the caller: First is set for a slice of which all reads are needed. See NeedsAll.
var errTooFew = errors.New("seqs: the first reads of this slice can't be decoded alone")

// NeedsAll reports whether some reads of a slice can't be decoded without all others: long reads are aligned in pieces, and reads without a
// place are coded side by side.
func NeedsAll(data []byte) bool {
	_, n := parse.Uvarint(data)
	if n <= 0 || len(data) <= n {
		return false
	}
	flags := data[n]
	in, err := streamsOf(data[n+1:], flags)
	return err == nil && (flags&flagPieces != 0 || len(in.members[0][streamLiterals])+len(in.members[1][streamLiterals]) > 0)
}

// cutSlice returns the part of a slice with these columns, its flags and its streams.
func (d *Decoder) cutSlice(data []byte, first, mate *Column) (p *decodedPart, flags byte, in *streams, err error) {
	k, n := parse.Uvarint(data)
	if n <= 0 || k >= uint64(len(d.parts)) || len(data) == n {
		return nil, 0, nil, ErrCorrupt
	}
	flags = data[n]
	if flags&^flagsKnown != 0 || flags&flagLanes != 0 && flags&flagSorted != 0 {
		return nil, 0, nil, ErrCorrupt
	}
	if flags&flagMate != 0 != (mate != nil) || mate != nil && mate.Records != first.Records {
		return nil, 0, nil, ErrCorrupt
	}
	for _, c := range []*Column{first, mate} {
		if c != nil && c.Lengths.Each != nil && len(c.Lengths.Each) != c.Records {
			return nil, 0, nil, ErrCorrupt
		}
	}
	in, err = streamsOf(data[n+1:], flags)
	return &d.parts[k], flags, in, err
}

// wait waits until there are the tree of a part and the pseudogenome, whose bases may still be being decoded.
func (d *Decoder) wait(p *decodedPart) error {
	d.releaseWhile(func() { <-p.ready })
	return d.err
}

// streamsOf splits the body of a slice with these flags into its streams.
func streamsOf(data []byte, flags byte) (*streams, error) {
	in := &streams{laned: flags&flagLanes != 0}
	list := in.each(flags)
	sizes := make([]uint64, len(list))
	for i := range sizes {
		v, n := parse.Uvarint(data)
		if n <= 0 {
			return nil, ErrCorrupt
		}
		sizes[i], data = v, data[n:]
	}
	for i, v := range sizes {
		if v > uint64(len(data)) {
			return nil, ErrCorrupt
		}
		*list[i], data = data[:v], data[v:]
	}
	if len(data) != 0 {
		return nil, ErrCorrupt
	}
	return in, nil
}
