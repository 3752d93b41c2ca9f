package basemodel

import (
	"encoding/binary"

	"orcomgo/compress/rangecoder"
	"orcomgo/internal/tasks"
)

// Options of Encode.
type Options struct {
	Threads int // that code segments and chunks side by side, at least 1; the section does not depend on it
	// TwoCoders is the length from which segments have two coders, in bases.
	TwoCoders int
	// Follow, if not nil, is called before the first base is coded with a sequence that is decoded while the section is coded. Decoding
	// takes another ModelBytes for each coder, in goroutines of its own.
	Follow   func(s *Sequence)
	Progress func(n int) // if not nil, is called from several goroutines when n more bases are coded
	// Model, if not nil, is called with Encoded.Model as soon as it has learnt all of its bases, mostly long before the last base is coded.
	Model func(m *Model)
}

// Encoded is the result of Encode.
type Encoded struct {
	Section []byte
	Model   *Model // of the first coder of the first segment, after all of its bases
}

// coderTask is what one coder of a segment codes.
type coderTask struct {
	*segment
	coder    int
	progress func(n int)
	follower *segmentFollower // nil if nobody decodes at the same time
}

// Encode codes the n bases of src; n is at most MaxBases. The section is n, the size of each coder's stream but the last, and the
// streams, segment after segment.
func Encode(n int, src Source, o Options) Encoded {
	ends := segmentEnds(n)
	progress := o.Progress
	if progress == nil {
		progress = func(int) {}
	}
	var decoded *Sequence
	if o.Follow != nil {
		decoded = newSequence(n)
		decoded.following.Store(int32(len(ends)))
		o.Follow(decoded)
	}
	var all []coderTask
	for k := range ends {
		t := coderTask{segment: newSegment(ends, k, o.TwoCoders), progress: progress}
		if decoded != nil {
			t.follower = newSegmentFollower(decoded, k, t.segment)
		}
		for t.coder = range t.segment.coders() {
			all = append(all, t)
		}
	}
	var e Encoded
	ahead := Goroutines(n, o.TwoCoders, o.Threads) > len(all) // a goroutine works ahead of each
	out := make([][]byte, len(all))
	tasks.Each(len(all), o.Threads, func(_, k int) {
		var m *Model
		out[k], m = all[k].encode(src, ahead)
		if k == 0 {
			e.Model = m
			if o.Model != nil {
				o.Model(m)
			}
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

// encode returns the stream of the coder and its model. The follower is given what is written of the stream after each round, then all
// of it. Another goroutine may work ahead.
func (t *coderTask) encode(src Source, ahead bool) ([]byte, *Model) {
	enc, m := rangecoder.NewEncoder(nil), newModel(t.n)
	var follower chan<- []byte
	if t.follower != nil {
		follower = t.follower.begin(t.coder)
	}
	coded := func(n int) {
		t.progress(n)
		if follower != nil {
			follower <- enc.Written()
		}
	}
	if ahead {
		t.encodeAhead(enc, m, src, coded)
	} else {
		var buf []byte
		bases := t.bases(src, &buf)
		for r := range t.rounds {
			m.Encode(enc, bases(t.rounds[r][t.coder]), nil)
			coded(len(buf))
			t.endRound(m, t.coder, r, bases)
		}
	}
	out := enc.Finish()
	if follower != nil {
		follower <- out
		close(follower)
	}
	return out, m
}

// bases returns a function that returns the bases of a chunk, in memory that it uses each time.
func (t *coderTask) bases(src Source, buf *[]byte) func(c span) []byte {
	return func(c span) []byte {
		*buf = src((*buf)[:0], t.from+c.from, c.to-c.from)
		return *buf
	}
}
