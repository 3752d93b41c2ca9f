package basemodel

import (
	"encoding/binary"
	"slices"

	"orcomgo/compress/rangecoder"
	"orcomgo/internal/tasks"
)

// Options of Encode.
type Options struct {
	Threads int // that code segments and chunks side by side, at least 1; the section does not depend on it
	// Follow, if not nil, is called before the first base is coded with a sequence that is decoded while the section is coded. Decoding
	// takes another ModelBytes for each coder, in goroutines of its own.
	Follow   func(s *Sequence)
	Progress func(n int) // if not nil, is called from several goroutines when n more bases are coded

	plain func(round int) bool // if not nil, chooses which chunks of each coder are stored plainly, in tests
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
	plain    func(round int) bool
}

// Encode codes the n bases of src; n is at most MaxBases.
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
		t := coderTask{segment: newSegment(ends, k), progress: progress, plain: o.plain}
		if decoded != nil {
			t.follower = newSegmentFollower(decoded, k, t.segment)
		}
		for t.coder = range t.segment.coders() {
			all = append(all, t)
		}
	}
	var e Encoded
	out := make([]written, len(all))
	tasks.Each(len(all), o.Threads, func(_, k int) {
		var m *Model
		out[k], m = all[k].encode(src)
		if k == 0 {
			e.Model = m
		}
	})
	e.Section = section(n, out)
	return e
}

// section returns the section of n bases for which the coders wrote out.
func section(n int, out []written) []byte {
	anyPlain := slices.ContainsFunc(out, func(w written) bool { return len(w.packed) > 0 })
	s := uint64(n)
	if anyPlain {
		s |= plainFlag
	}
	dst := binary.AppendUvarint(nil, s)
	if anyPlain {
		for _, w := range out {
			dst = appendRuns(dst, w.plain)
		}
	}
	for _, w := range out[:len(out)-1] {
		dst = binary.AppendUvarint(dst, uint64(len(w.stream)))
	}
	for _, w := range out {
		dst = append(dst, w.stream...)
	}
	for _, w := range out {
		dst = append(dst, w.packed...)
	}
	return dst
}

// written is what a coder has written, of all of its chunks or of the first ones.
type written struct {
	stream []byte // of the chunks that were coded under the model
	plain  []bool // by chunk: it is stored plainly
	packed []byte // the bases of those
}

// encode returns what the coder writes and its model. The follower is given what is written after each round, then all of it.
func (t *coderTask) encode(src Source) (written, *Model) {
	enc, m := rangecoder.NewEncoder(nil), newModel(t.n)
	var follower chan<- written
	if t.follower != nil {
		follower = t.follower.begin(t.coder)
	}
	var buf []byte
	bases := func(c span) []byte {
		buf = src(buf[:0], t.from+c.from, c.to-c.from)
		return buf
	}
	var out written
	var choice plainChoice
	for r := range t.rounds {
		chunk := bases(t.rounds[r][t.coder])
		plain := choice.next(m, chunk)
		if t.plain != nil {
			plain = t.plain(r)
		}
		if plain {
			out.packed = appendPlain(out.packed, chunk)
			m.enter(chunk)
		} else {
			for _, b := range chunk {
				m.encode(enc, b)
			}
			choice.note(len(chunk), len(enc.Written())-len(out.stream))
			out.stream = enc.Written()
		}
		out.plain = append(out.plain, plain)
		t.progress(len(chunk))
		if follower != nil {
			follower <- out
		}
		t.endRound(m, t.coder, r, bases)
	}
	out.stream = enc.Finish()
	if follower != nil {
		follower <- out
		close(follower)
	}
	return out, m
}
