package minimizer

import "orcomgo/bases"

// reference returns the signature of a read straight from the definition: k-mers of length k
// (3..8, others are never admissible), skip zone in bases. FindPacked is tested against it. It takes
// time proportional to k times the length of the read. pos is the offset of the signature in the
// stored orientation and reverse is set if this is the reverse complement; both are zero when sig
// is None.
func reference(read []byte, k, skip int) (sig, pos uint32, reverse bool) {
	codes := make([]uint8, len(read))
	rc := make([]uint8, len(read))
	for i, c := range read {
		x := bases.Code(c)
		codes[i] = x
		if x < 4 {
			x = 3 - x
		}
		rc[len(read)-1-i] = x
	}
	fwd, fwdPos := smallest(codes, k, skip)
	rev, revPos := smallest(rc, k, skip)
	switch {
	case fwd == None && rev == None:
		return None, 0, false
	case fwd <= rev:
		return fwd, fwdPos, false
	}
	return rev, revPos, true
}

// smallest returns the smallest admissible k-mer of one orientation and where it is first.
func smallest(codes []uint8, k, skip int) (sig, pos uint32) {
	sig = None
	if k < 3 || k > K {
		return sig, 0
	}
	for i := 0; i+k+skip <= len(codes); i++ {
		v, ok := uint32(0), true
		for j, x := range codes[i : i+k] {
			if x > 3 || j >= 2 && x == codes[i+j-1] && x == codes[i+j-2] {
				ok = false
				break
			}
			v = v<<2 | uint32(x)
		}
		if ok && v < sig {
			sig, pos = v, uint32(i)
		}
	}
	return sig, pos
}
