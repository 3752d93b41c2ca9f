//go:build !amd64

package entropy

// There is an assembly for amd64 alone. What follows is never called.
const (
	hasBMI2 = false
	hasAVX2 = false
)

func putVector(dst, src *[2]*byte, groups int, table *[pairTable]uint16, bits *[2]partBits) {
	panic("no assembly")
}

func countVector(tables *[2 * numParts][nearTable]uint32, parts *[numParts]*byte, groups int) (near bool) {
	panic("no assembly")
}
