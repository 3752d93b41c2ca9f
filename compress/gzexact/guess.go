package gzexact

// How much of a frame is coded as each writer would, and what part of that the description may take, besides mostBytes.
const (
	guessText   = 192 << 10
	unknownPart = 10
)

// guess returns the writer as which the beginning of a frame takes the fewest bytes, or the first one that chose all of it, beginning with
// one that is likely. known is false if it would take too many, if the frame has size bytes of the file.
func guess(f *frame, t *template, likely writer, size int64) (best writer, known bool) {
	part := *f
	part.to, part.parts = f.from, nil
	for i := range f.parts {
		if text := part.to - f.from; text >= guessText && (len(f.ends) == 0 || part.to >= f.ends[0]+windowSize) {
			break
		}
		part.parts = f.parts[:i+1]
		part.to += f.parts[i].block.size
	}
	share := size * int64(part.to-f.from+1) / int64(f.to-f.from+1)
	least, exact := int(share/unknownPart+mostBytes), false
	try := func(family, level, rules byte) {
		if exact {
			return
		}
		g := part
		g.writer = writer{family, level, rules}
		c := &task{frame: &g, template: t, most: least}
		if c.encode(nil); c.err == nil && len(c.code) <= least {
			best, known, least, exact = g.writer, true, len(c.code)-1, c.wrong == 0
		}
	}
	if likely != (writer{}) {
		try(likely.family, likely.level, likely.rules)
	}
	levels := []byte{6, 5, 7, 4, 3, 2, 1, 8, 9}
	if len(t.header) > 8 { // what the header says of the level
		levels = append(map[byte][]byte{2: {9}, 4: {1}}[t.header[8]], levels...)
	}
	rules := rulesOf(f)
	for i := range byte(blockRules) {
		for _, l := range levels {
			try(familyZlib, l, (rules+i)%blockRules)
		}
		for _, l := range levels[:len(levels)*boolBit(i == 0)] {
			try(familyDeflate, l, 0)
		}
	}
	try(familyNone, 0, 0)
	return best, known
}

// rulesOf returns which rules the sizes of blocks suggest.
func rulesOf(f *frame) byte {
	rules := byte(zlibBlocks16K)
	if len(f.ends) > 0 && f.ends[0]-f.from == pigzPiece {
		rules = pigzBlocks
	}
	for i := range f.parts {
		p := &f.parts[i]
		switch n := len(p.block.tokens); {
		case n >= 1<<14:
			return gzipBlocks
		case n > 0 && n%(1<<12) == 0:
			rules = gzipBlocks
		case p.event == eventEmptyStored || p.event == eventEmptyStatic && !p.block.final:
			rules = pigzBlocks
		}
	}
	return rules
}
