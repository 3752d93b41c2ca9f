package seqs

import (
	"encoding/binary"
	"sync"
)

// baseCoder codes bases one after another under a model.
type baseCoder struct {
	c *coder
	m *model
}

func (b *baseCoder) base(v byte) byte {
	m := b.m
	m.look()
	p := &m.mix.p
	hi := b.c.evenly(int(v>>1), p[0])
	lo := b.c.evenly(int(v&1), p[1+hi])
	v = byte(hi<<1 | lo)
	m.enter(uint32(v))
	return v
}

// segmentBases is how long at most the stretches are in which a pseudogenome is coded, each under a model of its own so
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

// encodePseudogenome codes n bases, which stretch gives: stretch(dst, pos, n) appends n of them
// to dst. The section is the length, the size of each segment but the last, and the segments. It also returns the model
// that has seen the first segment. A pseudogenome of one segment that follow, unless it is nil, decodes at the same time.
func encodePseudogenome(n, threads int, stretch func(dst []byte, pos, n int) []byte, tick func(done int), follow chan<- written) ([]byte, *model) {
	ends := segments(n)
	out := make([][]byte, len(ends))
	var first *model
	side(len(ends), threads, func(k int) {
		from := 0
		if k > 0 {
			from = ends[k-1]
		}
		b := baseCoder{c: encodeTo(nil), m: newModel(ends[k] - from)}
		var buf []byte
		for at := from; at < ends[k]; at += len(buf) {
			buf = stretch(buf[:0], at, min(1<<16, ends[k]-at))
			for _, v := range buf {
				b.base(v)
			}
			tick(len(buf))
			if follow != nil {
				follow <- written{b.c.e.Written(), at + len(buf), false}
			}
		}
		out[k] = b.c.e.Finish()
		if follow != nil {
			follow <- written{out[k], n, true}
			close(follow)
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
	bases []byte // one a byte
	model *model // has seen the first segment; set at the end
	ends  []int  // of segments

	mu    sync.Mutex
	moved *sync.Cond
	at    []int // how far each segment is
	err   error
	ended bool
}

// wait waits until the first n bases are there.
func (p *pseudogenome) wait(n int) error {
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

// decodePseudogenome is the inverse of encodePseudogenome. It goes on in the background.
func decodePseudogenome(data []byte, threads int) (*pseudogenome, error) {
	n, data, err := pseudogenomeLen(data)
	if err != nil {
		return nil, err
	}
	ends := segments(int(n))
	in := make([][]byte, len(ends))
	sizes := make([]uint64, len(ends))
	for i := range sizes[:len(sizes)-1] {
		v, k := binary.Uvarint(data)
		if k <= 0 {
			return nil, ErrCorrupt
		}
		sizes[i], data = v, data[k:]
	}
	for i := range in {
		if i == len(in)-1 {
			sizes[i] = uint64(len(data))
		}
		if sizes[i] > uint64(len(data)) {
			return nil, ErrCorrupt
		}
		in[i], data = data[:sizes[i]], data[sizes[i]:]
	}
	p := &pseudogenome{bases: make([]byte, n), ends: ends, at: make([]int, len(ends))}
	p.moved = sync.NewCond(&p.mu)
	go func() {
		side(len(ends), threads, func(k int) { p.segment(k, in[k]) })
		p.mu.Lock()
		p.ended = true
		p.mu.Unlock()
		p.moved.Broadcast()
	}()
	return p, nil
}

// segment decodes one segment.
func (p *pseudogenome) segment(k int, in []byte) {
	from := 0
	if k > 0 {
		from = p.ends[k-1]
	}
	b := baseCoder{c: decodeFrom(in), m: newModel(p.ends[k] - from)}
	const often = 1 << 16
	for i := from; i < p.ends[k]; {
		end := min(i+often, p.ends[k])
		for ; i < end; i++ {
			p.bases[i] = b.base(0)
		}
		p.mu.Lock()
		p.at[k] = i
		p.mu.Unlock()
		p.moved.Broadcast()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := b.c.d.Err(); err != nil && p.err == nil {
		p.err = err
	}
	if k == 0 {
		p.model = b.m
	}
}

// written is what is known of a segment's stream while it is coded: how many bases its bytes, and some to come, hold.
type written struct {
	bytes []byte
	bases int
	whole bool
}

// followed returns a pseudogenome of n bases, one segment, that is decoded while it is coded, from what is sent to the channel.
func followed(n int) (*pseudogenome, chan<- written) {
	p := &pseudogenome{bases: make([]byte, n), ends: segments(n), at: make([]int, 1)}
	p.moved = sync.NewCond(&p.mu)
	in := make(chan written, n>>16+2) // coding never waits
	go func() {
		// Some bases at a time: they take less than margin bytes, with what the decoder reads ahead.
		const some, margin = 16, 64
		b := baseCoder{m: newModel(n)}
		i := 0
		for w := range in {
			if b.c != nil {
				b.c.d.Extend(w.bytes)
			} else if w.whole || len(w.bytes) >= margin {
				b.c = decodeFrom(w.bytes)
			} else {
				continue
			}
			for i < w.bases && (w.whole || b.c.d.Left() >= margin) {
				for end := min(i+some, w.bases); i < end; i++ {
					p.bases[i] = b.base(0)
				}
			}
		}
		p.mu.Lock()
		p.model, p.err, p.at[0], p.ended = b.m, b.c.d.Err(), n, true
		p.mu.Unlock()
		p.moved.Broadcast()
	}()
	return p, in
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
