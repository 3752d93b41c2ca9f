package seqs

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sort"
	"sync"
	"sync/atomic"

	"orcomgo/bins"
	"orcomgo/compress/overlap"
)

// Config tunes Build. Threads is at least 1. Memory bounds the whole process, in bytes and roughly (0: no
// bound): reads that do not fit together are laid out in shares of their signatures and coded in parts, one after
// another. Progress may be nil.
type Config struct {
	Threads  int
	Memory   uint64
	Check    bool // decode the pseudogenome while it is coded, for Checked
	Progress func(stage string, done, total uint64)
}

// What reads need in memory, in bytes, if all are laid out at once. A base that is new takes room as a contig and in the assembler
// with its index, or later in the pseudogenome and the index of placement; any base its two bits and its share of the contigs.
const (
	perRead    = 28
	perBase4   = 5 // a quarter of a byte packed, one as a contig of one read: in quarters
	perNewBase = 18
)

// What they need if they are laid out in shares: the place of a read in the archive, in eighths of a byte, and a read of the part that is
// being coded: its numbers and two bits a base, and what sorting it takes.
const (
	perPlaced8  = 41
	perCoded    = 20
	perSorted   = 40
	perPosition = 8
)

// maxLaid is how many records are laid out together; those of further parts are placed when these are coded.
var maxLaid uint64 = 1<<32 - 2

// Encoder codes the sequences of an archive, slice by slice.
type Encoder struct {
	ctx   context.Context
	bins  *bins.Reader
	cfg   Config
	parts []*part

	layout overlap.Config        // how the reads are laid out
	genome *overlap.Pseudogenome // nil until the first slice is coded
	coded  chan struct{}         // closed when what follows is there
	shared []byte                // the pseudogenome, coded
	model  *model                // has seen the pseudogenome's first segment
	check  *pseudogenome         // its decoding, where asked for

	mu      sync.Mutex
	done    *sync.Cond
	current int // the part whose reads are in memory, -1 for none
	users   int // EncodeSlice and Sorted calls that use it
	err     error
}

// part is a run of records of some inputs whose reads are in memory together.
type part struct {
	sources []overlap.Source
	bases   []uint32 // record number, inside the part, of each source's first
	first   uint64   // record number in the archive of the part's first
	count   uint64

	layout  *overlap.Layout
	tree    *positions
	shared  []byte   // the tree, coded
	digests []uint64 // by source, where asked for
}

// Build plans the parts. The layout is made when the first slice is coded.
func Build(ctx context.Context, r *bins.Reader, c Config) (*Encoder, error) {
	if c.Threads < 1 {
		return nil, fmt.Errorf("seqs: %d threads", c.Threads)
	}
	e := &Encoder{ctx: ctx, bins: r, cfg: c, current: -1}
	e.done = sync.NewCond(&e.mu)
	e.plan()
	return e, nil
}

// plan decides whether all reads are laid out at once, and cuts the archive into parts at block boundaries of unpaired inputs and first mates.
func (e *Encoder) plan() {
	meta := e.bins.Meta()
	size := func(b *bins.BlockInfo) (reads, bases uint64) {
		switch in := &meta.Inputs[b.Input]; {
		case in.Mate < 0:
			return uint64(b.Records), b.Bases
		case in.First:
			return 2 * uint64(b.Records), 2 * b.Bases // the mates' blocks need not end where these do
		}
		return 0, 0
	}
	reads, bases := uint64(0), uint64(0)
	for i := range meta.Blocks {
		r, n := size(&meta.Blocks[i])
		reads, bases = reads+r, bases+n
	}
	e.layout = overlap.Config{Threads: e.cfg.Threads, Progress: e.cfg.Progress}
	limit := uint64(math.MaxUint64) // of a part
	read := uint64(0)
	switch half := e.cfg.Memory / 2; {
	case e.cfg.Memory > 0 && reads*perRead+bases*perBase4/4 > half || reads > maxLaid:
		// A quarter is for what the collector has not yet freed and for the coding models.
		room := int64(half+half/2) - int64(reads*perPlaced8/8)
		e.layout.Memory = uint64(max(room, int64(e.cfg.Memory/8), 1<<16))
		limit = e.layout.Memory / 2
		read = perCoded
		if meta.Options.OrderAny {
			read += perSorted
		} else {
			read += perPosition
		}
	case e.cfg.Memory > 0:
		e.layout.Budget = int(max(half/perNewBase, 1<<16))
	}
	p := &part{}
	first := uint64(0)
	closePart := func() {
		if len(p.sources) > 0 {
			p.first = first
			for _, s := range p.sources {
				p.bases = append(p.bases, uint32(p.count))
				p.count += s.To - s.From
			}
			first += p.count
			p.digests = make([]uint64, len(p.sources))
			e.parts = append(e.parts, p)
		}
		p, reads, bases = &part{}, 0, 0
	}
	reads, bases = 0, 0
	for i := range meta.Blocks {
		b := &meta.Blocks[i]
		in := &meta.Inputs[b.Input]
		if in.Mate >= 0 && !in.First {
			continue
		}
		r, n := size(b)
		if reads > 0 && ((reads+r)*read+(bases+n)/4 > limit || reads+r > maxLaid) {
			closePart()
		}
		reads, bases = reads+r, bases+n
		p.add(b.Input, b.FirstRecord, b.FirstRecord+uint64(b.Records))
		if in.Mate >= 0 {
			p.add(in.Mate, b.FirstRecord, b.FirstRecord+uint64(b.Records))
		}
	}
	closePart()
}

func (p *part) add(input int, from, to uint64) {
	for i := range p.sources {
		if p.sources[i].Input == input && p.sources[i].To == from {
			p.sources[i].To = to
			return
		}
	}
	p.sources = append(p.sources, overlap.Source{Input: input, From: from, To: to})
}

// record returns the record number inside the part of a record of an input, or false.
func (p *part) record(input int, ordinal uint64) (uint32, bool) {
	for i, s := range p.sources {
		if s.Input == input && ordinal >= s.From && ordinal < s.To {
			return p.bases[i] + uint32(ordinal-s.From), true
		}
	}
	return 0, false
}

// Parts returns the records at which an input must be cut, ascending: no slice, and
// no run of records given to Sorted, may reach over one. Most archives have none.
func (e *Encoder) Parts(input int) []uint64 {
	var cuts []uint64
	for _, p := range e.parts {
		for _, s := range p.sources {
			if s.Input == input && s.From > 0 {
				cuts = append(cuts, s.From)
			}
		}
	}
	sort.Slice(cuts, func(i, j int) bool { return cuts[i] < cuts[j] })
	return cuts
}

// acquire makes sure that the layout of part k is in memory until release.
func (e *Encoder) acquire(k int) (*part, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.current != k && e.users > 0 {
		e.done.Wait()
	}
	if e.err != nil {
		return nil, e.err
	}
	if e.current != k {
		if e.current >= 0 {
			e.parts[e.current].forget()
		}
		e.current = k
		if err := e.lay(e.parts[k]); err != nil {
			e.err = err
			return nil, err
		}
	}
	e.users++
	return e.parts[k], nil
}

func (e *Encoder) release() {
	e.mu.Lock()
	e.users--
	e.mu.Unlock()
	e.done.Broadcast()
}

func (p *part) forget() { p.layout, p.tree = nil, nil }

// wait waits for the coding of the pseudogenome, if it has begun.
func (e *Encoder) wait() {
	if e.coded != nil {
		<-e.coded
	}
}

// build lays out the reads and begins to code the pseudogenome.
func (e *Encoder) build() error {
	var srcs []overlap.Source
	for _, p := range e.parts {
		if p.first+p.count <= maxLaid {
			srcs = append(srcs, p.sources...)
		}
	}
	var err error
	if e.genome, err = overlap.Build(e.ctx, e.bins, srcs, e.layout); err != nil {
		return err
	}
	g := e.genome
	// Slices wait for this only where they hold reads without a place.
	e.coded = make(chan struct{})
	var follow chan<- written
	if e.cfg.Check && len(e.parts) == 1 && len(segments(g.Len)) == 1 {
		e.check, follow = followed(g.Len)
	}
	go func() {
		defer close(e.coded)
		var coded atomic.Int64
		e.shared, e.model = encodePseudogenome(g.Len, e.cfg.Threads, g.Stretch, func(n int) {
			if e.cfg.Progress != nil {
				e.cfg.Progress("coding the pseudogenome", uint64(coded.Add(int64(n))), uint64(g.Len))
			}
		}, follow)
	}()
	return nil
}

// lay loads the reads of a part and codes where they stand.
func (e *Encoder) lay(p *part) error {
	if e.genome == nil {
		if err := e.build(); err != nil {
			return err
		}
	}
	var err error
	if p.layout, err = e.genome.Layout(e.ctx, p.sources, p.first); err != nil {
		return err
	}
	l := p.layout
	var pos []uint32
	opt := e.bins.Meta().Options
	if !opt.OrderAny {
		for rec := 0; rec < l.Reads.Count(); rec++ {
			if x, _ := l.Place(uint32(rec)); x != unplaced {
				pos = append(pos, x)
			}
		}
	}
	c := encodeTo(nil)
	p.tree = newPositions(pos, l.Len, c)
	p.shared = c.e.Finish()
	if opt.OrderAny || opt.ReadsOnly || opt.DropNames || opt.Quality != bins.QualityKeep {
		p.digest()
	}
	return e.ctx.Err()
}

// digest sums the hashes of the reads as the bins have them.
func (p *part) digest() {
	var buf []byte
	for i, s := range p.sources {
		sum := uint64(0)
		for o := s.From; o < s.To; o++ {
			rec := p.bases[i] + uint32(o-s.From)
			buf = p.layout.Bases(buf[:0], rec)
			toLetters(buf)
			for _, x := range p.layout.Reads.Exceptions(rec) {
				applyException(buf, x)
			}
			sum += ReadHash(buf, o)
		}
		p.digests[i] = sum
	}
}

// Digest returns the sum of ReadHash over the reads of an input, as the bins have them. It
// is known once every slice has been coded, of archives that leave something out or keep no order; 0 of others.
func (e *Encoder) Digest(input int) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	sum := uint64(0)
	for _, p := range e.parts {
		for i, s := range p.sources {
			if s.Input == input {
				sum += p.digests[i]
			}
		}
	}
	return sum
}

// Shared returns the sections that decoding any slice needs: the pseudogenome, and the positions of each part. It is called after the last
// EncodeSlice.
func (e *Encoder) Shared() [][]byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.parts) == 0 {
		return nil
	}
	e.wait()
	s := [][]byte{e.shared}
	for _, p := range e.parts {
		s = append(s, p.shared)
	}
	return s
}

// Checked returns the decoding of the pseudogenome that took place beside its coding, nil if there was none. It may be
// used after Close.
func (e *Encoder) Checked() *Checked {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.check == nil {
		return nil
	}
	e.wait()
	return &Checked{e.shared, e.check}
}

// Close releases the layout.
func (e *Encoder) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range e.parts {
		p.forget()
	}
	e.wait()
	e.genome, e.model = nil, nil
	e.current = -1
}

// partOf returns the part that holds records from..to-1 of an input.
func (e *Encoder) partOf(input int, from, to uint64) (int, error) {
	for k, p := range e.parts {
		for _, s := range p.sources {
			if s.Input == input && from >= s.From && to <= s.To {
				return k, nil
			}
		}
	}
	return 0, fmt.Errorf("seqs: records %d to %d of input %d are in no one part", from, to, input)
}

// sortedRun is in how long runs of records Sorted puts those without a place, so that each slice has its share of them:
// they take longest to decode.
const sortedRun = 1 << 15

// Sorted returns the order of layout of records from..to-1 of an input: the i-th stands for record
// from + result[i]. Placed reads come by position, strand and ordinal; the others, by ordinal, in
// equal shares after each of equal shares of these.
func (e *Encoder) Sorted(input int, from, to uint64) ([]uint32, error) {
	k, err := e.partOf(input, from, to)
	if err != nil {
		return nil, err
	}
	p, err := e.acquire(k)
	if err != nil {
		return nil, err
	}
	defer e.release()
	base, _ := p.record(input, from)
	var placed []placedRead
	var others []uint32
	for i := range uint32(to - from) {
		pos, rev := p.layout.Place(base + i)
		if pos == unplaced {
			others = append(others, i)
		} else {
			placed = append(placed, placedRead{uint64(pos)<<1 | uint64(toBit(rev)), i})
		}
	}
	placed = sortByPlace(placed, uint64(p.layout.Len)<<1)
	perm := make([]uint32, 0, to-from)
	runs := max(1, len(placed)/sortedRun)
	for r := range runs {
		for _, x := range placed[len(placed)*r/runs : len(placed)*(r+1)/runs] {
			perm = append(perm, x.record)
		}
		perm = append(perm, others[len(others)*r/runs:len(others)*(r+1)/runs]...)
	}
	return perm, nil
}

type placedRead struct {
	key    uint64 // position << 1 | strand
	record uint32
}

// sortByPlace sorts by key, which is below limit, and leaves equal ones in their order (radix sort, lowest digit first).
func sortByPlace(a []placedRead, limit uint64) []placedRead {
	b := make([]placedRead, len(a))
	const digit = 11
	for shift := 0; limit>>shift > 0; shift += digit {
		var at [1 << digit]int
		for i := range a {
			at[a[i].key>>shift&(1<<digit-1)]++
		}
		sum := 0
		for i, n := range at {
			at[i], sum = sum, sum+n
		}
		for i := range a {
			d := &at[a[i].key>>shift&(1<<digit-1)]
			b[*d] = a[i]
			*d++
		}
		a, b = b, a
	}
	return a
}

// EncodeSlice codes the sequences of a slice: of first, and of mate unless it is nil, which holds
// the mates of first's reads in the same order. It is safe for concurrent use.
func (e *Encoder) EncodeSlice(first, mate *Column) ([]byte, error) {
	if first.Records == 0 {
		return nil, nil
	}
	lo, hi := first.span()
	k, err := e.partOf(first.Input, lo, hi)
	if err != nil {
		return nil, err
	}
	p, err := e.acquire(k)
	if err != nil {
		return nil, err
	}
	defer e.release()
	cols := []*Column{first}
	if mate != nil {
		cols = append(cols, mate)
	}
	model := func() (*model, error) {
		e.wait()
		return e.model, nil
	}
	s := &slice{layout: p.layout, model: model, sorted: first.Perm != nil, limit: uint64(p.layout.Len)}
	records := make([][]uint32, len(cols))
	for i, c := range cols {
		lo, hi := c.span()
		if pk, err := e.partOf(c.Input, lo, hi); err != nil || pk != k {
			return nil, fmt.Errorf("seqs: mates are in different parts")
		}
		base, _ := p.record(c.Input, c.From)
		records[i] = make([]uint32, c.Records)
		for j := range records[i] {
			records[i][j] = base + uint32(j)
			if c.Perm != nil {
				records[i][j] = base + c.Perm[j]
			}
		}
	}
	out := binary.AppendUvarint(nil, uint64(k))
	flags := byte(0)
	if s.sorted {
		flags |= flagSorted
	}
	if first.Quals != nil {
		flags |= flagQuals
	}
	if mate != nil {
		flags |= flagMate
	}
	out = append(out, flags)
	streams := s.encode(p.tree, cols, records)
	for _, b := range streams {
		out = binary.AppendUvarint(out, uint64(len(b)))
	}
	for _, b := range streams {
		out = append(out, b...)
	}
	return out, e.ctx.Err()
}

// span returns the smallest run of records that holds the column's.
func (c *Column) span() (from, to uint64) {
	if c.Perm == nil {
		return c.From, c.From + uint64(c.Records)
	}
	lo, hi := c.Perm[0], c.Perm[0]
	for _, v := range c.Perm[:c.Records] {
		lo, hi = min(lo, v), max(hi, v)
	}
	return c.From + uint64(lo), c.From + uint64(hi) + 1
}
