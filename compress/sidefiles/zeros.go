package sidefiles

import "sync"

// isZero reports whether all bytes are 0.
func isZero(text []byte) bool {
	for _, b := range text {
		if b != 0 {
			return false
		}
	}
	return true
}

// zeroBlock codes blocks of zeros, all of the same size: one of them, which the others are equal to. Images of disks and files with
// holes may have thousands.
type zeroBlock struct {
	once   sync.Once
	method method
	bytes  []byte
}

// code returns the method of a block of zeros, which is one that is decoded fast, and its code, which must not be changed.
func (z *zeroBlock) code(text []byte) (method, []byte) {
	z.once.Do(func() { z.method, z.bytes = smallest(text, nil, methodDoubles) })
	return z.method, z.bytes
}
