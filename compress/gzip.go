package compress

import (
	"io"

	"orcomgo/compress/gzexact"
)

// KnownGzip reads the beginning of a gzip file. The error says why the file can't be made again of its text. It may be seen
// later, too, when bins that have the file are packed.
func KnownGzip(file io.Reader) error { return gzexact.Known(file) }
