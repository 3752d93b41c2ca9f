//go:build !amd64

package entropy

// There is an assembly for amd64 alone. What follows is never called.
const hasBMI2 = false

func putVector(dst, src *[2]*byte, groups int, table *[pairTable]uint16, bits *[2]partBits) {
	panic("no assembly")
}
