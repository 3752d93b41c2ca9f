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

// runsOf returns the classes of n bases of a read from one on, in the memory of dst: the run of equal bases that each is in, its place in
// that run, and the base.
func runsOf(dst []uint16, bases []byte, from, n int) []uint16 {
	before := min(from, longestRun) // so many bases more at both ends are enough to know them
	bases = bases[from-before : min(from+n+longestRun, len(bases))]
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
	return dst[before:][:n]
}
