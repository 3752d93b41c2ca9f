package quals

import (
	"sync"

	"orcomgo/compress/ans"
)

// A model predicts the ranks of symbols. It is an additive logistic model: each of several features of the history of a read chooses a line
// of 8 slots, and the sum of slot k of these lines is the logit, in 1/2048 octaves, of stopping at rank k when ranks below k are excluded.
// All slots of the sum learn together: they move by the error of the prediction, which is the gradient of the coded size (online logistic
// regression). Ranks from 8 on are coded in further rounds: which group of 8 ranks it is, and which rank of that.
type model struct {
	ranks *ranks
	kind  kind
	bits  uint   // log2 of the lines of a feature in region 0
	slots []line // by region and feature: see lineIn
	steps uint32 // so far
	rate  uint32 // of learning
	span  uint32 // of dither
}

const (
	numFeatures = 5
	lineSlots   = 8 // outcomes of a round, but for the last one
	lineBytes   = 2 * lineSlots

	// lastFeature is the feature that is the last symbol alone. Its slots are set by the frequencies of symbols at first.
	lastFeature = 4

	minLineBits = 10 // each last symbol has a line in all regions
	lessBits    = 2  // of the lines of other regions

	// firstFurther is the first feature that further rounds have. With all, short reads take as many bytes, and more time.
	firstFurther = 1
)

// line is the slots of one feature in one context.
type line [lineSlots]int16

// round is predictions side by side: one for each of n entries, which are lanes. It is laid out for the assembler.
type round struct {
	at    [numFeatures][numLanes]uint32       // where in the slots the lines start, in bytes
	going [numLanes][lineSlots]uint16         // probability of going on at each outcome, in 1/65536
	bound [numLanes + 1][2 * lineSlots]uint16 // the upper half: the share of outcomes above k. The rest is 0
	rank  [numLanes]uint32                    // the outcome that is coded, at most 8
	exist [lineSlots]uint16                   // all ones for outcomes after which there is another one
	n     int                                 // entries
	first int                                 // feature; those before it have no lines
}

// unusedSlots are those of models that are not used again. A model takes a MB or more, and there are many: slices, and samples of a batch,
// may be small.
var unusedSlots sync.Pool

// release gives the memory of a model to later ones. It must not be used again.
func (m *model) release() {
	slots := m.slots // of its own, since that of the model changes
	m.slots = nil
	unusedSlots.Put(&slots)
}

func takeSlots(n int) []line {
	if s, ok := unusedSlots.Get().(*[]line); ok && cap(*s) >= n {
		return (*s)[:n]
	}
	return make([]line, n)
}

// newModel returns the model of a column of total symbols.
func newModel(t *ranks, total int, k kind) *model {
	m := &model{ranks: t, kind: k, bits: k.lineBits(total)}
	m.slots = takeSlots(int(m.lineIn(m.regionOf(m.groups()), firstFurther, 0)))
	clear(m.slots)
	for last := range t.values {
		first := func(region uint32, from, to, some int) {
			at := m.lineIn(region, lastFeature, uint32(last)<<lessBits)
			t.first(&m.slots[at], last, from, min(to, len(t.values)), some)
		}
		first(0, 0, len(t.values), 1)
		for k := range m.groupRounds() {
			first(1+k, lineSlots*int(1+lineSlots*k), len(t.values), lineSlots)
		}
		for g := range m.groups() {
			first(m.regionOf(g), lineSlots*int(1+g), lineSlots*int(2+g), 1)
		}
	}
	return m
}

// groups returns how many groups of 8 the ranks from 8 on are in. There are none if rank 8 is the last: then it is the last outcome of the
// first round.
func (m *model) groups() uint32 {
	if len(m.ranks.values) <= lineSlots+1 {
		return 0
	}
	return uint32(len(m.ranks.values)-1) / lineSlots
}

// groupRounds returns in how many rounds the last group is found: each tells 8 groups from all later ones.
func (m *model) groupRounds() uint32 { return (m.groups() + lineSlots - 2) / lineSlots }

// regionOf returns the region of the lines of the ranks of a group. There are regions of lines: 0 for the first round, one for each
// round of groups, and one for the ranks of each group.
func (m *model) regionOf(group uint32) uint32 { return 1 + m.groupRounds() + group }

// lineIn returns where the line of a feature is in a region, of which its number in region 0 is given.
func (m *model) lineIn(region, feature, line uint32) uint32 {
	if region == 0 {
		return feature<<m.bits + line
	}
	return numFeatures<<m.bits + ((region-1)*(numFeatures-firstFurther)+feature-firstFurther)<<(m.bits-lessBits) + line>>lessBits
}

// lineBits returns log2 of the lines of a feature for a column of total symbols: not many more than it can use. More lines would compress
// better, but exceed the cache: models of many values have further rounds.
func (k kind) lineBits(total int) uint {
	b, most := uint(minLineBits), uint(13)
	if k == smooth {
		most = 12
	}
	for b < most && total>>b > 4 {
		b++
	}
	return b
}

// clone returns a copy that learns by itself.
func (m *model) clone() *model {
	c := *m
	c.slots = takeSlots(len(m.slots))
	copy(c.slots, m.slots)
	return &c
}

// Rates of learning, in 1/2^16 of an error of 1/2^15: they fall from the first to the last, every rateSteps steps.
const (
	firstRate = 400
	lastRate  = 80
	rateHalf  = 80 // after so many falls half of the difference is left
	rateSteps = 256
)

// setRate sets the rate of the next step, and of those until one after which it falls.
func (m *model) setRate() {
	if m.steps%rateSteps == 0 {
		m.rate = lastRate + (firstRate-lastRate)*rateHalf/(rateHalf+min(m.steps/rateSteps, 1<<16))
		m.span = 65536 / m.rate
	}
}

// nextDither begins a step and returns its dither, a number below 65536 / rate, which makes the rounding of small movements unbiased.
func (m *model) nextDither() int32 {
	m.steps++
	return int32(m.steps * 40503 & 0xffff * m.span >> 16)
}

// predictPlain sets what each entry predicts.
func predictPlain(slots []line, r *round) {
	for i := range r.n {
		var logits [lineSlots]int16
		for f := r.first; f < numFeatures; f++ {
			l := &slots[r.at[f][i]/lineBytes]
			for k, v := range l {
				logits[k] = ans.Saturate(int32(logits[k]) + int32(v))
			}
		}
		d := &r.going[i]
		for k := range d {
			d[k] = -ans.Logistic(logits[k])
		}
		s := *d // products: the share of ranks above k
		for k := 1; k < lineSlots; k += 2 {
			s[k] = ans.MulHigh(s[k-1], s[k])
		}
		for k := 2; k < lineSlots; k += 4 {
			s[k], s[k+1] = ans.MulHigh(s[k-1], s[k]), ans.MulHigh(s[k-1], s[k+1])
		}
		for k := 4; k < lineSlots; k++ {
			s[k] = ans.MulHigh(s[3], s[k])
		}
		b := r.bound[i][lineSlots:]
		for k := range b {
			b[k] = (ans.MulHigh(s[k], 65536-lineSlots) + uint16(lineSlots-k)) & r.exist[k]
		}
	}
}

// learnPlain moves the slots of each entry.
func learnPlain(slots []line, r *round, rate, dither int32) {
	for i := range r.n {
		var steps [lineSlots]int32
		rank := r.rank[i]
		for k := range steps {
			if k := uint32(k); k <= rank {
				e := int32(r.going[i][k] >> 1)
				if k < rank {
					e -= 32767
				}
				steps[k] = int32(ans.Saturate(e+dither)) * rate >> 16
			}
		}
		for f := r.first; f < numFeatures; f++ {
			l := &slots[r.at[f][i]/lineBytes]
			for k := range l {
				l[k] = ans.Saturate(int32(l[k]) + steps[k])
			}
		}
	}
}
