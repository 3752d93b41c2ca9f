//go:build !amd64

package binning

// There are vector instructions for amd64 alone. What follows is never called.
const hasAVX2 = false

func packVector(dst, seq *byte, n int) int { panic("no vector instructions") }

func qualsVector(dst, src *byte, n int) bool { panic("no vector instructions") }

func newlinesVector(dst *uint32, room int, text *byte, n int, offset uint32) (found, scanned int) {
	panic("no vector instructions")
}
