package edits

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

const (
	// longestRun is the longest run of equal bases that the classes distinguish.
	longestRun = 8
	runClasses = 2 * longestRun // classes of bases by their run: its length less one, twice; 1 more if the base is not its first
	// ahead is how many bases of the shared sequence are read beyond the bases that a read has at least.
	ahead = 64
)

// template is an oriented stretch of the shared sequence that begins at an anchor, as long as it is needed.
type template struct {
	o       *Options
	anchor  uint64
	reverse bool
	room    int      // bases from the anchor to the end of the shared sequence
	bases   []byte   // the first ones, one a byte. If it has all of them, a base 0 follows that is not there
	known   int      // the classes of so many bases follow from bases
	equal   []uint64 // bit equalFrom + i: whether base i is equal to the one before; false where there are not both. A word more than that
	turned  []byte

	runs   []uint8 // the classes of some bases: see runsFrom
	runsAt int     // the first of these
}

// equalFrom is the first bit of equal that is of a base, so that bases before the first one can be asked for.
const equalFrom = 64

// begin sets the anchor, which is in the shared sequence, and reads n bases and some more.
func (t *template) begin(anchor uint64, reverse bool, n int) {
	t.anchor, t.reverse = anchor, reverse
	t.room = int(t.o.Bases - anchor)
	if reverse {
		t.room = int(anchor) + 1
	}
	t.bases, t.known, t.equal, t.runs = t.bases[:0], 0, append(t.equal[:0], 0), t.runs[:0]
	t.extend(n)
}

// complete reports whether there are no more bases than those read, and the one that is not there.
func (t *template) complete() bool { return len(t.bases) > t.room }

// extend reads n more bases, and some beyond them.
func (t *template) extend(n int) {
	at := len(t.bases)
	n = min(n+ahead, t.room-at)
	if t.reverse {
		t.turned = t.o.Source(t.turned[:0], int(t.anchor)-at-n+1, n)
		t.bases = slices.Grow(t.bases, n+1)[:at+n]
		dst := t.bases[at:]
		for i, b := range t.turned {
			dst[n-1-i] = 3 - b
		}
	} else {
		t.bases = t.o.Source(t.bases, int(t.anchor)+at, n)
	}
	t.compare(at)
	t.known = max(t.known, len(t.bases)-longestRun+1)
	if len(t.bases) == t.room {
		t.bases = append(t.bases, 0)
		t.known = len(t.bases)
	}
}

// equals returns 64 bits of equal, from base i on, which may be up to equalFrom before the first one.
func (t *template) equals(i int) uint64 {
	word, shift := (i+equalFrom)>>6, uint(i+equalFrom)&63
	return t.equal[word]>>shift | t.equal[word+1]<<1<<(63-shift)
}

// runsStep is how many bases runsFrom classifies at once.
const runsStep = 1 << 10

// runsFrom returns the classes of base i, which is known, and of some bases after it. They are valid until the next call.
func (t *template) runsFrom(i int) []uint8 {
	if k := i - t.runsAt; k >= 0 && k < len(t.runs) {
		return t.runs[k:]
	}
	t.runsAt = i
	t.classify(min(i+runsStep, t.known))
	return t.runs
}

// classify sets runs to the classes of the bases from runsAt to end-1.
func (t *template) classify(end int) {
	n := end - t.runsAt
	t.runs = slices.Grow(t.runs[:0], n+classStep)[:n+classStep-1] // whole steps are written
	// The class of the first base is that of the whole run that it is in.
	before := min(bits.LeadingZeros64(^t.equals(t.runsAt-63)), longestRun) // bases up to it that are equal to the one before
	after := bits.TrailingZeros64(^t.equals(t.runsAt + 1))
	class := uint8(2 * (min(before+after+1, longestRun) - 1))
	for i := 0; i < n; i += classStep {
		c := classesOf[t.equals(t.runsAt+i)&(1<<(classStep+longestRun-1)-1)]
		four := c.classes | c.inherited&(uint32(class|1)*0x01010101)
		binary.LittleEndian.PutUint32(t.runs[i:], four)
		class = uint8(four >> 24)
	}
	t.runs = t.runs[:n]
}

// classStep is how many bases classify takes at once.
const classStep = 4

// runClasses4 are the classes of four bases, the first lowest, for bases in runs that begin there; the bytes of the others are 0 and
// set in inherited.
type runClasses4 struct{ classes, inherited uint32 }

// classesOf gives the classes of four bases by whether they, and the bases after them, are equal to the base before.
var classesOf = func() (t [1 << (classStep + longestRun - 1)]runClasses4) {
	for equal := range t {
		for i, class := 0, -1; i < classStep; i++ {
			switch {
			case equal>>i&1 == 0:
				class = 2 * min(bits.TrailingZeros(^uint(equal>>(i+1))), longestRun-1)
				t[equal].classes |= uint32(class) << (8 * i)
			case class < 0:
				t[equal].inherited |= 0xff << (8 * i)
			default:
				t[equal].classes |= uint32(class|1) << (8 * i)
			}
		}
	}
	return
}()

// compare sets equal for the bases from base at on.
func (t *template) compare(at int) {
	n := len(t.bases)
	t.equal = append(t.equal, make([]uint64, (n+equalFrom)>>6+3-len(t.equal))...)
	t.bases = slices.Grow(t.bases, 2*64)
	for word := at >> 6; word<<6 < n; word++ {
		bases := t.bases[word<<6:][:64+1] // what is beyond the bases does not matter
		before := uint64(bases[0]) ^ 1
		if word > 0 {
			before = uint64(t.bases[word<<6-1])
		}
		equal := uint64(0)
		for k := 0; k < 64; k += 8 {
			b := binary.LittleEndian.Uint64(bases[k:])
			x := b ^ (b<<8 | before)
			x = ^(x | x>>1) & 0x0101010101010101
			equal |= x * 0x0102040810204080 >> 56 << k
			before = b >> 56
		}
		t.equal[word+equalFrom>>6] = equal
	}
	t.equal[(n+equalFrom)>>6] &= 1<<(n&63) - 1
}
