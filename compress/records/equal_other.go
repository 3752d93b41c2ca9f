//go:build !amd64

package records

// equalBytes returns at how many places a and b have the same byte. b is not longer than a.
func equalBytes(a, b []byte) int { return equalPlain(a, b) }
