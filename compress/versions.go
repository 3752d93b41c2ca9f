package compress

import "orcomgo/compress/archive"

// Versions returns the oldest version of packed archives that is read, and the newest that is read and written.
func Versions() (oldest, newest int) { return archive.MinVersion, archive.Version }
