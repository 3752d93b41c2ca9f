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
	room    int     // bases from the anchor to the end of the shared sequence
	bases   []byte  // the first ones, one a byte. If it has all of them, a base 0 follows that is not there
	runs    []uint8 // of the first bases, their class by run. They are fewer than bases, unless it has all
	class   uint8   // of the last one of runs
	equal   []uint64
	turned  []byte
}

// begin sets the anchor, which is in the shared sequence, and reads n bases and some more.
func (t *template) begin(anchor uint64, reverse bool, n int) {
	t.anchor, t.reverse = anchor, reverse
	t.room = int(t.o.Bases - anchor)
	if reverse {
		t.room = int(anchor) + 1
	}
	t.bases, t.runs = t.bases[:0], t.runs[:0]
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
	end := len(t.bases) - longestRun + 1
	if len(t.bases) == t.room {
		end = t.room
	}
	t.classify(end)
	if len(t.bases) == t.room {
		t.bases = append(t.bases, 0)
		t.runs = append(t.runs, 0)
	}
}

// classify sets the classes of the bases before end. Up to longestRun - 1 bases follow it, fewer only if the shared sequence ends there.
func (t *template) classify(end int) {
	at := len(t.runs)
	if end <= at {
		return
	}
	t.compare(at)
	t.runs = slices.Grow(t.runs, end-at+classStep)[:end+classStep-1] // whole steps are written
	class := t.class
	for i := at; i < end; i += classStep {
		word, shift := (i-at)>>6, uint(i-at)&63
		equal := t.equal[word]>>shift | t.equal[word+1]<<1<<(63-shift)
		c := classesOf[equal&(1<<(classStep+longestRun-1)-1)]
		four := c.classes | c.inherited&(uint32(class|1)*0x01010101)
		binary.LittleEndian.PutUint32(t.runs[i:], four)
		class = uint8(four >> 24)
	}
	t.runs = t.runs[:end]
	t.class = t.runs[end-1]
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

// compare sets equal: bit j says whether the base at+j is equal to the one before. The first base of all and those after the last one
// are not.
func (t *template) compare(at int) {
	n := len(t.bases) - at
	t.bases = slices.Grow(t.bases, 8)
	bases := t.bases[:len(t.bases)+8] // what is beyond the bases does not matter
	words := n>>6 + 2
	t.equal = append(t.equal[:0], make([]uint64, words)...)
	for j := 0; j < n; j += 8 {
		b := binary.LittleEndian.Uint64(bases[at+j:])
		before := b<<8 | uint64(3-b&3)
		if at+j > 0 {
			before = binary.LittleEndian.Uint64(bases[at+j-1:])
		}
		x := b ^ before
		x = ^(x | x>>1) & 0x0101010101010101
		t.equal[j>>6] |= x * 0x0102040810204080 >> 56 << (j & 63)
	}
	t.equal[n>>6] &= 1<<(n&63) - 1
}
