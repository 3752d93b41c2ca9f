//go:build !amd64

package seqs

// prefetch does nothing: it is about speed alone.
func prefetch(_, _ *node, _, _ *uint64) {}
