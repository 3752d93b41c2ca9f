package seqs

import (
	"encoding/binary"
	"sync"

	"orcomgo/compress/overlap"
)

// baseCoder codes bases one after another under a model.
type baseCoder struct {
	c *coder
	m *model
}

func (b *baseCoder) base(v byte) byte {
	b.m.look()
	if b.c.d != nil {
		v = b.c.d.DecodePair(&b.m.mix.p)
	} else {
		b.c.e.EncodePair(v, &b.m.mix.p)
	}
	b.m.enter(uint32(v))
	return v
}

// segmentBases is how long at most the stretches are in which a pseudogenome is coded, each under models of its own so
// that they can be decoded side by side. Cutting costs bytes: a segment knows nothing of the others.
const segmentBases = 1 << 24

// segments returns the ends of the stretches of a pseudogenome of n bases.
func segments(n int) []int {
	k := max(1, (n+segmentBases-1)/segmentBases)
	ends := make([]int, k)
	for i := range ends {
		ends[i] = int(uint64(n) * uint64(i+1) / uint64(k))
	}
	return ends
}

// A long segment is coded by two coders side by side that take turns at its chunks. Each has a model that learns from its own
// chunks, and after each round enters the other's in its history, where they can be matched.
const (
	chunkBases = 1 << 13
	sideBySide = 2
	longLength = 1 << 20 // of segments that are worth it, in bases
)

// span is some bases of a segment.
type span struct{ from, to int }

// rounds returns the chunks of a segment of n bases, by round and coder.
func rounds(n int) [][]span {
	k := 1
	if n >= longLength {
		k = sideBySide
	}
	all := make([][]span, 0, n/(k*chunkBases)+1)
	for at := 0; at < n || len(all) == 0; {
		size := min(chunkBases, (n-at+k-1)/k)
		round := make([]span, k)
		for i := range round {
			round[i] = span{at, min(at+size, n)}
			at = round[i].to
		}
		all = append(all, round)
	}
	return all
}

// segment is one that is being coded.
type segment struct {
	from   int // in the pseudogenome
	n      int
	rounds [][]span
}

func newSegment(ends []int, k int) *segment {
	s := &segment{n: ends[k]}
	if k > 0 {
		s.from, s.n = ends[k-1], ends[k]-ends[k-1]
	}
	s.rounds = rounds(s.n)
	return s
}

// coders is how many code the segment.
func (s *segment) coders() int { return len(s.rounds[0]) }

// hear enters what the others coded in a round in the history of coder own, and moves it on to its next chunk.
func (s *segment) hear(m *model, own, round int, bases func(c span) []byte) {
	if s.coders() == 1 {
		return
	}
	for i, c := range s.rounds[round] {
		if i != own {
			m.hear(c.from, bases(c))
		}
	}
	if own == 0 {
		m.begin(s.rounds[round][s.coders()-1].to, true)
	} else if round+1 < len(s.rounds) {
		m.begin(s.rounds[round+1][own].from, false)
	}
}

// encodePseudogenome codes n bases, which stretch gives: stretch(dst, pos, n) appends n of them
// to dst. The section is the length, the size of each coder's stream but the last's, and the streams, segment after segment. It
// also returns the model of the first segment's first coder. A pseudogenome of one segment that follow, unless it is nil, decodes
// at the same time.
func encodePseudogenome(n, threads int, stretch func(dst []byte, pos, n int) []byte, tick func(done int), follow []chan<- []byte) ([]byte, *model) {
	type task struct {
		*segment
		coder int
	}
	var tasks []task
	ends := segments(n)
	for k := range ends {
		s := newSegment(ends, k)
		for c := range s.coders() {
			tasks = append(tasks, task{s, c})
		}
	}
	out := make([][]byte, len(tasks))
	var first *model
	side(len(tasks), threads, func(k int) {
		t := tasks[k]
		b := baseCoder{c: encodeTo(nil), m: newModel(t.n)}
		var buf []byte
		bases := func(c span) []byte {
			buf = stretch(buf[:0], t.from+c.from, c.to-c.from)
			return buf
		}
		for r := range t.rounds {
			for _, v := range bases(t.rounds[r][t.coder]) {
				b.base(v)
			}
			tick(len(buf))
			if follow != nil {
				follow[k] <- b.c.e.Written()
			}
			t.hear(b.m, t.coder, r, bases)
		}
		out[k] = b.c.e.Finish()
		if follow != nil {
			follow[k] <- out[k]
			close(follow[k])
		}
		if k == 0 {
			first = b.m
		}
	})
	data := binary.AppendUvarint(nil, uint64(n))
	for _, s := range out[:len(out)-1] {
		data = binary.AppendUvarint(data, uint64(len(s)))
	}
	for _, s := range out {
		data = append(data, s...)
	}
	return data, first
}

// maxPseudogenome bounds the pseudogenome, in bases: positions have 32 bits, and one is Unplaced.
const maxPseudogenome = 1<<32 - 2

// pseudogenomeLen returns the number of bases that a section holds, and its rest.
func pseudogenomeLen(data []byte) (n uint64, rest []byte, err error) {
	n, k := binary.Uvarint(data)
	// A base costs no less than 1/700 bit, twice.
	if k <= 0 || n > maxPseudogenome || n/(8*350) > uint64(len(data)) {
		return 0, nil, ErrCorrupt
	}
	return n, data[k:], nil
}

// pseudogenome is one that is being decoded.
type pseudogenome struct {
	n      int
	packed [][]byte // by segment: bases as overlap.Unpack takes them
	model  *model   // of the first segment's first coder; set at the end
	ends   []int    // of segments

	mu    sync.Mutex
	moved *sync.Cond
	at    []int // how far each segment is
	err   error
	ended bool
}

func newPseudogenome(n int) *pseudogenome {
	ends := segments(n)
	p := &pseudogenome{n: n, packed: make([][]byte, len(ends)), ends: ends, at: make([]int, len(ends))}
	for k, from := 0, 0; k < len(ends); k++ {
		p.packed[k] = make([]byte, (ends[k]-from+3)/4+overlap.Pad)
		from = ends[k]
	}
	p.moved = sync.NewCond(&p.mu)
	return p
}

// stretch appends n bases from pos on, one a byte, which must be there.
func (p *pseudogenome) stretch(dst []byte, pos, n int) []byte {
	if n == 0 {
		return dst
	}
	k := 0
	for pos >= p.ends[k] {
		k++
	}
	for n > 0 {
		from := 0
		if k > 0 {
			from = p.ends[k-1]
		}
		m := min(n, p.ends[k]-pos)
		dst = overlap.Unpack(dst, p.packed[k], pos-from, m)
		pos, n, k = pos+m, n-m, k+1
	}
	return dst
}

// wait waits until the first n bases are there.
func (p *pseudogenome) wait(n int) error {
	n = min(n+overlap.PadBases, p.n) // which are read along with them
	p.mu.Lock()
	defer p.mu.Unlock()
	for from, k := 0, 0; k < len(p.ends) && from < n; k++ {
		for !p.ended && p.at[k] < min(n, p.ends[k]) {
			p.moved.Wait()
		}
		from = p.ends[k]
	}
	if p.ended {
		return p.err
	}
	return nil
}

// all waits for the whole and returns the model that knows it.
func (p *pseudogenome) all() (*model, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.ended {
		p.moved.Wait()
	}
	return p.model, p.err
}

// end tells that nothing more comes.
func (p *pseudogenome) end() {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.moved.Broadcast()
}

// decodePseudogenome is the inverse of encodePseudogenome. It goes on in the background.
func decodePseudogenome(data []byte, threads int) (*pseudogenome, error) {
	n, data, err := pseudogenomeLen(data)
	if err != nil {
		return nil, err
	}
	ends := segments(int(n))
	all := make([]*segment, len(ends))
	streams := 0
	for k := range all {
		all[k] = newSegment(ends, k)
		streams += all[k].coders()
	}
	sizes := make([]uint64, streams)
	for i := range sizes[:streams-1] {
		v, k := binary.Uvarint(data)
		if k <= 0 {
			return nil, ErrCorrupt
		}
		sizes[i], data = v, data[k:]
	}
	in := make([]*stream, streams)
	for i := range in {
		if i == streams-1 {
			sizes[i] = uint64(len(data))
		}
		if sizes[i] > uint64(len(data)) {
			return nil, ErrCorrupt
		}
		in[i], data = &stream{b: baseCoder{c: decodeFrom(data[:sizes[i]])}, whole: true}, data[sizes[i]:]
	}
	p := newPseudogenome(int(n))
	go func() {
		defer p.end()
		first := make([]int, len(all)) // stream of each segment
		for k := 1; k < len(all); k++ {
			first[k] = first[k-1] + all[k-1].coders()
		}
		// A segment keeps as many threads busy as it has coders.
		side(len(all), max(1, threads/all[0].coders()), func(k int) {
			p.segment(k, all[k], in[first[k]:][:all[k].coders()], threads > 1)
		})
	}()
	return p, nil
}

// packBases packs bases, one a byte, from the first bit of dst on.
func packBases(dst, bases []byte) {
	for ; len(bases) >= 4; bases, dst = bases[4:], dst[1:] {
		v := binary.LittleEndian.Uint32(bases)
		dst[0] = byte(v | v>>6 | v>>12 | v>>18)
	}
	for i, v := range bases {
		dst[0] |= v << (2 * i)
	}
}

// segment decodes segment k, s, by its coders, at once if parallel.
func (p *pseudogenome) segment(k int, s *segment, in []*stream, parallel bool) {
	// The bases of a round, and of the one before, which the other coders may still be entering.
	var turns [2][]byte
	for i := range turns {
		turns[i] = make([]byte, s.rounds[0][len(in)-1].to)
	}
	chunk := func(round int) func(c span) []byte {
		from := s.rounds[round][0].from
		return func(c span) []byte { return turns[round&1][c.from-from : c.to-from] }
	}
	ended := func(round int) {
		all := span{s.rounds[round][0].from, s.rounds[round][len(in)-1].to}
		packBases(p.packed[k][all.from/4:], chunk(round)(all)) // a round begins with a byte
		p.mu.Lock()
		p.at[k] = s.from + all.to
		p.mu.Unlock()
		p.moved.Broadcast()
	}
	for _, c := range in {
		c.b.m = newModel(s.n)
	}
	if parallel && len(in) > 1 {
		all := barrier{n: len(in)}
		all.opened.L = &all.mu
		side(len(in), len(in), func(i int) {
			for r := range s.rounds {
				in[i].decode(chunk(r)(s.rounds[r][i]))
				all.wait()
				if i == 0 {
					ended(r)
				}
				s.hear(in[i].b.m, i, r, chunk(r))
			}
		})
	} else {
		for r := range s.rounds {
			for i, c := range in {
				c.decode(chunk(r)(s.rounds[r][i]))
			}
			ended(r)
			for i, c := range in {
				s.hear(c.b.m, i, r, chunk(r))
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range in {
		if err := c.err(); err != nil && p.err == nil {
			p.err = err
		}
	}
	if k == 0 {
		p.model = in[0].b.m
	}
	for _, c := range in {
		c.b.m = nil // some 22 MB; other segments are still to come
	}
}

// stream is what one coder decodes, whole or as it is written.
type stream struct {
	b     baseCoder
	whole bool
	data  []byte
	more  <-chan []byte // the stream so far; the last time, whole
}

// decode decodes the next bases.
func (s *stream) decode(bases []byte) {
	// Some bases at a time: they take less than margin bytes, with what the decoder reads ahead.
	const some, margin = 16, 64
	for len(bases) > 0 {
		k := len(bases)
		if !s.whole {
			for !s.whole && (s.b.c == nil || s.b.c.d.Left() < margin) {
				s.read(margin)
			}
			k = min(k, some)
		}
		for i := range bases[:k] {
			bases[i] = s.b.base(0)
		}
		bases = bases[k:]
	}
}

// read waits for more of the stream; it is begun when it has margin bytes or is whole.
func (s *stream) read(margin int) {
	data, ok := <-s.more
	if ok {
		s.data = data
	} else {
		s.whole = true
	}
	if s.b.c != nil {
		s.b.c.d.Extend(s.data)
	} else if s.whole || len(s.data) >= margin {
		s.b.c = decodeFrom(s.data)
	}
}

// err waits for the whole and reports whether it was decoded.
func (s *stream) err() error {
	for !s.whole {
		s.read(0)
	}
	return s.b.c.d.Err()
}

// barrier lets n goroutines go on when all have come to it, time after time.
type barrier struct {
	mu      sync.Mutex
	opened  sync.Cond
	n, here int
	times   int
}

func (b *barrier) wait() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.here++; b.here == b.n {
		b.here = 0
		b.times++
		b.opened.Broadcast()
		return
	}
	for t := b.times; t == b.times; {
		b.opened.Wait()
	}
}

// followed returns a pseudogenome of n bases, one segment, that is decoded while it is coded, from what is sent to
// the channels: by each coder, its stream so far, again and again, then all of it, and the end.
func followed(n int) (*pseudogenome, []chan<- []byte) {
	p := newPseudogenome(n)
	s := newSegment(p.ends, 0)
	in := make([]*stream, s.coders())
	out := make([]chan<- []byte, len(in))
	for i := range in {
		c := make(chan []byte, len(s.rounds)+1) // coding never waits
		in[i], out[i] = &stream{more: c}, c
	}
	go func() {
		defer p.end()
		p.segment(0, s, in, true)
	}()
	return p, out
}

// Checked is a pseudogenome that was decoded while it was coded, and the section that was made of it.
type Checked struct {
	section []byte
	pg      *pseudogenome
}

// side calls f for 0..n-1 on up to threads goroutines.
func side(n, threads int, f func(k int)) {
	next := make(chan int, n)
	for k := range n {
		next <- k
	}
	close(next)
	var wg sync.WaitGroup
	for range min(max(threads, 1), n) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := range next {
				f(k)
			}
		}()
	}
	wg.Wait()
}
