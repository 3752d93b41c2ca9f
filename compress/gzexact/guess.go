package gzexact

// How much of a frame is coded as each writer would, and what part of that the description may take, besides mostBytes.
const (
	guessText   = 192 << 10
	unknownPart = 10
)

// guess returns the writer as which the beginning of a frame takes the fewest bytes, or the first one that chose all of it, beginning with
// one that is likely. known is false if it would take too many, if the frame has size bytes of the file.
func guess(f *frame, t *template, likely writer, size int64) (best writer, known bool) {
	order := []byte{6, 5, 7, 4, 3, 2, 1, 8, 9}
	if len(t.header) > 8 { // what the header says of the level
		order = append(map[byte][]byte{2: {9}, 4: {1}}[t.header[8]], order...)
	}
	// The rules show later than the level.
	first := []writer{likely}
	for _, level := range order {
		first = append(first, writer{gzipBlocks, level}, writer{libdeflateRules, level})
	}
	best, _ = choose(f, t, size, guessText/4, first)
	all := []writer{likely}
	for _, level := range append([]byte{best.level}, order...) {
		for i := range byte(rules) {
			all = append(all, writer{(best.rules + i) % rules, level})
		}
	}
	return choose(f, t, size, guessText, append(all, writer{}))
}

// choose is guess for some writers and so much text. They are not looked at if they have no level, but for the last.
func choose(f *frame, t *template, size int64, text int, writers []writer) (best writer, known bool) {
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
	for i, w := range writers {
		if w.level == 0 && i < len(writers)-1 {
			continue
		}
		c := &task{frame: &frame{}, template: t, most: least}
		*c.frame = part
		c.writer = w
		if c.encode(nil); c.err == nil && len(c.code) <= least {
			best, known, least = w, true, len(c.code)-1
			if c.wrong == 0 {
				break
			}
		}
	}
	return best, known
}
