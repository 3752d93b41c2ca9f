package gzexact

import "fmt"

// A predictor does what a writer of deflate does, with the same text, and says for each block and token what the writer would choose next.
// It is told what was chosen and goes on from there. Places are those of bytes in the text that begin was called with.
type predictor interface {
	// begin starts at the place to, after the text from place from on, to which matches may refer.
	begin(text []byte, from, to int)
	// rebase continues in another text, in which what was at place n is at place n - by.
	rebase(text []byte, by int)
	// segment says where the writer flushes next: matches don't go past that. It is fresh unless a segment goes on, or begin was just
	// called.
	segment(end int, fresh bool)
	// block starts a block.
	block()
	// ends reports whether the writer would end the block before the next token.
	ends() bool
	// next returns the token that the writer would choose. It is called once before each accept.
	next() token
	// accept goes past a token that was chosen.
	accept(t token)
	// plan sets the kind of a block with the tokens of b, and its codes if it is dynamic.
	plan(b *block, as *block)
}

// Families of writers.
const (
	familyNone    = iota // predicts nothing but literals
	familyZlib           // zlib, also in pigz and bgzip, and gzip
	familyDeflate        // libdeflate
	families
)

// How zlib and gzip end blocks, and what a flush does.
const (
	zlibBlocks16K = iota // 2^14 - 1 tokens: memLevel 8
	zlibBlocks32K        // 2^15 - 1 tokens: memLevel 9, which also has a larger hash
	gzipBlocks           // gzip: 2^15 - 1 tokens, or fewer if they compress well
	pigzBlocks           // as memLevel 8, and each segment begins with the text before as a dictionary
	blockRules
)

// writer says what wrote a stretch of a file. rules are of zlib only.
type writer struct {
	family, level, rules byte
}

func (w writer) valid() bool {
	switch w.family {
	case familyNone:
		return w.level == 0 && w.rules == 0
	case familyZlib:
		return w.level >= 1 && w.level <= 9 && w.rules < blockRules
	case familyDeflate:
		return w.level >= 1 && w.level <= 9 && w.rules == 0
	}
	return false
}

// String names the writer as its users do.
func (w writer) String() string {
	switch w.family {
	case familyZlib:
		name := [blockRules]string{"zlib -%d", "zlib -%d, memLevel 9", "gzip -%d", "pigz -%d"}[w.rules]
		return fmt.Sprintf(name, w.level)
	case familyDeflate:
		return fmt.Sprintf("libdeflate -%d", w.level)
	}
	return "unknown"
}

func (w writer) predictor() predictor {
	switch w.family {
	case familyZlib:
		return newZlib(w)
	case familyDeflate:
		return newLibdeflate(w)
	}
	return newZlib(writer{familyZlib, 0, zlibBlocks16K})
}

// isSequential reports whether the state of the writer depends on tokens of any distance before. That of others depends on the last 32 KiB
// of text and on the tokens since the last match.
func (w writer) isSequential() bool { return w.family == familyZlib && w.level <= 3 }
