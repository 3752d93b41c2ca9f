package gzexact

import (
	"cmp"
	"slices"
)

const (
	guessTokens = 40_000 // how many of a frame are coded as likely writers would; as the others, a quarter of them
	mostLikely  = 4
	unknownPart = 10 // what part of the file the description of these may take, besides mostBytes
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
		if level > 9 {
			list = append(list, writer{newerLibdeflate, level})
		}
	}
	type trial struct {
		writer
		bytes int
	}
	var likely []trial
	short, long := newSample(f, t, size, guessTokens/4), newSample(f, t, size, guessTokens)
	short.most *= 4 // the rules may be others
	isExact := func(w writer) bool {
		for _, rules := range append([]byte{w.rules}, w.similar()...) {
			bytes, wrong := long.encode(writer{rules, w.level})
			if wrong >= 0 {
				best, known, long.most = writer{rules, w.level}, true, bytes-1
			}
			if wrong == 0 {
				return true
			}
		}
		return false
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

// similar returns other rules that show late.
func (w writer) similar() []byte {
	switch {
	case w.level == 0:
		return nil
	case w.rules < libdeflateRules:
		return []byte{gzipBlocks, zlibBlocks16K, pigzBlocks, aloneBlocks, zlibBlocks32K}
	case w.rules == libdeflateRules:
		return []byte{newerLibdeflate}
	}
	return nil
}

// sample is the beginning of a frame.
type sample struct {
	frame
	template *template
	most     int // bytes that its description may take
}

// newSample returns the beginning of a frame of size bytes of the file: whole blocks with so many tokens. If these are guessTokens, the first
// segment is in it.
func newSample(f *frame, t *template, size int64, tokens int) *sample {
	s := &sample{frame: *f, template: t}
	s.to, s.parts = f.from, nil
	for i, n := 0, 0; i < len(f.parts); i++ {
		if n >= tokens && (tokens < guessTokens || len(f.ends) == 0 || s.to >= f.ends[0]+windowSize) {
			break
		}
		s.parts = f.parts[:i+1]
		s.to += f.parts[i].block.size
		n += len(f.parts[i].block.tokens)
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
