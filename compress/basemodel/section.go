package basemodel

import (
	"encoding/binary"
	"fmt"

	"orcomgo/bases"
	"orcomgo/bins/parse"
	"orcomgo/internal/tasks"
)

// segmentBases is the largest length of a segment, in bases. Segments have models of their own so that they can be coded and decoded
// side by side. Cutting costs bytes: a segment cannot be predicted from the others.
const segmentBases = 1 << 24

// segment is a part of a sequence that is coded by itself.
type segment struct{ from, n int }

// cutSegments cuts a sequence of n bases into segments, which begin at multiples of four.
func cutSegments(n int) []segment {
	all := make([]segment, Segments(n))
	size := (n + 4*len(all) - 1) / (4 * len(all)) * 4
	for k := range all {
		all[k] = segment{k * size, min(size, n-k*size)}
	}
	return all
}

// Segments returns how many segments a sequence of n bases has.
func Segments(n int) int { return max(1, (n+segmentBases-1)/segmentBases) }

// Options of Encode and Decode.
type Options struct {
	Threads int // that code or decode segments side by side, at least 1; the section does not depend on it
	// Follow, if not nil, is called before the first base is coded with a sequence that is decoded while the section is coded. Decoding
	// takes another ModelBytes for each segment, in as many goroutines of its own as coding has threads.
	Follow   func(s *Sequence)
	Progress func(n int) // if not nil, is called from several goroutines when n more bases are coded or decoded
	// Model, if not nil, is called with the model of the first segment as soon as that has learnt all of its bases, mostly long before the
	// last base is coded.
	Model func(m *Model)
}

// Encode codes the n bases of src; n is at most MaxBases. The section is n, the sizes of the segments' streams but the last one, and these.
func Encode(n int, src Source, o Options) []byte {
	segments := cutSegments(n)
	if o.Progress == nil {
		o.Progress = func(int) {}
	}
	var written []chan []byte // by segment: the blocks as they are written, to which wordsAhead bytes are added
	if o.Follow != nil {
		s := newSequence(n, segments)
		for _, g := range segments {
			written = append(written, make(chan []byte, g.n/blockBases+1)) // the coder never waits
		}
		go s.decode(o.Threads, func(k int) func() []byte { return func() []byte { return <-written[k] } })
		o.Follow(s)
	}
	out := make([][]byte, len(segments))
	tasks.Each(len(segments), o.Threads, func(_, k int) {
		g, m := segments[k], newModel(segments[k].n)
		var letters []byte
		for at := 0; at < g.n; at += blockBases {
			letters = src(letters[:0], g.from+at, min(blockBases, g.n-at))
			before := len(out[k])
			out[k] = m.encodeBlock(out[k], &block{at: at, bases: letters})
			if written != nil {
				written[k] <- padded(out[k][before:])
			}
			o.Progress(len(letters))
		}
		m.learnt = g.n
		if k == 0 && o.Model != nil {
			o.Model(m)
		}
	})
	section := binary.AppendUvarint(nil, uint64(n))
	for _, s := range out[:len(out)-1] {
		section = binary.AppendUvarint(section, uint64(len(s)))
	}
	for _, s := range out {
		section = append(section, s...)
	}
	return section
}

// padded returns a copy of words that wordsAhead bytes follow.
func padded(words []byte) []byte {
	return append(append(make([]byte, 0, len(words)+wordsAhead), words...), make([]byte, wordsAhead)...)
}

// basesPerByte is the most bases of a block by the bytes that the states of its lanes have.
const basesPerByte = blockBases / (4 * numLanes)

// Decode decodes a section of Encode on up to Threads goroutines. It returns at once and decodes in the background, and calls Progress
// meanwhile; Follow and Model are ignored. It returns an error, which wraps ErrCorrupt, if the lengths
// in the section cannot be right; other damage is reported by the methods of Sequence.
func Decode(section []byte, o Options) (*Sequence, error) {
	n, k := parse.Uvarint(section)
	if k <= 0 || n > MaxBases || n/basesPerByte > uint64(len(section)+4*numLanes) {
		return nil, fmt.Errorf("%w: no plausible number of bases", ErrCorrupt)
	}
	if n == 0 && len(section) > k {
		return nil, fmt.Errorf("%w: bytes follow no bases", ErrCorrupt)
	}
	segments := cutSegments(int(n))
	streams, err := parseStreams(section[k:], len(segments))
	if err != nil {
		return nil, err
	}
	s := newSequence(int(n), segments)
	s.progress = o.Progress
	go s.decode(o.Threads, func(k int) func() []byte {
		words := padded(streams[k])
		return func() []byte { return words }
	})
	return s, nil
}

// parseStreams cuts a section, after its number of bases, into the streams of its segments.
func parseStreams(data []byte, count int) ([][]byte, error) {
	sizes := make([]uint64, count)
	for i := range sizes[:count-1] {
		v, k := parse.Uvarint(data)
		if k <= 0 {
			return nil, fmt.Errorf("%w: no length of segment %d", ErrCorrupt, i)
		}
		sizes[i], data = v, data[k:]
	}
	all := make([][]byte, count)
	for i := range all {
		if i == count-1 {
			sizes[i] = uint64(len(data))
		}
		if sizes[i] > uint64(len(data)) {
			return nil, fmt.Errorf("%w: segment %d ends %d bytes after the section", ErrCorrupt, i, sizes[i]-uint64(len(data)))
		}
		all[i], data = data[:sizes[i]], data[sizes[i]:]
	}
	return all, nil
}

// decode decodes all segments. words returns, for a segment, a function that returns the words with its next
// block, or all of its words each time.
func (s *Sequence) decode(threads int, words func(k int) func() []byte) {
	defer s.end()
	tasks.Each(len(s.segments), threads, func(_, k int) {
		g, m, next := s.segments[k], newModel(s.segments[k].n), words(k)
		var err error
		letters := make([]byte, min(g.n, blockBases))
		for at := 0; at < g.n && err == nil; at += blockBases {
			if w := next(); m.words == nil || &w[0] != &m.words[0] {
				m.words, m.at = w, 0
			}
			letters = letters[:min(blockBases, g.n-at)]
			if err = m.decodeBlock(&block{at: at, bases: letters}); err != nil {
				break
			}
			bases.Pack(s.packed[(g.from+at)/4:], letters)
			s.extend(k, g.from+at+len(letters))
			if s.progress != nil {
				s.progress(len(letters))
			}
		}
		if err == nil && m.unread() > 0 {
			err = fmt.Errorf("%w: more follows", ErrCorrupt)
		}
		m.learnt = g.n
		s.mu.Lock()
		defer s.mu.Unlock()
		if err != nil && s.err == nil {
			s.err = fmt.Errorf("segment %d: %w", k, err)
		}
		if k == 0 {
			s.model = m
		}
	})
}
