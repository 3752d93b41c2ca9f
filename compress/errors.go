package compress

import (
	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
)

// Errors that can be tested for with errors.Is; those of both stages are the same.
var (
	ErrNotArchive = commit.ErrNotArchive
	ErrCorrupt    = parse.ErrCorrupt
	ErrVersion    = parse.ErrVersion
)
