package edits

import "math/bits"

// The class of a step, in which a base of the shared sequence is taken over or an edit begins, is
//
//	(level * runClasses + class of the run) * states + state
//
// With qualities, the level is the quality of the next base of the read; without, it follows from the distances between the edits before.
// The state is the kind of the edit, if the last step was one.
const (
	levels        = 96
	qualityLevels = 94
	rateLevels    = 16
)

// States.
const (
	afterMatch = iota
	afterSubstitution
	afterInsertion
	afterDeletion
	states
)

// classCount is the number of classes.
const classCount = levels * runClasses * states

// levelOf gives the level, times what it counts in a class, by a quality byte.
var levelOf = func() (t [256]uint32) {
	for q := range t {
		t[q] = uint32(min(max(q-33, 0), qualityLevels-1)) * runClasses * states
	}
	return
}()

// rateLevel has the levels without qualities, as the quality bytes of these levels: the same for all steps up to the next edit.
var rateLevel = func() (t [rateLevels][runsStep]byte) {
	for rate := range t {
		for i := range t[rate] {
			t[rate][i] = byte(33 + rate)
		}
	}
	return
}()

// history is what the levels follow from, without qualities.
type history struct {
	steps   int    // without an edit since the last one, or since the piece began
	average uint32 // of the logarithms of the numbers of steps between edits, in 1/256
	first   uint32 // average with which a read begins
}

func newHistory() history { return history{first: 8 << 8} }

// beginRead sets the history to that of a read's first base.
func (h *history) beginRead() { h.average = h.first }

// endRead notes how frequent the edits of a read were.
func (h *history) endRead() { h.first += uint32(int32(h.average-h.first) >> 4) }

// levels returns the levels of the next steps, as quality bytes.
func (h *history) levels() []byte { return rateLevel[min(h.average*3>>9, rateLevels-1)][:] }

// edit notes an edit.
func (h *history) edit() {
	h.average += uint32(int32(logarithm(uint32(h.steps)+1)-h.average) >> 3)
	h.steps = 0
}

// logarithm returns about 256 times the logarithm of n to base 2; n is at least 1.
func logarithm(n uint32) uint32 {
	l := uint(bits.Len32(n)) - 1
	return uint32(l<<8) | (n<<(31-l))>>23&255
}
