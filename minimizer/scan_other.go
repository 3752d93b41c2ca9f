//go:build !amd64

package minimizer

// findPacked is FindPacked.
func findPacked(packed []byte, n int, gaps []Gap) (sig, pos uint32, reverse bool) {
	return findPlain(packed, n, gaps)
}
