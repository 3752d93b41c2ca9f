package seqs

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
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
	Runs     bool // slices hold the records of whole runs in the order of Sorted: see Column.Run
	Check    bool // decode the pseudogenome while it is coded, for Checked
	Progress func(stage string, done, total uint64)
	// Aside, unless it is nil, calls its argument, which waits for what others compute: a caller that bounds how much is
	// computed at once may let another begin meanwhile.
	Aside func(wait func())
}

func (c Config) aside() func(wait func()) {
	if c.Aside == nil {
		return func(wait func()) { wait() }
	}
	return c.Aside
}

// What reads need in memory, in bytes, if all are laid out at once. A base that is new takes room as a contig and in the assembler
// with its index, or later in the pseudogenome and the index of placement; any base its two bits and its share of the contigs.
const (
	perRead    = 28
	perBase4   = 5 // a quarter of a byte packed, one as a contig of one read: in quarters
	perNewBase = 18
)

// What they need if they are laid out in shares: each read its place and, in a run, its rank there and what sorting takes; each that is
// being coded its numbers and two bits a base, and its position while these are counted.
const (
	perPlaced8 = 41 // in eighths of a byte
	perRanked  = 12
	perCoded   = 16
	perCounted = 8
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

	// window, if not 0, is how many records of a run are in memory together.
	window int

	mu      sync.Mutex
	done    *sync.Cond
	current reads // what is in memory
	users   int   // EncodeSlice and Sorted calls that use it
	err     error
}

// reads names reads that are in memory together: those of a part, or of a window of a run.
type reads struct {
	part   int // -1 for none
	input  int
	from   uint64
	window int
}

// part is a run of records of some inputs whose reads are in memory together.
type part struct {
	sources []overlap.Source
	bases   []uint32 // record number, inside the part, of each source's first
	first   uint64   // record number in the archive of the part's first
	count   uint64

	layout *overlap.Layout
	tree   *positions
	shared []byte // the tree, coded
}

// Build plans the parts. The layout is made when the first slice is coded.
func Build(ctx context.Context, r *bins.Reader, c Config) (*Encoder, error) {
	if c.Threads < 1 {
		return nil, fmt.Errorf("seqs: %d threads", c.Threads)
	}
	e := &Encoder{ctx: ctx, bins: r, cfg: c, current: reads{part: -1}}
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
	limit, read := uint64(math.MaxUint64), uint64(perCoded) // of a part, and a read of it
	half := e.cfg.Memory / 2
	switch {
	case e.cfg.Memory > 0 && reads*perRead+bases*perBase4/4 > half || reads > maxLaid:
		// A quarter is for what the collector has not yet freed and for the coding models. With very little memory
		// there would be more shares than is worth waiting for.
		room := func(taken uint64) uint64 {
			if e.cfg.Memory == 0 {
				return 1 << 60
			}
			return max(uint64(max(int64(half+half/2)-int64(taken), 0)), e.cfg.Memory/8, bases/16, 1<<16)
		}
		e.layout.Memory = room(reads * perPlaced8 / 8)
		limit = e.layout.Memory / 2
		if !meta.Options.OrderAny {
			read += perCounted
		}
		if e.cfg.Runs && reads <= maxLaid {
			e.window = int(room(reads*perPlaced8/8+reads*perRanked) / 2 / (perCoded + bases/max(reads, 1)/4))
			if slices.ContainsFunc(meta.Inputs, func(in bins.Input) bool { return in.Mate >= 0 }) {
				e.window /= 2 // it counts pairs
			}
			e.window = max(e.window, 1)
			limit = math.MaxUint64
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

// Window returns in which window of its run a slice is that begins at place `at` there: reads of different
// windows may not be in memory together, so slices of two should not be in work together.
func (e *Encoder) Window(at uint64) int {
	if e.window == 0 {
		return 0
	}
	return int(at) / e.window
}

// acquire makes sure that reads are in memory until release: those that only, unless it is nil, picks of a part.
func (e *Encoder) acquire(want reads, only func() *overlap.Subset) (*part, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.current != want && e.users > 0 {
		e.done.Wait()
	}
	if e.err != nil {
		return nil, e.err
	}
	p := e.parts[want.part]
	if e.current != want {
		if e.current.part >= 0 {
			e.parts[e.current.part].forget()
		}
		e.current = want
		var set *overlap.Subset
		if only != nil {
			set = only()
		}
		if err := e.lay(p, set); err != nil {
			e.err = err
			return nil, err
		}
	}
	e.users++
	return p, nil
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

// build lays out the reads, unless that is done, and begins to code the pseudogenome.
func (e *Encoder) build() error {
	if e.genome != nil {
		return nil
	}
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
	var follow []chan<- []byte
	if e.cfg.Check && e.layout.Memory == 0 && len(segments(g.Len)) == 1 {
		e.check, follow = followed(g.Len)
	}
	go func() {
		defer close(e.coded)
		var coded atomic.Int64
		e.shared, e.model = encodePseudogenome(g.Len, SegmentThreads(e.cfg.Threads, e.cfg.Memory), g.Stretch, func(n int) {
			if e.cfg.Progress != nil {
				e.cfg.Progress("coding the pseudogenome", uint64(coded.Add(int64(n))), uint64(g.Len))
			}
		}, follow)
	}()
	return nil
}

// lay loads the reads of a part, or only some, and codes where those of the part stand.
func (e *Encoder) lay(p *part, only *overlap.Subset) (err error) {
	if err = e.build(); err != nil {
		return err
	}
	if p.layout, err = e.genome.Layout(e.ctx, p.sources, p.first, only); err != nil {
		return err
	}
	l := p.layout
	var pos []uint32
	if !e.bins.Meta().Options.OrderAny {
		for rec := range uint32(p.count) {
			if x, _ := l.Place(rec); x != unplaced {
				pos = append(pos, x)
			}
		}
	}
	c := encodeTo(nil)
	p.tree = newPositions(pos, l.Len, c)
	p.shared = c.e.Finish()
	return e.ctx.Err()
}

// Digest returns the sum of ReadHash over the reads of an input, straight from the bins, so that it tells of any read that was left out.
func (e *Encoder) Digest(input int) (uint64, error) {
	var b bins.Block
	var letters []byte
	sum := uint64(0)
	for _, block := range e.bins.Meta().BlocksOf(input) {
		err := e.ctx.Err()
		if err == nil {
			err = e.bins.ReadColumns(block, bins.WantLengths|bins.WantExceptions, &b)
		}
		if err == nil {
			err = e.bins.ReadBins(block, 0, bins.NBin, &b)
		}
		if err == nil {
			letters, err = b.AppendSequences(letters[:0])
		}
		if err != nil {
			return 0, err
		}
		at := 0
		for i := range b.Records {
			n := b.Len(i)
			sum += ReadHash(letters[at:at+n], b.FirstRecord+uint64(i))
			at += n
		}
	}
	return sum, nil
}

// Shared returns the sections that decoding any slice needs: the pseudogenome, and the positions of each part. It is called after the last
// EncodeSlice, and releases the layout.
func (e *Encoder) Shared() [][]byte {
	e.Close()
	if len(e.parts) == 0 {
		return nil
	}
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
	e.current = reads{part: -1}
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
	base, _ := e.parts[k].record(input, from)
	var place func(record uint32) (uint32, bool)
	if e.window > 0 {
		e.mu.Lock() // no reads are needed, only where they stand
		err := e.build()
		e.mu.Unlock()
		if err != nil {
			return nil, err
		}
		place = e.genome.Place
	} else {
		p, err := e.acquire(reads{part: k}, nil)
		if err != nil {
			return nil, err
		}
		defer e.release()
		place = p.layout.Place
	}
	placed := make([]uint32, 0, to-from)
	var others []uint32
	for i := range uint32(to - from) {
		if pos, _ := place(base + i); pos == unplaced {
			others = append(others, i)
		} else {
			placed = append(placed, i)
		}
	}
	placed = sortByPlace(placed, e.genome.Len, func(i uint32) uint64 {
		pos, rev := place(base + i)
		return uint64(pos)<<1 | uint64(toBit(rev))
	})
	perm := make([]uint32, 0, to-from)
	runs := max(1, len(placed)/sortedRun)
	for r := range runs {
		perm = append(perm, placed[len(placed)*r/runs:len(placed)*(r+1)/runs]...)
		perm = append(perm, others[len(others)*r/runs:len(others)*(r+1)/runs]...)
	}
	return perm, nil
}

// sortByPlace returns reads, which ascend, by their keys, position << 1 | strand, and leaves equal ones in their order. It deals the reads to short
// stretches of n positions first, which takes less memory than keys beside the reads would.
func sortByPlace(a []uint32, n int, key func(read uint32) uint64) []uint32 {
	shift := max(bits.Len(uint(n))-18, 0) + 1
	next := make([]int, uint64(n)<<1>>shift+2)
	for _, i := range a {
		next[key(i)>>shift+1]++
	}
	for b := range len(next) - 1 {
		next[b+1] += next[b]
	}
	out := make([]uint32, len(a))
	for _, i := range a {
		b := &next[key(i)>>shift]
		out[*b] = i
		*b++
	}
	from := 0
	var keyed []placedRead
	for _, to := range next[:len(next)-1] {
		keyed = keyed[:0]
		for _, i := range out[from:to] {
			keyed = append(keyed, placedRead{key(i), i})
		}
		slices.SortFunc(keyed, func(x, y placedRead) int {
			if x.key != y.key {
				return cmp.Compare(x.key, y.key)
			}
			return cmp.Compare(x.read, y.read)
		})
		for k, x := range keyed {
			out[from+k] = x.read
		}
		from = to
	}
	return out
}

type placedRead struct {
	key  uint64
	read uint32
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
	p := e.parts[k]
	cols := []*Column{first}
	if mate != nil {
		cols = append(cols, mate)
	}
	bases := make([]uint32, len(cols))
	for i, c := range cols {
		lo, hi := c.span()
		if pk, err := e.partOf(c.Input, lo, hi); err != nil || pk != k {
			return nil, fmt.Errorf("seqs: mates are in different parts")
		}
		bases[i], _ = p.record(c.Input, c.From)
	}
	want := reads{part: k}
	var only func() *overlap.Subset
	if e.window > 0 {
		want = reads{k, first.Input, first.From, e.Window(uint64(first.At))}
		only = func() *overlap.Subset {
			set := overlap.NewSubset(p.count)
			lo := want.window * e.window
			// What begins in the window is in memory to its end; slices of a run are of nearly equal counts.
			hi := min(lo+e.window+first.Records+1, len(first.Run))
			for _, base := range bases {
				for _, i := range first.Run[lo:hi] {
					set.Add(base + i)
				}
			}
			return set
		}
	}
	if _, err = e.acquire(want, only); err != nil {
		return nil, err
	}
	defer e.release()
	model := func() (*model, error) {
		e.wait()
		return e.model, nil
	}
	s := &slice{layout: p.layout, model: model, sorted: first.Perm != nil, limit: uint64(p.layout.Len), aside: e.cfg.aside()}
	records := make([][]uint32, len(cols))
	for i, c := range cols {
		records[i] = make([]uint32, c.Records)
		for j := range records[i] {
			records[i][j] = bases[i] + uint32(j)
			if c.Perm != nil {
				records[i][j] = bases[i] + c.Perm[j]
			}
			if !p.layout.Reads.Has(records[i][j]) {
				return nil, fmt.Errorf("seqs: slices of a run are of different sizes")
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
