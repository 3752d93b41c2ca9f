package edits

import "math/bits"

// The class of a step, in which a base of the shared sequence is taken over or an edit begins, is
//
//	(level * runClasses + class of the run) * states + state
//
// With qualities, the level is the quality of the next base of the read; without, it follows from the distances between the edits
// before. The state says what came before: the kind of an edit, if the last step was one, or bases without an edit.
const (
	qualityLevels = 94
	rateLevels    = 16
)

// States.
const (
	afterMatch = iota // with qualities: whatever the distance of the last edit
	afterSubstitution
	afterInsertion
	afterDeletion
	qualityStates
	after4  = iota - 1 // without qualities: the last edit was 4 steps ago, or more; afterMatch: fewer
	after12            // and so on
	after40
	after120
	plainStates
)

// nearSteps are the numbers of steps after an edit with which the state changes, without qualities.
var nearSteps = [...]struct {
	steps uint32
	state uint32
}{{0, afterMatch}, {4, after4}, {12, after12}, {40, after40}, {120, after120}}

// levelOf gives the level by a quality byte.
var levelOf = func() (t [256]uint32) {
	for q := range t {
		t[q] = uint32(min(max(q-33, 0), qualityLevels-1)) * runClasses * qualityStates
	}
	return
}()

// classCount returns the number of classes.
func classCount(qualities bool) int {
	if qualities {
		return qualityLevels * runClasses * qualityStates
	}
	return rateLevels * runClasses * plainStates
}

// history is what the classes know of the edits of a read, without qualities.
type history struct {
	steps   uint32 // without an edit since the last one
	average uint32 // of the logarithms of steps, in 1/256
	first   uint32 // average with which a read begins
	near    int    // index in nearSteps
	next    uint32 // the steps with which near changes, or average
}

const longGap = 512 // steps after which average begins to follow them

func newHistory() history { return history{first: 8 << 8} }

// beginRead sets the history to that of a read's first base.
func (h *history) beginRead() {
	h.average = h.first
	h.beginPiece()
}

// endRead notes how frequent the edits of a read were.
func (h *history) endRead() { h.first += uint32(int32(h.average-h.first) >> 4) }

// beginPiece sets the history as if the last edit was far off.
func (h *history) beginPiece() {
	h.near = len(nearSteps) - 1
	h.steps, h.next = nearSteps[h.near].steps, longGap
}

// base returns the level, times what it counts in a class, and the state after bases without an edit.
func (h *history) base() uint32 {
	return h.level()*runClasses*plainStates + nearSteps[h.near].state
}

// rare reports whether edits have been more than 64 steps apart, about.
func (h *history) rare() bool { return h.average >= 6<<8 }

func (h *history) level() uint32 { return min(h.average*3>>9, rateLevels-1) }

// add notes n steps without an edit, at most next - steps.
func (h *history) add(n uint32) {
	h.steps += n
	if h.steps != h.next {
		return
	}
	if h.near < len(nearSteps)-1 {
		h.near++
		h.next = longGap
		if h.near < len(nearSteps)-1 {
			h.next = nearSteps[h.near+1].steps
		}
		return
	}
	h.average = max(h.average, logarithm(h.steps))
	h.next = 2 * h.steps
}

// edit notes an edit.
func (h *history) edit() {
	h.average += uint32(int32(logarithm(h.steps+1)-h.average) >> 3)
	h.steps, h.near, h.next = 0, 0, nearSteps[1].steps
}

// logarithm returns about 256 times the logarithm of n to base 2; n is at least 1.
func logarithm(n uint32) uint32 {
	l := uint(bits.Len32(n)) - 1
	return uint32(l<<8) | (n<<(31-l))>>23&255
}
