package basemodel

import (
	"fmt"
	"slices"

	"orcomgo/bases"
	"orcomgo/bins/parse"
	"orcomgo/compress/rangecoder"
	"orcomgo/internal/tasks"
)

// basesPerByte is more than how many bases a byte holds: a base takes two decisions of 1/2065 bit or more.
const basesPerByte = 8300

// parseLen returns the number of bases that a section holds, and the rest of it.
func parseLen(section []byte) (n int, rest []byte, err error) {
	v, k := parse.Uvarint(section)
	// The arithmetic coder may keep eight bytes back if they are 0.
	if k <= 0 || v > MaxBases || v/basesPerByte > uint64(len(section)+8) {
		return 0, nil, fmt.Errorf("%w: no plausible number of bases", ErrCorrupt)
	}
	return int(v), section[k:], nil
}

// Decode decodes a section of Encode on up to Threads goroutines. It returns at once and decodes in the background, and calls Progress
// meanwhile; Follow and Model are ignored. It returns an error, which wraps ErrCorrupt, if the lengths
// in the section cannot be right; other damage is reported by the methods of Sequence.
func Decode(section []byte, o Options) (*Sequence, error) {
	n, rest, err := parseLen(section)
	if err != nil {
		return nil, err
	}
	if len(rest) == 0 || rest[0] != 1 && rest[0] != 2 && rest[0] != 4 {
		return nil, fmt.Errorf("%w: no plausible number of coders", ErrCorrupt)
	}
	segments := cutSegments(n, int(rest[0]), o.twoCoders)
	in, err := parseStreams(rest[1:], codersOf(segments))
	if err != nil {
		return nil, err
	}
	s := newSequence(n, segments)
	s.progress = o.Progress
	go s.decode(in, o.Threads)
	return s, nil
}

// parseStreams cuts a section, after its number of bases, into the streams of its coders.
func parseStreams(data []byte, count int) ([]*stream, error) {
	sizes := make([]uint64, count)
	for i := range sizes[:count-1] {
		v, k := parse.Uvarint(data)
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
		in[i] = &stream{data: data[:sizes[i]]}
		data = data[sizes[i]:]
	}
	return in, nil
}

// stream is what one coder decodes.
type stream struct {
	data    []byte        // as far as it is there
	written <-chan []byte // the stream as far as it is written, again and again, at last all of it; nil if all of it is there

	dec   *rangecoder.Decoder
	model *Model
}

// begin begins to decode a stream of a segment of n bases.
func (s *stream) begin(n int) {
	s.model, s.dec = newModel(n), new(rangecoder.Decoder)
	if s.written == nil {
		s.dec.Reset(s.data)
		return
	}
	s.dec.Follow(func() ([]byte, bool) {
		data, ok := <-s.written
		return data, ok
	})
}

// decode decodes all segments from the streams of their coders.
func (s *Sequence) decode(in []*stream, threads int) {
	defer s.end()
	first := make([]int, len(s.segments)) // stream of each segment
	for k := 1; k < len(s.segments); k++ {
		first[k] = first[k-1] + s.segments[k-1].coders
	}
	// A segment keeps as many threads busy as it has coders.
	tasks.Each(len(s.segments), max(1, threads/s.segments[0].coders), func(_, k int) {
		s.decodeSegment(k, in[first[k]:][:s.segments[k].coders], threads)
	})
}

// decodeSegment decodes segment k.
func (s *Sequence) decodeSegment(k int, in []*stream, threads int) {
	g := s.segments[k]
	for _, c := range in {
		c.begin(g.n)
	}
	// The bases of a round, one a byte, and of the round before, which are entered in the histories of the other coders at the same time.
	var now, before []byte
	var r, last round
	for at := 0; at < g.n; at = r.to {
		last, r = r, g.next(at)
		before, now = now, append(before[:0], make([]byte, r.to-r.from)...)
		tasks.Each(len(in), threads, func(_, i int) {
			m := in[i].model
			if at > 0 {
				g.end(m, i, last, func(from, to int) []byte { return before[from-last.from : to-last.from] })
			}
			g.begin(m, i, r)
			from, to := r.chunk(i)
			m.Decode(in[i].dec, now[from-r.from:to-r.from], nil)
		})
		bases.Pack(s.packed[(g.from+at)/4:], now)
		// A few forged bytes may claim many bases: nothing is decoded after the end of a stream.
		if slices.ContainsFunc(in, func(c *stream) bool { return c.dec.Overrun() }) {
			break
		}
		s.extend(k, g.from+r.to)
		if s.progress != nil {
			s.progress(r.to - r.from)
		}
	}
	if g.n > 0 {
		g.end(in[0].model, 0, r, func(from, to int) []byte { return now[from-r.from : to-r.from] })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, c := range in {
		if err := c.dec.Err(); err != nil && s.err == nil {
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
