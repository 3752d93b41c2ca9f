package basemodel

import (
	"encoding/binary"
	"slices"
)

// Packed bases have two bits each, base i in byte i/4 at bits 2*(i%4). padBytes follow them, so that unpack may read eight
// bytes at a time.
const (
	padBytes = 16
	padBases = 4 * padBytes
	// unpackStep is how many bases unpack takes at once: those of eight bytes less the three that may precede the first one, in
	// whole bytes.
	unpackStep = 28
)

// packedLen returns how many bytes n packed bases take, with the bytes after them.
func packedLen(n int) int { return (n+3)/4 + padBytes }

// Pack packs bases, numbers 0 to 3, one a byte, from the first bit of dst on, which is 0 where they go: base i in byte i/4 at bits 2*(i%4).
func Pack(dst, bases []byte) {
	const step = 16
	for ; len(bases) >= step; bases, dst = bases[step:], dst[step/4:] {
		b := bases[:step]
		binary.LittleEndian.PutUint32(dst, packFour(b)|packFour(b[4:])<<8|packFour(b[8:])<<16|packFour(b[12:])<<24)
	}
	for i, v := range bases {
		dst[i/4] |= v << (2 * (i % 4))
	}
}

// packFour packs the first four bases. Base i moves from bit 8*i to bit 24 + 2*i.
func packFour(bases []byte) uint32 {
	return binary.LittleEndian.Uint32(bases) * (1<<24 | 1<<18 | 1<<12 | 1<<6) >> 24
}

// fourBases gives the four bases of a byte, one a byte, the first lowest.
var fourBases = func() (t [256]uint32) {
	for b := range uint32(256) {
		t[b] = b&3 | b>>2&3<<8 | b>>4&3<<16 | b>>6&3<<24
	}
	return
}()

// unpack appends n bases from base pos on of packed ones to dst.
func unpack(dst, packed []byte, pos, n int) []byte {
	at := len(dst)
	dst = slices.Grow(dst, n+unpackStep)[:at+n+unpackStep] // whole steps are written
	for end := at + n; at < end; at, pos = at+unpackStep, pos+unpackStep {
		w, d := binary.LittleEndian.Uint64(packed[pos>>2:])>>(2*uint(pos&3)), dst[at:at+unpackStep]
		for i := 0; i < unpackStep; i, w = i+4, w>>8 {
			binary.LittleEndian.PutUint32(d[i:], fourBases[byte(w)])
		}
		n -= unpackStep
	}
	return dst[:at+n]
}

// samePacked reports whether n bases of a and of b, from bases i and j on, are equal.
func samePacked(a []byte, i int, b []byte, j, n int) bool {
	for ; n > 0; i, j, n = i+unpackStep, j+unpackStep, n-unpackStep {
		x := binary.LittleEndian.Uint64(a[i>>2:]) >> (2 * uint(i&3))
		y := binary.LittleEndian.Uint64(b[j>>2:]) >> (2 * uint(j&3))
		if (x^y)<<(64-2*min(n, unpackStep)) != 0 {
			return false
		}
	}
	return true
}
