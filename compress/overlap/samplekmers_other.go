//go:build !amd64

package overlap

var hasAVX512 = false

func sampleVector(*uint64, *uint64, *byte, int, int, int, uint64, uint64) int {
	panic("this processor has no such instructions")
}
