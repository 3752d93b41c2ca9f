package edits

import (
	"fmt"
	"math/bits"

	rc "orcomgo/compress/rangecoder"
)

// The gaps of a class are the numbers of steps of that class between edits. They are coded class after class. Their distribution is
// close to a geometric one, so the model scales each gap by the mean of the class.

const (
	scales      = 24 // trees, by the mean of a class: its size up to 4, then its leading bits
	gapBits     = 4
	gapMost     = 1<<gapBits - 1 // symbol: at least so many units
	firstMean   = 256
	gapMemory   = 255 // gaps that the mean of a class remembers
	notAGap     = ^uint32(0)
	meanScale   = 4 // means are in 1/16
	largestUnit = 24
)

// gapModel codes the gaps of one class after another.
type gapModel struct {
	count [2]*rc.Number // of gaps of a class, by whether the class of the same state before has any
	tree  [scales]rc.Tree
	mean  [states]uint64 // by state: of the last class with gaps, in 1/16
	some  [states]int    // by state: whether the last class has gaps
}

func newGapModel() *gapModel {
	m := new(gapModel)
	for i := range m.count {
		m.count[i] = rc.NewNumber()
	}
	for i := range m.tree {
		m.tree[i] = rc.NewTree(gapBits)
	}
	for i := range m.mean {
		m.mean[i] = firstMean << meanScale
	}
	return m
}

// class codes the gaps of the next class, of which the state is given. When decoding, the gaps are appended to gaps, of which
// there may be at most so many in all; otherwise they are those of the class.
func (m *gapModel) class(c *rc.Coder, state int, gaps []uint32, most int) ([]uint32, error) {
	n := 0
	if !c.Decoding() {
		n = len(gaps)
	}
	n = int(m.count[m.some[state]].Code(c, uint32(n), shortMemory))
	m.some[state] = rc.BitOf(n > 0)
	if n == 0 {
		return gaps, nil
	}
	if c.Decoding() && n > most-len(gaps) {
		return gaps, fmt.Errorf("%w: too many edits", ErrCorrupt)
	}
	mean := m.mean[state]
	sum, number := mean>>meanScale, uint64(1) // steps and gaps that the mean is of
	for i := range n {
		gap, left := uint32(0), uint32(0)
		if !c.Decoding() {
			left = gaps[i]
		}
		for {
			unit, scale := 0, 0
			switch size := bits.Len64(mean); {
			case size <= 2:
				scale = int(mean)
			case size <= 6:
				scale = size<<2 | int(mean>>(size-3)&3) - 8
			default:
				unit = min(size-7, largestUnit)
				scale = 20 | int(mean>>(size-3)&3)
			}
			v := m.tree[scale].Code(c, min(left>>unit, gapMost), longMemory)
			step := v << unit
			if v < gapMost {
				step |= c.Uniform(left&(1<<unit-1), unit)
			}
			if gap+step < gap || gap+step == notAGap {
				return gaps, fmt.Errorf("%w: a gap is too long", ErrCorrupt)
			}
			gap, left, sum = gap+step, left-step, sum+uint64(step)
			if v < gapMost {
				break
			}
			mean = sum << meanScale / number
		}
		if number++; number > gapMemory {
			sum, number = sum>>1, number>>1
		}
		mean = sum << meanScale / number
		if c.Decoding() {
			gaps = append(gaps, gap)
			if c.Dec.Left() < -16 {
				return gaps, fmt.Errorf("%w: gaps are cut off", ErrCorrupt)
			}
		}
	}
	m.mean[state] = mean
	return gaps, nil
}
