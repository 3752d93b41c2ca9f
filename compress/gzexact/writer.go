package gzexact

// A predictor does what a writer of deflate does, with the same text, and says for each block and token what the writer would choose next.
// It is told what was chosen and goes on from there. Places are those of bytes in the text that begin was called with.
type predictor interface {
	// begin starts at the place to, after the text from place from on, to which matches may refer. If that is more than windowSize before,
	// it is less but for a multiple of windowSize.
	begin(text []byte, from, to int)
	// segment says where the writer flushes next: matches don't go past that. It begins or goes on at the next token.
	segment(end int)
	// ends reports whether the writer would end a block with these tokens before the next one. Without tokens a block begins.
	ends(tokens []token) bool
	// next returns the token that the writer would choose. It is called before each accept.
	next() token
	// accept goes past a token that was chosen.
	accept(t token)
	// place returns where the next token is.
	place() int
	// plan sets the kind of a block with these tokens, and its codes if it is dynamic.
	plan(tokens []token, as *block)
}

// writer says what wrote a stretch of a file: rules and a level. The zero value predicts nothing but literals.
type writer struct{ rules, level byte }

// How blocks end, and what a flush does.
const (
	gzipBlocks    = iota // gzip: 2^15 - 1 tokens, or fewer if they compress well
	zlibBlocks16K        // zlib: 2^14 - 1 tokens, with memLevel 8
	pigzBlocks           // the same, and each segment begins with the text before as a dictionary
	aloneBlocks          // the same, and each segment begins without the text before
	zlibBlocks32K        // 2^15 - 1 tokens: memLevel 9, which also has a larger hash
	libdeflateRules
	olderLibdeflate // before version 1.8
	newerLibdeflate // from version 1.19 on
	rules
)

var mostLevels = [rules]byte{9, 9, 9, 9, 9, 12, 4, 12}

func (w writer) valid() bool {
	return w == writer{} || w.rules < rules && w.level >= 1 && w.level <= mostLevels[w.rules]
}

func (w writer) predictor() predictor {
	switch {
	case w.isNear():
		return newNear(w)
	case w.rules >= libdeflateRules:
		return newLibdeflate(w)
	}
	return newZlib(w)
}

// isNear reports whether near predicts the writer.
func (w writer) isNear() bool { return int(w.level) >= len(libdeflateLevels) }

// isSequential reports whether the state of the writer depends on tokens of any distance before. That of others depends on the last 32 KiB
// of text and on the tokens since the last match.
func (w writer) isSequential() bool {
	return w.isNear() || w.rules < libdeflateRules && w.level >= 1 && w.level <= 3
}

// startsAnew reports whether each segment has a state that depends on nothing but text.
func (w writer) startsAnew() bool { return w.rules == pigzBlocks || w.rules == aloneBlocks }
