package gzexact

import "math"

// guessText is how much text of a frame is coded as each writer would.
const guessText = 192 << 10

// guess returns the writer as which the beginning of a frame takes the fewest bytes, or the first one that chose all of it, beginning with
// one that is likely. unknown reports whether it takes too many, if the frame has size bytes of the file.
func guess(f *frame, t *template, likely writer, size int64) (best writer, unknown bool) {
	part := *f
	part.to, part.parts = f.from, nil
	for i := range f.parts {
		if part.to-f.from >= guessText {
			break
		}
		part.parts = f.parts[:i+1]
		part.to += f.parts[i].block.size
	}
	least, exact := math.MaxInt, false
	try := func(w writer) {
		if exact {
			return
		}
		g := part
		g.writer, g.carriedOn = w, false
		c := &task{frame: &g, template: t, most: least}
		if c.encode(nil); c.err == nil && len(c.code) < least {
			best, least, exact = w, len(c.code), c.wrong == 0
		}
	}
	try(likely)
	try(writer{})
	levels := []byte{6, 5, 7, 4, 3, 2, 1, 8, 9}
	if len(t.header) > 8 { // what the header says of the level
		levels = append(map[byte][]byte{2: {9}, 4: {1}}[t.header[8]], levels...)
	}
	for _, l := range levels {
		try(writer{familyZlib, l, rulesOf(f)})
	}
	for r := byte(0); r < blockRules && best.family == familyZlib; r++ {
		try(writer{familyZlib, best.level, r})
	}
	for _, l := range levels {
		try(writer{familyDeflate, l, 0})
	}
	share := size * int64(part.to-f.from+1) / int64(f.to-f.from+1)
	return best, int64(least) > share/unknownPart+mostBytes
}

// rulesOf returns which rules the sizes of blocks suggest.
func rulesOf(f *frame) byte {
	rules := byte(zlibBlocks16K)
	if len(f.ends) > 0 && f.ends[0].at-f.from == pigzPiece {
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
