package basemodel

import (
	"encoding/binary"

	"orcomgo/compress/rangecoder"
	"orcomgo/internal/tasks"
)

// Options of Encode and Decode.
type Options struct {
	Threads int // that code or decode segments and chunks side by side, at least 1; the section does not depend on it
	// Follow, if not nil, is called before the first base is coded with a sequence that is decoded while the section is coded. Decoding
	// takes another ModelBytes for each coder, in as many goroutines of its own as coding has threads.
	Follow   func(s *Sequence)
	Progress func(n int) // if not nil, is called from several goroutines when n more bases are coded or decoded
	// Model, if not nil, is called with the model of the first coder of the first segment as soon as that has learnt all of its bases,
	// mostly long before the last base is coded.
	Model func(m *Model)

	// Coders is how many coders a segment has at most, 1, 2 or 4, for which there is a model each; 0: as many as usual. Decode ignores it.
	Coders int

	twoCoders int // see cutSegments
}

// coderTask is what one coder of a segment codes.
type coderTask struct {
	segment
	coder   int
	src     Source
	written chan<- []byte // is given the stream as far as it is written, again and again, then all of it; nil if nobody decodes it
	coded   func(n int)   // is called when n more bases are coded
}

// Encode codes the n bases of src; n is at most MaxBases. The section is n, the most coders of a segment, the size of each coder's stream
// but the last, and the streams, segment after segment.
func Encode(n int, src Source, o Options) []byte {
	segments := cutSegments(n, o.mostCoders(n), o.twoCoders)
	var all []coderTask
	var follow []*stream
	for _, s := range segments {
		for coder := range s.coders {
			t := coderTask{segment: s, coder: coder, src: src, coded: o.Progress}
			if t.coded == nil {
				t.coded = func(int) {}
			}
			if o.Follow != nil {
				c := make(chan []byte, s.n/chunkBases+2) // the coder never waits
				t.written = c
				follow = append(follow, &stream{written: c})
			}
			all = append(all, t)
		}
	}
	if o.Follow != nil {
		s := newSequence(n, segments)
		go s.decode(follow, o.Threads)
		o.Follow(s)
	}
	ahead := goroutines(len(all), o.Threads) > len(all)
	out := make([][]byte, len(all))
	tasks.Each(len(all), o.Threads, func(_, k int) {
		var m *Model
		out[k], m = all[k].encode(ahead)
		if k == 0 && o.Model != nil {
			o.Model(m)
		}
	})
	section := append(binary.AppendUvarint(nil, uint64(n)), byte(segments[0].coders)) // a later one has no more
	for _, s := range out[:len(out)-1] {
		section = binary.AppendUvarint(section, uint64(len(s)))
	}
	for _, s := range out {
		section = append(section, s...)
	}
	return section
}

// Goroutines returns how many goroutines Encode of n bases has, at most: one for each coder, or two if there are so many threads.
func (o *Options) Goroutines(n int) int {
	return goroutines(codersOf(cutSegments(n, o.mostCoders(n), o.twoCoders)), o.Threads)
}

// goroutines is Goroutines for so many coders.
func goroutines(coders, threads int) int {
	if 2*coders <= threads {
		return 2 * coders
	}
	return min(coders, threads)
}

// encode returns the stream of the coder and its model. Slices with literals wait for the model of the first segment. So where there are
// threads for it, a goroutine prepares chunks ahead; this one mixes, learns and codes. What goes from one to the other has five bytes a
// base: it moves from one core's cache to another's.
func (t *coderTask) encode(ahead bool) ([]byte, *Model) {
	enc, m := rangecoder.NewEncoder(nil), newModel(t.n)
	code := func(p *prepared) {
		m.mix.encode(enc, p)
		t.coded(len(p.bases))
		if t.written != nil {
			t.written <- enc.Written()
		}
	}
	if ahead {
		const most = 4 // chunks that are prepared before they are coded
		free, ready := make(chan *prepared, most), make(chan *prepared, most)
		for range most {
			free <- new(prepared)
		}
		go func() {
			defer close(ready)
			t.prepare(m, func() *prepared { return <-free }, func(p *prepared) { ready <- p })
		}()
		for p := range ready {
			code(p)
			free <- p
		}
	} else {
		t.prepare(m, func() *prepared { return &m.prepared }, code)
	}
	out := enc.Finish()
	if t.written != nil {
		t.written <- out
		close(t.written)
	}
	return out, m
}

// Pass appends bases that are known otherwise: they can be matched from then on; the counters and weights do not learn from them.
func (m *Model) Pass(bases []byte) {
	p := &m.prepared
	p.bases = append(p.bases[:0], bases...)
	m.prepare(p, nil)
}

// prepare prepares the coder's chunks one after another, each in memory that take returns, and gives them to put.
func (t *coderTask) prepare(m *Model, take func() *prepared, put func(p *prepared)) {
	var peer []byte
	for at := 0; at < t.n; {
		r := t.next(at)
		t.begin(m, t.coder, r)
		p := take()
		from, to := r.chunk(t.coder)
		p.bases = t.src(p.bases[:0], t.from+from, to-from)
		m.prepare(p, nil)
		put(p)
		t.end(m, t.coder, r, func(from, to int) []byte {
			peer = t.src(peer[:0], t.from+from, to-from)
			return peer
		})
		at = r.to
	}
}
