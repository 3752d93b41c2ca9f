//go:build !amd64

package minimizer

// findPacked is FindPacked.
func findPacked(packed []byte, n int, gaps []Gap) (sig, pos uint32, reverse bool) {
	return findPlain(packed, n, gaps)
}

// stretch is scan.
func (b *best) stretch(packed []byte, start, end, n int, onlyAA bool) {
	b.scan(packed, start, end, n, onlyAA)
}
