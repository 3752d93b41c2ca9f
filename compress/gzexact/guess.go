package gzexact

import "slices"

const (
	guessTokens = 160_000 // how many of a frame are coded as likely writers would; as the others, a 16th of them
	mostLikely  = 4
)

// guess codes the beginning of a frame as the writer as which it takes the fewest bytes, or the first one that chose all of it, beginning
// with the one before. It returns nil if it would take more than it may, if the frame has size bytes of the file.
func guess(f *frame, t *template, before writer, size int64) (best *task) {
	order := map[byte][]byte{2: {9, 8, 12, 11, 10}, 4: {1}}[t.header[8]] // what the header says of the level
	order = append(order, 6, 5, 7, 4, 3, 2, 1, 8, 9)
	if t.sizeAt > 0 { // that of BGZF says nothing
		order = append(order, 10, 11, 12)
	}
	short, long := sample(f, t, size, guessTokens/16), sample(f, t, size, guessTokens)
	if c := short.encodeAs(before, true); c != nil && before.level > 0 {
		return c
	}
	for _, level := range append([]byte{before.level}, order...) {
		for i := range byte(rules) {
			if c := long.encodeAs(writer{i, level}, true); c != nil {
				return c
			}
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
	var likely []*task
	for i, w := range list {
		if c := short.encodeAs(w, false); c != nil && !slices.Contains(list[:i], w) {
			likely = append(likely, c)
			slices.SortStableFunc(likely, func(a, b *task) int { return len(a.code) - len(b.code) })
			if len(likely) > mostLikely {
				likely = likely[:mostLikely]
				short.most = len(likely[mostLikely-1].code) - 1
			}
		}
	}
	for _, l := range likely {
		for i := range byte(rules) {
			if c := long.encodeAs(writer{i, l.writer.level}, false); c != nil {
				best, long.most = c, len(c.code)-1
			}
		}
	}
	return best
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

// encodeAs codes a sample as that of a writer. It returns nil if it clearly is another one's, or if exact is set and it is not wholly
// predicted.
func (t *task) encodeAs(w writer, exact bool) *task {
	if !w.valid() || w.isNear() && !t.nearBegins(w) {
		return nil
	}
	f := *t.frame
	f.writer = w
	c := &task{frame: &f, template: t.template, most: t.most, exact: exact}
	if c.encode(nil); c.err != nil || len(c.code) > c.most {
		return nil
	}
	return c
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
