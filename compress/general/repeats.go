package general

import (
	"encoding/binary"
	"math/bits"
)

const (
	usualBytes = 6 // that begin a repeat, at least
	leastBytes = 4 // likewise, where elements have so many
	longRepeat = 8 // from this length on, no other repeat is looked for
	mostRepeat = 1 << 16
	mostCredit = 6
	maxPlaces  = 17 // bits of the number of a place

	lengthClasses = 16
	histories     = 16 // the last four expectations
)

// repeats finds where the bytes before the next one occurred.
type repeats struct {
	places   []int32 // the last place after bytes with a hash
	shift    int     // of the hash
	least    int     // bytes that begin a repeat
	from     int     // of the byte that is expected, -1 if none is
	length   int     // bytes that were as expected, those included by which the repeat was found
	credit   int     // how many bytes longer another repeat has to be: how well this one did before bytes that were not as expected
	history  int     // whether the last bytes were as expected, a bit for each, the last one lowest
	distance int     // to the last repeat that was found
	steps    [2]int  // how much farther each repeat is than the one before: one that led to a repeat, and the last one
}

func newRepeats(size, least int) repeats {
	logSize := min(bits.Len(uint(size)), maxPlaces)
	return repeats{places: make([]int32, 1<<logSize), shift: 64 - logSize, least: least, from: -1}
}

// find finds what is expected of byte i, given the eight bytes before it. If it is noise, nothing else is expected than before.
func (r *repeats) find(text []byte, i int, before uint64, noise bool) {
	if i < r.least || (noise || r.length >= longRepeat) && i%4 != 0 {
		return
	}
	place := r.place(before)
	if at := int(*place); !noise && r.length < longRepeat && at != r.from {
		if n := common(text, at, i); n >= r.least && n > r.length+r.credit {
			r.from, r.length, r.credit = at, n, 0
			if d := i - at; d != r.distance {
				r.steps[1] = d - r.distance
				r.distance = d
			}
		}
	}
	*place = int32(i)
}

// place returns where the last place after the given eight bytes is kept.
func (r *repeats) place(before uint64) *int32 {
	return &r.places[before<<(64-8*r.least)*0x9E3779B97F4A7C15>>(r.shift&63)]
}

// common returns how many bytes before two places are equal, up to 2*longRepeat. The first place is 0 if there is none.
func common(text []byte, a, b int) int {
	n := 0
	for n < 2*longRepeat && a >= n+8 {
		x := binary.LittleEndian.Uint64(text[a-n-8:]) ^ binary.LittleEndian.Uint64(text[b-n-8:])
		if x != 0 {
			return n + bits.LeadingZeros64(x)/8
		}
		n += 8
	}
	for n < 2*longRepeat && a > n && text[a-n-1] == text[b-n-1] {
		n++
	}
	return n
}

// learn goes on to byte i, after a byte that was as expected (hit is 1) or not. After one that was not, what follows in a row of a
// symmetric matrix may be in a column before: as much farther from what was found last as that was from what was found before it.
func (r *repeats) learn(text []byte, i int, last byte, hit int) {
	r.from++
	r.history = (r.history<<1 | hit) % histories
	if hit == 1 {
		r.length = min(r.length+1, mostRepeat)
		return
	}
	r.credit = min(r.credit-r.credit>>2+r.length, mostCredit)
	r.length = 0
	for k, step := range r.steps {
		d := r.distance + step
		if at := i - d; step != 0 && at > 0 && at < i && text[at-1] == last {
			r.from, r.length, r.distance, r.steps[0] = at, 1, d, r.steps[k]
			return
		}
	}
}

// lengthClass returns the class of a length: below 8 the length, and coarser above.
func lengthClass(n int) int {
	if n < 8 {
		return n
	}
	return min(4+bits.Len(uint(n)), lengthClasses-1)
}

// class returns the class of the repeat.
func (r *repeats) class() int { return lengthClass(r.length)*histories + r.history }
