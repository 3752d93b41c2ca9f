package inflate

import "orcomgo/internal/deflate"

// repeatMul and repeatStep are for matches nearer than 8 bytes: the bytes up to the distance
// times repeatMul are 8 bytes of their repetition. After so many bytes as repeatStep says the
// next 8 are the same.
var (
	repeatMul  [8]uint64
	repeatStep = [8]int{0, 8, 8, 6, 8, 5, 6, 7}
)

func init() {
	for d := 1; d < 8; d++ {
		for i := 0; i < 8; i += d {
			repeatMul[d] |= 1 << (8 * i)
		}
	}
}

// fastPlain decodes symbols of a block as bytes, or as symbols of 16 bits if d.wide is set, as long as there are 8 bytes of input to
// load and the limit is not reached. It stops behind the end of the block, and before what is invalid.
func (d *decoder) fastPlain() {
	in, out, t := d.in, d.out, d.t
	wide := 0 // bits by which to shift a number of symbols to get bytes
	if d.wide {
		wide = 1
	}
	pos := d.bit>>3 + 7
	bb := deflate.Load64(in, pos-7) >> (d.bit & 7)
	nb := uint(56 - d.bit&7) // what bb holds above is the same as the bytes at pos
	n, limit := d.n, d.limit
	low := d.low
	last := len(in) - 8
	for n < limit && pos <= last {
		bb |= deflate.Load64(in, pos) << (nb & 63)
		pos += int((63 - nb) >> 3 & 7)
		nb |= 56
		n0, nb0 := n, nb // where this round began
		var length int
		e := t.lit[bb&(1<<litBits-1)]
		if e&entrySpecial == 0 {
			bb >>= e & 15
			nb -= uint(e & 15)
			storeLiterals(out, n, e, wide)
			n += int(e>>entryLiterals&3) << (wide & 1)
			if e&entryLength == 0 {
				// 45 bits are left: enough for another entry of the table, and a distance.
				e = t.lit[bb&(1<<litBits-1)]
				if e&entrySpecial != 0 {
					continue
				}
				bb >>= e & 15
				nb -= uint(e & 15)
				storeLiterals(out, n, e, wide)
				n += int(e>>entryLiterals&3) << (wide & 1)
				if e&entryLength == 0 {
					continue
				}
			}
			length = int(e>>24&(maxEntry-1)) + 3
		} else {
			if e&kindMask == kindSub {
				bb >>= litBits
				nb -= litBits
				e = t.litSub[int(e>>8&0xffff)+int(bb&(1<<(e&15)-1))]
			}
			bb >>= e & 15
			nb -= uint(e & 15)
			if e&entrySpecial == 0 {
				storeLiterals(out, n, e, wide)
				n += int(e>>entryLiterals&3) << (wide & 1)
				continue
			}
			switch e & kindMask {
			case kindExtra:
				extra := e >> 16
				length = int(e>>8&255) + int(bb&(1<<(extra&15)-1)) + 3
				bb >>= extra & 15
				nb -= uint(extra)
			case kindEnd:
				d.bit, d.n = pos*8-int(nb), n
				d.place = atBlock
				return
			default:
				d.bit, d.n = pos*8-int(nb0), n0
				return
			}
		}
		f := t.dist[bb&(1<<distBits-1)]
		if f&(distSub|distInvalid) != 0 {
			if f&distSub != 0 {
				bb >>= distBits
				nb -= distBits
				f = t.distSub[int(f>>16)+int(bb&(1<<(f>>8&15)-1))]
			}
			if f&distInvalid != 0 {
				d.bit, d.n = pos*8-int(nb0), n0
				return
			}
		}
		dist := (int(f>>16) + int(bb&(1<<(f&63)-1)>>(f>>8&15))) << (wide & 1)
		bb >>= f & 63
		nb -= uint(f & 63)
		if dist > n-low {
			d.bit, d.n = pos*8-int(nb0), n0
			return
		}
		src, end := n-dist, n+length<<(wide&1)
		if dist >= 8 {
			deflate.Store64(out, n, deflate.Load64(out, src))
			deflate.Store64(out, n+8, deflate.Load64(out, src+8))
			deflate.Store64(out, n+16, deflate.Load64(out, src+16))
			deflate.Store64(out, n+24, deflate.Load64(out, src+24))
			for n += 32; n < end; n += 8 {
				src += 8
				deflate.Store64(out, n, deflate.Load64(out, src+24))
			}
		} else {
			v := deflate.Load64(out, src) & (1<<(8*dist&63) - 1) * repeatMul[dist&7]
			step := repeatStep[dist&7]
			for n < end {
				deflate.Store64(out, n, v)
				n += step
			}
		}
		n = end
	}
	d.bit, d.n = pos*8-int(nb), n
}

// storeLiterals stores the up to three literals of an entry, as symbols of 16 bits if wide is not 0.
func storeLiterals(out []byte, n int, e uint32, wide int) {
	if wide == 0 {
		deflate.Store32(out, n, e>>8)
	} else {
		deflate.Store64(out, n, uint64(e>>8&255|e&(255<<16))|uint64(e>>24)<<32)
	}
}
