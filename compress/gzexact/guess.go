package gzexact

// guessText is how much text of a frame is coded as each writer would.
const guessText = 256 << 10

// guess returns the writer as which the beginning of a frame takes the fewest bytes.
func guess(f *frame, t *template) writer {
	part := *f
	part.to, part.parts = f.from, nil
	for i := range f.parts {
		if part.to-f.from >= guessText {
			break
		}
		part.parts = f.parts[:i+1]
		part.to += f.parts[i].block.size
	}
	best, least := writer{}, cost(&part, t, writer{})
	try := func(w writer) {
		if c := cost(&part, t, w); c < least {
			best, least = w, c
		}
	}
	levels := []byte{6, 5, 7, 4, 8, 9, 1, 2, 3}
	for _, l := range levels {
		try(writer{familyZlib, l, rulesOf(f)})
	}
	if l := best.level; best.family == familyZlib {
		for r := range byte(blockRules) {
			try(writer{familyZlib, l, r})
		}
	}
	if least*mostPart > part.to-part.from {
		for _, l := range levels {
			try(writer{familyDeflate, l, 0})
		}
		if best.family == familyDeflate {
			try(writer{familyDeflate, best.level, 1})
		}
	}
	return best
}

// cost returns how many bytes the description of a frame takes.
func cost(f *frame, t *template, w writer) int {
	g := *f
	g.writer, g.carriedOn = w, false
	c := &task{frame: &g, template: t}
	c.encode(nil)
	return len(c.code)
}

// rulesOf returns which rules the sizes of blocks suggest.
func rulesOf(f *frame) byte {
	rules := byte(zlibBlocks16K)
	for i := range f.parts {
		switch n := len(f.parts[i].block.tokens); {
		case n >= 1<<14:
			return gzipBlocks
		case n > 0 && n%(1<<12) == 0:
			rules = gzipBlocks
		case f.parts[i].event == eventEmptyStored || f.parts[i].event == eventEmptyStatic && !f.parts[i].block.final:
			rules = pigzBlocks
		}
	}
	return rules
}
