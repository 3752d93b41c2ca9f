package entropy

import "orcomgo/internal/deflate"

// A decoder's table entry is a symbol above lengthBits bits of its code's length. So bits can be shifted by a whole entry, of
// which only the lowest six bits count, and the lengths of five entries can be added up in the same way.

// source is the stored parts of a stream, which lie one after another.
type source struct {
	data []byte
	ends [numParts]int // in bits
	at   [numParts]int // in bits, where each part is read
}

// fast reports whether there are eight bytes from the place on where each part is read. They may be those of another part:
// if a part uses them, it does not end where it should.
func (s *source) fast() bool {
	last := len(s.data) - 8
	return s.at[0]>>3 <= last && s.at[1]>>3 <= last && s.at[2]>>3 <= last && s.at[3]>>3 <= last
}

// bits returns the bits of a part from where it is read, 57 of them or up to the end of all parts.
func (s *source) bits(part int) uint64 { return deflate.Peek(s.data, s.at[part]) }

// ended reports whether each part was read up to its end, but for zeros that fill its last byte.
func (s *source) ended() bool {
	for i, at := range s.at {
		if at > s.ends[i] || at+8 <= s.ends[i] || at < s.ends[i] && s.data[at>>3]>>(at&7) != 0 {
			return false
		}
	}
	return true
}

// getOrder0 decodes the parts. It reports whether the source is what an encoder stores of them.
func getOrder0(dst *[numParts][]byte, s *source, table *[codeSpace]uint16) bool {
	var bad uint16
	done := 0
	for ; done+perStore <= len(dst[3]) && s.fast(); done += perStore {
		d0, d1, d2, d3 := five(dst[0][done:]), five(dst[1][done:]), five(dst[2][done:]), five(dst[3][done:])
		x0, x1, x2, x3 := s.bits(0), s.bits(1), s.bits(2), s.bits(3)
		var n0, n1, n2, n3 uint16
		for j := range perStore {
			e0 := table[x0&(codeSpace-1)]
			e1 := table[x1&(codeSpace-1)]
			e2 := table[x2&(codeSpace-1)]
			e3 := table[x3&(codeSpace-1)]
			x0, x1, x2, x3 = x0>>(e0&63), x1>>(e1&63), x2>>(e2&63), x3>>(e3&63)
			n0, n1, n2, n3 = n0+e0, n1+e1, n2+e2, n3+e3
			d0[j], d1[j], d2[j], d3[j] = uint8(e0>>lengthBits), uint8(e1>>lengthBits), uint8(e2>>lengthBits), uint8(e3>>lengthBits)
			bad |= e0 | e1 | e2 | e3
		}
		s.skip(n0, n1, n2, n3)
	}
	for i, d := range dst {
		for j := done; j < len(d); j++ {
			e := table[s.bits(i)&(codeSpace-1)]
			bad |= e
			d[j] = uint8(e >> lengthBits)
			s.at[i] += int(e & 63)
		}
	}
	return bad&badCode == 0 && s.ended()
}

// getOrder1 decodes the parts, whose first symbols are there. It reports whether the source is what an encoder stores of them.
func getOrder1(dst *[numParts][]byte, s *source, table *[128 * codeSpace]uint16) bool {
	e0, e1, e2, e3 := first(dst[0]), first(dst[1]), first(dst[2]), first(dst[3])
	done := 1
	for ; done+perStore <= len(dst[3]) && s.fast(); done += perStore {
		d0, d1, d2, d3 := five(dst[0][done:]), five(dst[1][done:]), five(dst[2][done:]), five(dst[3][done:])
		x0, x1, x2, x3 := s.bits(0), s.bits(1), s.bits(2), s.bits(3)
		var n0, n1, n2, n3 uint16
		for j := range perStore {
			e0 = table[after(e0, x0)]
			e1 = table[after(e1, x1)]
			e2 = table[after(e2, x2)]
			e3 = table[after(e3, x3)]
			x0, x1, x2, x3 = x0>>(e0&63), x1>>(e1&63), x2>>(e2&63), x3>>(e3&63)
			n0, n1, n2, n3 = n0+e0, n1+e1, n2+e2, n3+e3
			d0[j], d1[j], d2[j], d3[j] = uint8(e0>>lengthBits), uint8(e1>>lengthBits), uint8(e2>>lengthBits), uint8(e3>>lengthBits)
		}
		s.skip(n0, n1, n2, n3)
	}
	ok := true
	for i, e := range [numParts]uint16{e0, e1, e2, e3} {
		for j := done; j < len(dst[i]); j++ {
			e = table[after(e, s.bits(i))]
			dst[i][j] = uint8(e >> lengthBits)
			s.at[i] += int(e & 63)
		}
		ok = ok && e>>lengthBits != 0
	}
	return ok && s.ended()
}

// skip goes on by the lengths of five codes of each part.
func (s *source) skip(n0, n1, n2, n3 uint16) {
	s.at[0] += int(n0 & 63)
	s.at[1] += int(n1 & 63)
	s.at[2] += int(n2 & 63)
	s.at[3] += int(n3 & 63)
}

// first returns an entry of the first symbol of a part.
func first(part []byte) uint16 { return uint16(part[0]) << lengthBits }

// after returns where in table1 the code at the beginning of x is, after the symbol of e.
func after(e uint16, x uint64) uint32 {
	return (uint32(e)>>lengthBits<<maxLength | uint32(x)&(codeSpace-1)) & (128*codeSpace - 1)
}

func five(dst []byte) *[perStore]byte { return (*[perStore]byte)(dst) }
