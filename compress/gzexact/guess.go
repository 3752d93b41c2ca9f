package gzexact

import (
	"cmp"
	"slices"
)

const (
	guessText   = 192 << 10 // how much of a frame is coded as likely writers would; as the others, a quarter of it
	mostLikely  = 4
	unknownPart = 10 // what part of the file the description of that text may take, besides mostBytes
)

// guess returns the writer as which the beginning of a frame takes the fewest bytes, or the first one that chose all of it, beginning with
// the one before. known is false if it would take too many, if the frame has size bytes of the file.
func guess(f *frame, t *template, before writer, size int64) (best writer, known bool) {
	order := map[byte][]byte{2: {9, 8, 12, 11, 10}, 4: {1}}[t.header[8]] // what the header says of the level
	order = append(order, 6, 5, 7, 4, 3, 2, 1, 8, 9)
	if t.sizeAt > 0 { // nothing
		order = append(order, 10, 11, 12)
	}
	list := []writer{before}
	for _, level := range order {
		list = append(list, writer{gzipBlocks, level}, writer{libdeflateRules, level}, writer{olderLibdeflate, level})
	}
	type trial struct {
		writer
		bytes int
	}
	var likely []trial
	short, long := newSample(f, t, size, guessText/4), newSample(f, t, size, guessText)
	isExact := func(w writer) bool {
		for i := byte(0); ; i++ { // those of zlib differ late
			bytes, wrong := long.encode(w)
			if wrong >= 0 {
				best, known, long.most = w, true, bytes-1
			}
			if wrong == 0 || w.rules >= libdeflateRules || i == libdeflateRules || w.level == 0 {
				return wrong == 0
			}
			w.rules = i
		}
	}
	for i, w := range list {
		if !w.valid() || slices.Contains(list[:i], w) {
			continue
		}
		bytes, wrong := short.encode(w)
		if wrong == 0 && isExact(w) {
			return best, known
		} else if wrong <= 0 {
			continue
		}
		likely = append(likely, trial{w, bytes})
		slices.SortStableFunc(likely, func(a, b trial) int { return cmp.Compare(a.bytes, b.bytes) })
		if len(likely) > mostLikely {
			likely = likely[:mostLikely]
			short.most = likely[mostLikely-1].bytes - 1
		}
	}
	for _, l := range likely {
		if isExact(l.writer) {
			break
		}
	}
	return best, known
}

// sample is the beginning of a frame.
type sample struct {
	frame
	template *template
	most     int // bytes that its description may take
}

// newSample returns the beginning of a frame of size bytes of the file: so much text of blocks that are not stored. If text is guessText,
// the first segment is in it.
func newSample(f *frame, t *template, size int64, text int) *sample {
	s := &sample{frame: *f, template: t}
	s.to, s.parts = f.from, nil
	stored := 0
	for i := range f.parts {
		if n := s.to - f.from - stored; n >= text && (text < guessText || len(f.ends) == 0 || s.to >= f.ends[0]+windowSize) {
			break
		}
		p := &f.parts[i]
		s.parts = f.parts[:i+1]
		if s.to += p.block.size; p.event == eventStored {
			stored += p.block.size
		}
	}
	share := size * int64(s.to-s.from+1) / int64(f.to-f.from+1)
	s.most = int(share/unknownPart + mostBytes)
	return s
}

// encode returns how many bytes the description by a writer takes, and how often the predictor is wrong, or -1 if it would take too many.
func (s *sample) encode(w writer) (bytes, wrong int) {
	f := s.frame
	f.writer = w
	c := &task{frame: &f, template: s.template, most: s.most}
	if c.encode(nil); c.err != nil || len(c.code) > s.most {
		return 0, -1
	}
	return len(c.code), c.wrong
}
