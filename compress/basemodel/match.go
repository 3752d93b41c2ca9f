package basemodel

import (
	"math/bits"

	"orcomgo/bases"
	"orcomgo/internal/largepages"
)

// kmers is a table of the last place of each k-mer on either strand.
type kmers struct {
	slots []uint32 // place of the last base << 1 | canonical form is the reverse complement; zero is empty
	shift uint
}

// matches is what lanes know of the bases that they have passed, and their matches, by lane. It is laid out for the assembler.
//
// A match predicts that the bases that followed an earlier occurrence of the last bases follow again, on either
// strand, and continues past differences (a "tolerant" context, as in GeCo3; Silva et al., GigaScience 2020).
// The confidence of its predictions depends on which of the last 32 bases it predicted rightly; bases before it began count as
// if it had predicted them.
type matches struct {
	place   [numLanes]uint32 // of the next base in the history
	forward [numLanes]uint64 // the last bases, newest lowest
	reverse [numLanes]uint64 // their reverse complement, newest highest

	source    [numLanes]uint32 // place in the history of the predicted base; 0 without a match
	direction [numLanes]uint32 // 1, or -1 on the other strand; 0: there is no match
	predicted [numLanes]uint32 // base; 4 without a match
	misses    [numLanes]uint32 // bit i: the base 31-i ago was not as predicted; all of them without a match
	missed    [numLanes]uint32 // how many of these there are
	run       [numLanes]uint32 // bases since the last of these

	// A k-mer's slot is read a base after its end, and the place it holds is tried another base later: by then the cache lines
	// have been fetched.
	slot   [numLanes]uint32 // of the k-mer that ended with the last base; noSlot before a lane has passed one
	turned [numLanes]uint32 // 1: its canonical form is its reverse complement
	// found is what the slot of the k-mer before it held, with the lowest bit changed if that one was turned; up to 1: nothing, as no match
	// begins at place 0.
	found [numLanes]uint32
	//lint:ignore U1000 memory of the assembler
	sixteen [numLanes]uint32 // bases of the history, with the predicted one
}

const (
	matchLen    = 13 // bases that are equal where a match begins
	maxSlotBits = 22
	noSlot      = 1<<32 - 1
	allMissed   = 1<<32 - 1
	everyBase   = bases.LowBits
	// A match ends after more than maxMisses in 32 bases, and does not begin with more than startMisses.
	maxMisses   = 20
	startMisses = 13
)

const (
	matchClasses = 8  // of matches, each with weights of its own; 0 is no match
	runLengths   = 15 // groups of bases since the last miss
	matchNodes   = 4 * (1 + runLengths*16)
)

// matchState says how reliable a match is.
type matchState struct {
	class uint32 // of the weights
	state uint32 // of the nodes of the match, from 1 on
}

// stateOf returns the state of a match by the number of bases since the last miss and the number of misses in 32 bases.
func stateOf(run, missed uint32) matchState {
	group := min(run, 3+run/2, 6+run/4)
	return matchState{class: classOf[min(run/8, 2)][missClass(missed)], state: 1 + group<<4 + min(missed, 15)}
}

// classOf are the classes of matches, by bases since the last miss, in eights, and missClass.
var classOf = [3][4]uint32{{1, 3, 5, 6}, {1, 3, 7, 4}, {1, 2, 3, 4}}

// missClass returns how many misses in 32 bases a match has, in four classes.
func missClass(missed uint32) int {
	switch {
	case missed == 0:
		return 0
	case missed <= 2:
		return 1
	case missed <= 8:
		return 2
	}
	return 3
}

// makeTable makes an empty table for about n bases.
func (t *kmers) makeTable(n int) {
	b := slotBits(n)
	t.slots, t.shift = largepages.Make[uint32](1<<b), uint(32-b)
	for i := 0; i < len(t.slots); i += pageSlots {
		t.slots[i] = 0 // maps all pages at once, in order; otherwise each is mapped at its first read and again at its first write
	}
}

// pageSlots is how many slots a page of memory has, if it is a small one.
const pageSlots = 1 << 10

func slotBits(n int) int { return min(max(bits.Len(uint(n)), 10), maxSlotBits) }

// grow makes a larger table of the n bases of hist with room for another `more`.
func (t *kmers) grow(hist *history, n, more int) {
	t.makeTable(n + more)
	var h, r uint64
	for i := range n {
		h, r = shiftIn(h, r, hist.at(i))
		if i >= matchLen-1 && indexed(i) {
			slot, turned := t.kmer(h, r)
			t.slots[slot] = uint32(i)<<1 | turned
		}
	}
}

// indexed reports whether the k-mer that ends at place i is entered in the table: every second one is, which is enough as all are
// looked up.
func indexed(i int) bool { return i&1 == 0 }

// kmer returns the slot of the k-mer that the last bases end with, and 1 if its canonical form is its reverse complement.
func (t *kmers) kmer(forward, reverse uint64) (slot, turned uint32) {
	f, g := uint32(forward&(1<<(2*matchLen)-1)), uint32(reverse>>(2*(registerBases-matchLen)))
	if g < f {
		turned = 1
	}
	return min(f, g) * kmerFactor >> t.shift, turned
}

// kmerFactor spreads k-mers over the slots: 2^32 by the golden ratio (Knuth, The Art of Computer Programming 3, section 6.4).
const kmerFactor = 0x9e3779b1

// startLane has lane l begin at a place, with nothing that it knows.
func (m *Model) startLane(l, place int) {
	m.place[l], m.forward[l], m.reverse[l], m.slot[l], m.turned[l], m.found[l] = uint32(place), 0, 0, noSlot, 0, 0
	m.noMatch(l)
}

// noMatch ends the match of lane l.
func (m *matches) noMatch(l int) {
	m.source[l], m.direction[l], m.misses[l], m.missed[l], m.run[l] = 0, 0, allMissed, registerBases, 0
}

// passPlain is passVector in plain Go.
func (m *Model) passPlain() {
	for l := range numLanes {
		if m.active[l] != 0 {
			m.pass(l)
			m.prepare(l)
		}
	}
}

// pass moves lane l past its base.
func (m *Model) pass(l int) {
	b := uint32(m.bases[l])
	m.append(l, b)
	m.hist.set(int(m.place[l]), b)
	m.place[l]++
	m.follow(l, b)
	if m.found[l] > 1 && m.missed[l] > 0 {
		m.try(l)
	}
	m.found[l] = 0
	if slot := m.slot[l]; slot != noSlot {
		m.found[l] = m.slots[slot] ^ m.turned[l]
		if end := m.place[l] - 2; indexed(int(end)) {
			m.slots[slot] = end<<1 | m.turned[l]
		}
	}
	m.slot[l], m.turned[l] = m.kmer(m.forward[l], m.reverse[l])
}

// append appends a base to those that lane l has passed.
func (m *matches) append(l int, b uint32) {
	m.forward[l], m.reverse[l] = shiftIn(m.forward[l], m.reverse[l], b)
}

// follow moves the match of lane l, if there is one, past base b.
func (m *Model) follow(l int, b uint32) {
	miss := uint32(0)
	m.run[l] = min(m.run[l]+1, registerBases)
	if m.predicted[l] != b {
		miss, m.run[l] = 1, 0
	}
	m.missed[l] += miss - m.misses[l]&1
	m.misses[l] = m.misses[l]>>1 | miss<<31
	m.source[l] += m.direction[l]
	if m.missed[l] > maxMisses || int(m.source[l]) >= m.size {
		m.noMatch(l)
	}
}

// try has lane l follow the earlier k-mer that was found, on either strand, if it has fewer misses than the match there
// is. Two bases of the lane follow the k-mer.
func (m *Model) try(l int) {
	last, strand, direction, with := int(m.found[l]>>1)+2, int(m.found[l]&1), 1, ^m.reverse[l]
	from := last - (registerBases - 1) // the place of those that correspond to the last bases
	if strand != 0 {
		last -= matchLen - 1 + 4
		from, direction, with = last, -1, ^m.forward[l]
	}
	if from < 0 || from+registerBases > m.size || uint(last+direction) >= uint(m.size) {
		return
	}
	differ := m.hist.from(from) ^ with
	differ = (differ | differ>>1) & everyBase
	n := uint32(bits.OnesCount64(differ))
	if n > startMisses || n >= m.missed[l] {
		return
	}
	misses := uint32(0)
	for i := range registerBases {
		misses |= uint32(differ>>(2*i)&1) << i
	}
	if strand != 0 {
		misses = bits.Reverse32(misses)
	}
	m.source[l], m.direction[l] = uint32(last+direction), uint32(direction)
	m.misses[l], m.missed[l], m.run[l] = misses, n, uint32(bits.LeadingZeros32(misses))
}

// prepare sets what the predictor needs of lane l.
func (m *Model) prepare(l int) {
	m.last[l], m.strand[l] = uint32(m.forward[l]), uint32(m.reverse[l]<<2>>(2*(registerBases-strandBases)))
	if m.direction[l] == 0 {
		m.predicted[l], m.match[l], m.joint[l], m.set[l] = 4, 0, m.last[l]&15, 0
		return
	}
	b := m.hist.at(int(m.source[l])) ^ m.direction[l]>>30 // the complement on the other strand
	s := stateOf(m.run[l], m.missed[l])
	m.predicted[l], m.match[l], m.joint[l], m.set[l] = b, 4*s.state+b, (4*s.class-3+b)<<4|m.last[l]&15, s.class
}
