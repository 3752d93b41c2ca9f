// Package compress is stage 2: it packs the bins of an archive and gives back the text of an archive, packed or not. What it exports is
// made in packages below it: packing, restoring, searching and describing; docs/ARCHITECTURE.md shows how they depend on each other.
// docs/FORMAT.md, section The packed archive, specifies what is written.
package compress

import (
	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/compress/archive"
	"orcomgo/compress/workers"
)

// Errors that can be tested for with errors.Is; those of both stages are the same.
var (
	ErrNotArchive = commit.ErrNotArchive
	ErrCorrupt    = parse.ErrCorrupt
	ErrVersion    = parse.ErrVersion
)

// Progress is told how far a stage has come: done of total, in bytes of text unless the stage says otherwise. It is called from any
// goroutine and must be cheap.
type Progress = workers.Progress

// Version is that of the format of packed archives.
const Version = archive.Version
