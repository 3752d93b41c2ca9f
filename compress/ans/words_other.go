//go:build !amd64

package ans

func encode(decisions []uint16, states *[Lanes]uint32, bits uint) int {
	return encodePlain(decisions, states, bits)
}
