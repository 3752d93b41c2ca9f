package entropy

// bitsAt returns bits of src from bit number at on, 57 of them at least, with zeros after the end.
func bitsAt(src []byte, at int) uint64 {
	i := at >> 3
	if i+8 <= len(src) {
		return load64(src[i:]) >> (at & 7)
	}
	var x uint64
	for j := len(src) - 1; j >= i; j-- {
		x = x<<8 | uint64(src[j])
	}
	return x >> (at & 7)
}

// ended reports whether the bits before bit number at are all of src, but for zeros that fill its last byte.
func ended(src []byte, at int) bool {
	return (at+7)/8 == len(src) && (at%8 == 0 || src[len(src)-1]>>(at%8) == 0)
}

// getOrder0 decodes a part into dst. It reports whether src is what an encoder stores of dst.
func getOrder0(dst, src []byte, table *[codeSpace]uint16) bool {
	at := 0
	bad := uint16(0)
	for i := range dst {
		e := table[bitsAt(src, at)&(codeSpace-1)]
		bad |= e
		dst[i] = uint8(e >> symbolShift)
		at += int(e & lengthMask)
	}
	return bad&badCode == 0 && ended(src, at)
}

// getOrder1 decodes a part into dst, whose first symbol is there. It reports whether src is what an encoder stores of dst.
func getOrder1(dst, src []byte, table *[128 * codeSpace]uint16) bool {
	at := 0
	before := int(dst[0])
	for i := 1; i < len(dst); i++ {
		e := table[before<<maxLength|int(bitsAt(src, at)&(codeSpace-1))]
		before = int(e >> symbolShift)
		dst[i] = uint8(before)
		at += int(e & lengthMask)
	}
	return before != 0 && ended(src, at)
}
