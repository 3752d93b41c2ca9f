package basemodel

import (
	"encoding/binary"

	"orcomgo/compress/rangecoder"
)

// Options of Encode.
type Options struct {
	Threads int // that code segments and chunks side by side, at least 1; the section does not depend on it
	// Verify decodes the section while it is coded. It has an effect only on sequences of one segment (at most 2^24 bases).
	Verify   bool
	Progress func(n int) // if not nil, is called from several goroutines when n more bases are coded
}

// Encoded is the result of Encode.
type Encoded struct {
	Section []byte
	Model   *Model    // of the first coder of the first segment, after all of its bases
	Decoded *Sequence // what the section decodes to; nil unless it was verified
}

// coderTask is what one coder of a segment codes.
type coderTask struct {
	*segment
	coder    int
	progress func(n int)
	follower chan<- []byte // nil if nobody decodes at the same time; see follow
}

// Encode codes the n bases of src; n is at most MaxBases. The section is n, the size of each coder's stream but the last, and the
// streams, segment after segment.
func Encode(n int, src Source, o Options) Encoded {
	ends := segmentEnds(n)
	progress := o.Progress
	if progress == nil {
		progress = func(int) {}
	}
	var tasks []coderTask
	for k := range ends {
		s := newSegment(ends, k)
		for c := range s.coders() {
			tasks = append(tasks, coderTask{segment: s, coder: c, progress: progress})
		}
	}
	var e Encoded
	if o.Verify && len(ends) == 1 {
		var streams []chan<- []byte
		e.Decoded, streams = follow(n)
		for i := range tasks {
			tasks[i].follower = streams[i]
		}
	}
	out := make([][]byte, len(tasks))
	parallelFor(len(tasks), o.Threads, func(k int) {
		var m *Model
		out[k], m = tasks[k].encode(src)
		if k == 0 {
			e.Model = m
		}
	})
	e.Section = binary.AppendUvarint(nil, uint64(n))
	for _, s := range out[:len(out)-1] {
		e.Section = binary.AppendUvarint(e.Section, uint64(len(s)))
	}
	for _, s := range out {
		e.Section = append(e.Section, s...)
	}
	return e
}

// encode returns the stream of the coder and its model. The follower is sent what is written of the stream after each round, then all
// of it.
func (t *coderTask) encode(src Source) ([]byte, *Model) {
	enc, m := rangecoder.NewEncoder(nil), newModel(t.n)
	var buf []byte
	bases := func(c span) []byte {
		buf = src(buf[:0], t.from+c.from, c.to-c.from)
		return buf
	}
	for r := range t.rounds {
		for _, b := range bases(t.rounds[r][t.coder]) {
			m.encode(enc, b)
		}
		t.progress(len(buf))
		if t.follower != nil {
			t.follower <- enc.Written()
		}
		t.endRound(m, t.coder, r, bases)
	}
	out := enc.Finish()
	if t.follower != nil {
		t.follower <- out
		close(t.follower)
	}
	return out, m
}
