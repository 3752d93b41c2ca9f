package gzexact

// How much of a frame is coded as each writer would, and what part of that the description may take, besides mostBytes.
const (
	guessText   = 192 << 10
	unknownPart = 10
)

// guess returns the writer as which the beginning of a frame takes the fewest bytes, or the first one that chose all of it, beginning with
// one that is likely. known is false if it would take too many, if the frame has size bytes of the file.
func guess(f *frame, t *template, likely writer, size int64) (best writer, known bool) {
	hint := map[byte][]byte{2: {9}, 4: {1}}[t.header[8]] // what the header says of the level
	order := append(hint, 6, 5, 7, 4, 3, 2, 1, 8, 9, 10, 11, 12)
	// The rules show later than the level.
	list := []writer{likely}
	for _, level := range order {
		list = append(list, writer{gzipBlocks, level}, writer{libdeflateRules, level}, writer{olderLibdeflate, level})
	}
	best, _ = choose(f, t, size, guessText/4, list)
	list = []writer{likely}
	for i := range byte(rules) {
		list = append(list, writer{(best.rules + i) % rules, best.level})
	}
	best, wrong := choose(f, t, size, guessText, list)
	if wrong != 0 {
		list = []writer{best}
		for _, level := range order {
			list = append(list, writer{best.rules, level})
		}
		best, wrong = choose(f, t, size, guessText, list)
	}
	return best, wrong >= 0
}

// choose is guess for those of some writers that there are, and so much text. wrong is how often the predictor was, or -1 if none is known.
func choose(f *frame, t *template, size int64, text int, writers []writer) (best writer, wrong int) {
	part := *f
	part.to, part.parts = f.from, nil
	for i := range f.parts {
		if n := part.to - f.from; n >= text && (text < guessText || len(f.ends) == 0 || part.to >= f.ends[0]+windowSize) {
			break
		}
		part.parts = f.parts[:i+1]
		part.to += f.parts[i].block.size
	}
	share := size * int64(part.to-f.from+1) / int64(f.to-f.from+1)
	least := int(share/unknownPart + mostBytes)
	wrong = -1
	for _, w := range writers {
		if wrong == 0 || !w.valid() {
			continue
		}
		c := &task{frame: &frame{}, template: t, most: least}
		*c.frame = part
		c.writer = w
		if c.encode(nil); c.err == nil && len(c.code) <= least {
			best, wrong, least = w, c.wrong, len(c.code)-1
		}
	}
	return best, wrong
}
