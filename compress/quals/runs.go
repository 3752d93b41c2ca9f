package quals

// The class of a base is what the qualities know of it: runsOf.
const (
	runBits    = 6 // of a class: the length of the run, less 1, of at most 8, and the place in it, at most 7
	longestRun = 8
)

// baseOf is the code of a letter: 0 to 3, or 4 for what is no base.
var baseOf = func() (t [256]uint8) {
	for i := range t {
		t[i] = 4
	}
	for i, b := range []byte("ACGT") {
		t[b], t[b|0x20] = uint8(i), uint8(i)
	}
	return
}()

// runsOf returns the classes of the bases of a read, in the memory of dst, and one more, which is 0: the run of equal bases that each
// is in, its place in that run, and the base.
func runsOf(dst []uint16, bases []byte) []uint16 {
	dst = dst[:0]
	for i := 0; i < len(bases); {
		b := baseOf[bases[i]]
		n := 1
		for i+n < len(bases) && baseOf[bases[i+n]] == b {
			n++
		}
		class := uint16(b)<<runBits | uint16(min(n, longestRun)-1)<<3
		for k := range n {
			dst = append(dst, class|uint16(min(k, longestRun-1)))
		}
		i += n
	}
	return append(dst, 0)
}
