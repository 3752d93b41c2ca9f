package seqs

// prefetch asks the processor to bring the lines of four tables to the cache. Unlike a load
// it holds nothing up until they are there.
//
//go:noescape
func prefetch(a, b *node, c, d *uint64)
