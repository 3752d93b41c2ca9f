package basemodel

import (
	"encoding/binary"
	"fmt"
	"sync"

	"orcomgo/bases"
	"orcomgo/compress/rangecoder"
	"orcomgo/internal/tasks"
)

// Len returns the number of bases that a section holds. It is at most 2800 times the length of the section. An error wraps ErrCorrupt.
func Len(section []byte) (int, error) {
	n, _, err := parseLen(section)
	return n, err
}

// parseLen returns the number of bases that a section holds, and the rest of it.
func parseLen(section []byte) (n int, rest []byte, err error) {
	v, k := binary.Uvarint(section)
	// A base takes two decisions of at least 1/700 bit.
	if k <= 0 || v > MaxBases || v/(8*350) > uint64(len(section)) {
		return 0, nil, fmt.Errorf("%w: no plausible number of bases", ErrCorrupt)
	}
	return int(v), section[k:], nil
}

// Decode decodes a section of Encode, whose Options had the same TwoCoders, on up to threads goroutines. It returns at once and decodes in
// the background. It returns an error, which wraps ErrCorrupt, if the lengths in the section cannot be right; other damage is reported by
// the methods of Sequence.
func Decode(section []byte, twoCoders, threads int) (*Sequence, error) {
	n, rest, err := parseLen(section)
	if err != nil {
		return nil, err
	}
	ends := segmentEnds(n)
	segments := make([]*segment, len(ends))
	count := 0
	for k := range segments {
		segments[k] = newSegment(ends, k, twoCoders)
		count += segments[k].coders()
	}
	in, err := parseStreams(rest, count)
	if err != nil {
		return nil, err
	}
	s := newSequence(n)
	go func() {
		defer s.end()
		first := make([]int, len(segments)) // stream of each segment
		for k := 1; k < len(segments); k++ {
			first[k] = first[k-1] + segments[k-1].coders()
		}
		// A segment keeps as many threads busy as it has coders.
		tasks.Each(len(segments), max(1, threads/segments[0].coders()), func(_, k int) {
			s.decodeSegment(k, segments[k], in[first[k]:][:segments[k].coders()], threads > 1)
		})
	}()
	return s, nil
}

// parseStreams cuts a section, after its number of bases, into the streams of its coders.
func parseStreams(data []byte, count int) ([]*stream, error) {
	sizes := make([]uint64, count)
	for i := range sizes[:count-1] {
		v, k := binary.Uvarint(data)
		if k <= 0 {
			return nil, fmt.Errorf("%w: no length of stream %d", ErrCorrupt, i)
		}
		sizes[i], data = v, data[k:]
	}
	in := make([]*stream, count)
	for i := range in {
		if i == count-1 {
			sizes[i] = uint64(len(data))
		}
		if sizes[i] > uint64(len(data)) {
			return nil, fmt.Errorf("%w: stream %d ends %d bytes after the section", ErrCorrupt, i, sizes[i]-uint64(len(data)))
		}
		in[i] = &stream{dec: rangecoder.NewDecoder(data[:sizes[i]]), complete: true}
		data = data[sizes[i]:]
	}
	return in, nil
}

// decodeSegment decodes segment k, g, from the streams of its coders, side by side if parallel.
func (s *Sequence) decodeSegment(k int, g *segment, in []*stream, parallel bool) {
	for _, c := range in {
		c.model = newModel(g.n)
	}
	r := newRoundBuffer(s, k, g)
	if parallel && len(in) > 1 {
		all := newBarrier(len(in))
		tasks.Each(len(in), len(in), func(_, i int) {
			for round := range g.rounds {
				in[i].decode(r.chunk(round, g.rounds[round][i]))
				all.wait()
				if i == 0 {
					r.store(round)
				}
				g.endRound(in[i].model, i, round, func(c span) []byte { return r.chunk(round, c) })
			}
		})
	} else {
		for round := range g.rounds {
			for i, c := range in {
				c.decode(r.chunk(round, g.rounds[round][i]))
			}
			r.store(round)
			for i, c := range in {
				g.endRound(c.model, i, round, func(c span) []byte { return r.chunk(round, c) })
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, c := range in {
		if err := c.err(); err != nil && s.err == nil {
			s.err = fmt.Errorf("%w: stream %d of segment %d: %w", ErrCorrupt, i, k, err)
		}
	}
	if k == 0 {
		s.model = in[0].model
	}
	for _, c := range in {
		c.model = nil // ModelBytes; other segments are still to be decoded
	}
}

// roundBuffer holds the bases of a round of a segment, and of the round before, which the other coder may still be
// entering in its history.
type roundBuffer struct {
	sequence *Sequence
	index    int // of the segment
	segment  *segment
	bases    [2][]byte // one a byte
}

func newRoundBuffer(s *Sequence, k int, g *segment) *roundBuffer {
	r := &roundBuffer{sequence: s, index: k, segment: g}
	for i := range r.bases {
		r.bases[i] = make([]byte, g.rounds[0][g.coders()-1].to)
	}
	return r
}

// chunk returns where the bases of a chunk of a round are.
func (r *roundBuffer) chunk(round int, c span) []byte {
	from := r.segment.rounds[round][0].from
	return r.bases[round&1][c.from-from : c.to-from]
}

// store packs the bases of a round into the sequence.
func (r *roundBuffer) store(round int) {
	chunks := r.segment.rounds[round]
	all := span{chunks[0].from, chunks[len(chunks)-1].to}
	bases.Pack(r.sequence.packed[r.index][all.from/4:], r.chunk(round, all)) // a round begins with a byte
	r.sequence.extend(r.index, r.segment.from+all.to)
}

// stream is what one coder decodes: a whole stream, or one that is still being written.
type stream struct {
	dec      *rangecoder.Decoder // nil until enough of the stream is there
	model    *Model
	complete bool // all of the stream is there
	data     []byte
	more     <-chan []byte // the stream as far as it is written, again and again, at last all of it
}

// decode decodes the next bases.
func (s *stream) decode(bases []byte) {
	// While the stream is being written, step bases at a time: they take less than margin bytes, with what the decoder reads ahead.
	const step, margin = 16, 64
	for len(bases) > 0 {
		k := len(bases)
		if !s.complete {
			for !s.complete && (s.dec == nil || s.dec.Left() < margin) {
				s.read(margin)
			}
			k = min(k, step)
		}
		for i := range bases[:k] {
			bases[i] = s.model.decode(s.dec)
		}
		bases = bases[k:]
	}
}

// read waits for more of the stream. Decoding begins when there are margin bytes or the stream is complete.
func (s *stream) read(margin int) {
	data, ok := <-s.more
	if ok {
		s.data = data
	} else {
		s.complete = true
	}
	if s.dec != nil {
		s.dec.Extend(s.data)
	} else if s.complete || len(s.data) >= margin {
		s.dec = rangecoder.NewDecoder(s.data)
	}
}

// err waits for the whole stream and reports whether exactly that was decoded.
func (s *stream) err() error {
	for !s.complete {
		s.read(0)
	}
	return s.dec.Err()
}

// segmentFollower decodes a segment while it is coded.
type segmentFollower struct {
	sequence *Sequence
	index    int
	segment  *segment
	in       []*stream
	out      []chan []byte // what each coder has written of its stream, again and again, then all of it; then it is closed
	once     sync.Once
}

// newSegmentFollower prepares to decode segment k of s, which is g.
func newSegmentFollower(s *Sequence, k int, g *segment) *segmentFollower {
	f := &segmentFollower{sequence: s, index: k, segment: g}
	for range g.coders() {
		c := make(chan []byte, len(g.rounds)+1) // the coder is never blocked
		f.in, f.out = append(f.in, &stream{more: c}), append(f.out, c)
	}
	return f
}

// begin returns the channel of a coder, which is about to begin. Decoding begins with the segment's first coder.
func (f *segmentFollower) begin(coder int) chan<- []byte {
	f.once.Do(func() {
		go func() {
			f.sequence.decodeSegment(f.index, f.segment, f.in, true)
			if f.sequence.following.Add(-1) == 0 {
				f.sequence.end()
			}
		}()
	})
	return f.out[coder]
}
