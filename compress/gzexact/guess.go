package gzexact

import "slices"

const (
	guessTokens = 160_000 // how many of a frame are coded as likely writers would; as the others, a 16th of them
	mostLikely  = 4
)

// guess returns the writer as which the beginning of a frame takes the fewest bytes, or the first one that chose all of it, beginning with
// the one before. known is false if it would take more than it may, if the frame has size bytes of the file.
func guess(f *frame, t *template, before writer, size int64) (best writer, known bool) {
	order := map[byte][]byte{2: {9, 8, 12, 11, 10}, 4: {1}}[t.header[8]] // what the header says of the level
	order = append(order, 6, 5, 7, 4, 3, 2, 1, 8, 9)
	if t.sizeAt > 0 { // that of BGZF says nothing
		order = append(order, 10, 11, 12)
	}
	short, long := sample(f, t, size, guessTokens/16), sample(f, t, size, guessTokens)
	if _, wrong := short.encodeAs(before, true); wrong == 0 && before.level > 0 {
		return before, true
	}
	all := func(level byte, exact bool) bool {
		for i := range byte(rules) {
			if bytes, wrong := long.encodeAs(writer{i, level}, exact); wrong >= 0 {
				best, known, long.most = writer{i, level}, true, bytes-1
				if wrong == 0 {
					return true
				}
			}
		}
		return false
	}
	for _, level := range append([]byte{before.level}, order...) {
		if all(level, true) {
			return best, true
		}
	}
	list := []writer{before}
	for _, level := range order {
		list = append(list, writer{gzipBlocks, level}, writer{libdeflateRules, level}, writer{olderLibdeflate, level})
		if level > 9 {
			list = append(list, writer{newerLibdeflate, level})
		}
	}
	short.most *= 20 // the rules may be others
	var likely []writer
	sizes := map[writer]int{}
	for i, w := range list {
		bytes, wrong := short.encodeAs(w, false)
		if wrong < 0 || slices.Contains(list[:i], w) {
			continue
		}
		likely, sizes[w] = append(likely, w), bytes
		slices.SortStableFunc(likely, func(a, b writer) int { return sizes[a] - sizes[b] })
		if len(likely) > mostLikely {
			likely = likely[:mostLikely]
			short.most = sizes[likely[mostLikely-1]] - 1
		}
	}
	for _, w := range likely {
		all(w.level, false)
	}
	return best, known
}

// sample returns the beginning of a frame of size bytes of the file: whole blocks with so many tokens. If these are guessTokens, the first
// segment is in it.
func sample(f *frame, t *template, size int64, tokens int) *task {
	part := *f
	part.to, part.parts = f.from, nil
	for i, n := 0, 0; i < len(f.parts); i++ {
		if n >= tokens && (tokens < guessTokens || len(f.ends) == 0 || part.to >= f.ends[0]+windowSize) {
			break
		}
		part.parts = f.parts[:i+1]
		part.to += f.parts[i].block.size
		n += len(f.parts[i].block.tokens)
	}
	share := size * int64(part.to-f.from+1) / int64(f.to-f.from+1)
	return &task{frame: &part, template: t, most: int(share/mostPart + mostBytes)}
}

// encodeAs returns how many bytes a sample by a writer takes, and how often the predictor is wrong; or -1, if that clearly is another one,
// or if it is wrong at all and exact is set.
func (t *task) encodeAs(w writer, exact bool) (bytes, wrong int) {
	if !w.valid() || w.isNear() && !t.nearBegins(w) {
		return 0, -1
	}
	f := *t.frame
	f.writer = w
	c := &task{frame: &f, template: t.template, most: t.most, exact: exact}
	if c.encode(nil); c.err != nil || len(c.code) > c.most {
		return 0, -1
	}
	return len(c.code), c.wrong
}

// nearBegins reports whether the first block ends where near would end it, unless it is stored. To parse it takes longer.
func (t *task) nearBegins(w writer) bool {
	i := slices.IndexFunc(t.parts, func(p part) bool { return p.block.size > 0 })
	z := newNear(w)
	z.begin(t.text, t.from, t.from)
	z.segment(append(slices.Clip(t.ends), far)[0])
	z.seek()
	return i < 0 || t.parts[i].event == eventStored || z.blockEnd-z.start == t.parts[i].block.size
}
