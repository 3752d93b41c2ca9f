package compress

import "orcomgo/compress/archive"

// Versions returns the oldest version of packed archives that is read, and the newest, which is the one that is written of new bins.
func Versions() (oldest, newest int) { return archive.MinVersion, archive.Version }
