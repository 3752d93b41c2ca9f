package numbers

import (
	"math"
	"math/bits"

	rc "orcomgo/compress/rangecoder"
)

// plan is how a column is coded.
type plan struct {
	low    int64 // the smallest value
	bits   int   // of the largest value less the smallest one; 0 to 62
	inputs []input
}

// likeRows returns for each row up to rows the last one before it that has the same values in the columns of key, or -1.
func likeRows(values [][]int64, key []int, rows int) []int32 {
	list := make([]int32, rows)
	logSize := bits.Len(uint(rows)) + 1
	type entry struct {
		hash uint64
		row  int32
	}
	entries := make([]entry, 1<<logSize)
	for r := range rows {
		h := uint64(1)
		for _, c := range key {
			h = mix(h, uint64(values[c][r]))
		}
		h |= 1
		at := h >> (64 - logSize)
		for entries[at].hash != h && entries[at].hash != 0 {
			at = (at + 1) & (1<<logSize - 1)
		}
		list[r] = -1
		if entries[at].hash == h {
			list[r] = entries[at].row
		}
		entries[at] = entry{h, int32(r)}
	}
	return list
}

// predictor is a model of a column at work.
type predictor struct {
	*input
	like     []int32
	refs     [][]int64
	floats   []bool                      // whether refs are Float32
	probs    [][levels * classes]rc.Prob // of a prediction, by bit
	contexts *contexts                   // of a context
	value    int64                       // what it predicts for this row, less the smallest value
	class    int                         // bits of the mean error
	error    uint64
	hash     uint64
}

const (
	levels  = 32 // of the distance of a prediction from the middle of the interval
	classes = 8  // of the mean error relative to the interval
	// A bit whose probability by the leading model is less than this, or as close to 1, is coded by that model alone; in 1/65536.
	sure = 192
	// The least probability in 1/65536 by which it codes a bit, so that a row takes at least 1/3000 of a bit (see Decode).
	leastSure = 16
)

// coder codes a column.
type coder struct {
	*plan
	values   []int64
	float32s bool
	numbers  []*predictor // those that predict the value
	contexts []*predictor
	mixer    *mixer
	limits   [maxInputs]uint32
}

// table are the columns of a table: those that the models of a column use are complete.
type table struct {
	shapes []Shape
	values [][]int64
	likes  *likeCache
}

// newCoder returns a coder of column i of a table. Its values may be incomplete. rows is how many will be coded.
func (t *table) newCoder(p *plan, i int, values []int64, rows int) *coder {
	c := &coder{plan: p, values: values, float32s: t.shapes[i].Float32}
	logLines := min(max(bits.Len(uint(rows)*uint(p.bits+3)/4), 7), maxLogLines)
	for i := range p.inputs {
		in := &p.inputs[i]
		d := &predictor{input: in}
		if in.kind.usesKey() && len(in.key) > 0 {
			d.like = t.likes.get(in.key)
		}
		for _, x := range in.refs {
			d.refs, d.floats = append(d.refs, t.values[x]), append(d.floats, t.shapes[x].Float32)
		}
		if in.kind == context {
			// No line has the check 0, so that the probabilities need no first value.
			d.contexts = &contexts{make([][16]rc.Prob, 1<<logLines), 64 - logLines}
			c.contexts = append(c.contexts, d)
			continue
		}
		d.probs = newProbs(p.bits)
		c.numbers = append(c.numbers, d)
	}
	n := len(c.numbers) + len(c.contexts)
	for i := range n {
		c.limits[i] = hashLimit
		if i < len(c.numbers) {
			c.limits[i] = numberLimit
		}
	}
	c.mixer = newMixer(n, max(p.bits, 1)+classes*classes)
	return c
}

// newProbs returns the probabilities of a prediction of values of so many bits.
func newProbs(n int) [][levels * classes]rc.Prob {
	list := make([][levels * classes]rc.Prob, max(n, 1))
	for i := range list {
		rc.FillProbs(list[i][:])
	}
	return list
}

// toInt converts a prediction to an integer that differences don't overflow with.
func toInt(f float64) int64 {
	if f > 1<<61 {
		return 1 << 61
	}
	if f > -1<<61 {
		return int64(math.Floor(f + 0.5))
	}
	return -1 << 61 // NaN as well
}

// at returns a value of the column, or the smallest value before the first row.
func (c *coder) at(r int) int64 {
	if r < 0 {
		return c.low
	}
	return c.values[r]
}

// predict computes what a model needs for row r.
func (c *coder) predict(d *predictor, r int) {
	var v int64
	similar := r - 1
	if d.like != nil && d.like[r] >= 0 {
		similar = int(d.like[r])
	}
	switch d.kind {
	case like:
		v = c.at(similar)
	case line:
		v = c.at(r-1) + (c.at(r-1) - c.at(r-2))
	case likeSum:
		for _, y := range d.refs {
			v += y[r] - valueOr(y, similar)
		}
		v = c.at(similar) + d.factor*v
	case likeRatio:
		x := d.floats[0]
		f := float64(numberOf(c.at(similar), c.float32s)*numberOf(d.refs[0][r], x)) / numberOf(valueOr(d.refs[0], similar), x)
		v = valueOf(f, c.float32s)
	case quotient:
		v = toInt(float64(d.a*float64(d.refs[0][r])) / float64(d.refs[1][r]))
	case context:
		h := uint64(d.parts)
		for _, x := range d.refs {
			h = mix(h, uint64(x[r]))
		}
		if d.parts&partPrevious != 0 {
			h = mix(h, uint64(c.at(r-1)))
		}
		if d.parts&partSecond != 0 {
			h = mix(h, uint64(c.at(r-2)))
		}
		d.hash = h
		return
	}
	d.value = min(max(v-c.low, -1), 1<<c.bits)
	d.class = bits.Len64(d.error >> 4)
}

// numberOf returns the number that is coded as a value.
func numberOf(v int64, float32s bool) float64 {
	if float32s {
		return float64(math.Float32frombits(Float32Bits(v)))
	}
	return float64(v)
}

// valueOf is the inverse of real.
func valueOf(f float64, float32s bool) int64 {
	if float32s {
		if math.IsNaN(f) {
			return 0 // the bits of a NaN depend on the platform
		}
		return OrderedFloat32(math.Float32bits(float32(f)))
	}
	return toInt(f)
}

func valueOr(x []int64, r int) int64 {
	if r < 0 {
		return 0
	}
	return x[r]
}

// learn updates the models with the value of row r.
func (c *coder) learn(r int) {
	v := c.values[r]
	for _, d := range c.numbers {
		e := v - c.low - d.value
		if e < 0 {
			e = -e
		}
		// The mean of the last errors, in 1/16.
		d.error = d.error - d.error>>3 + min(uint64(e), 1<<58)<<1
	}
}

// farLevel is the distance, in 1/16 of half the interval, from which on levels are the same.
const farLevel = 4097

// levelOf is by that distance.
var levelOf [farLevel + 1]uint8

func init() {
	for t := range levelOf {
		l := t
		switch {
		case t >= farLevel:
			l = 15
		case t > 256:
			l = 14
		case t > 64:
			l = 13
		case t > 32:
			l = 12
		case t > 24:
			l = 11
		case t > 16:
			l = 10
		case t > 12:
			l = 9
		case t > 8:
			l = 8
		case t > 6:
			l = 7
		case t > 4:
			l = 6 - rc.BitOf(t == 5)
		}
		levelOf[t] = uint8(l)
	}
}

// level returns the class of the distance of a prediction from the middle of an interval of 2^(k+1) values.
func level(d int64, k int) int {
	sign := d >> 63
	t := uint64(d ^ sign - sign)
	if k >= 4 {
		t >>= (k - 4) & 63
	} else {
		t <<= (4 - k) & 63
	}
	return int(sign&16) + int(levelOf[min(t, farLevel)])
}

// at returns the probability of the bit k, given where its interval is.
func (d *predictor) at(middle int64, k int) (p *rc.Prob, class int) {
	class = min(max(d.class-k+3, 0), classes-1)
	return &d.probs[k&63][uint8(level(d.value-middle, k)*classes+class)], class
}

// leader returns the model whose last errors were the smallest, the first one of several, or nil if there is none.
func (c *coder) leader() *predictor {
	var lead *predictor
	for _, d := range c.numbers {
		if lead == nil || d.class < lead.class {
			lead = d
		}
	}
	return lead
}

// isSure reports whether a bit of probability p, in 1/65536, is coded by the leader alone.
func isSure(p uint32) bool { return p-sure > 1<<rc.ProbBits-2*sure }

// clampSure returns the probability by which a bit is coded that the leader is sure of.
func clampSure(p uint32) uint32 { return min(max(p, leastSure), 1<<rc.ProbBits-leastSure) }

// code codes the value of row r.
func (c *coder) code(rg *rc.Coder, r int) {
	for _, d := range c.numbers {
		c.predict(d, r)
	}
	for _, d := range c.contexts {
		c.predict(d, r)
	}
	lead := c.leader()
	u := uint64(c.values[r] - c.low)
	prefix := uint64(0) // of the value less the smallest one; its other bits are 0
	m := c.mixer
	// Pointers are kept on the stack, where the garbage collector needs no barriers.
	var probs [maxInputs]*rc.Prob
	var lines [maxInputs]*[16]rc.Prob
	numbers, limits := c.numbers, c.limits[:m.n]
	contexts := lines[:len(c.contexts)]
	group := c.bits // the bit at which the lines begin
	for k := c.bits - 1; k >= 0; k-- {
		middle := int64(prefix + 1<<k)
		if lead != nil {
			p, _ := lead.at(middle, k)
			if q := p.P(); isSure(q) {
				bit := rg.Bit(int(u>>k&1), clampSure(q))
				p.Update(bit, numberLimit)
				prefix |= uint64(bit) << k
				continue
			}
		}
		below := (c.bits - 1 - k) & 3 // bits of the group that are known
		if group != k+below {
			group = k + below
			for i, d := range c.contexts {
				contexts[i] = d.contexts.line(mix(d.hash, prefix>>(group+1)<<(group+1)<<6|uint64(group)))
			}
		}
		node := 1<<below | prefix>>(k+1)&(1<<below-1)
		set := 0
		for i, d := range numbers {
			p, class := d.at(middle, k)
			if i < 2 {
				set = set*classes + class
			}
			probs[i&(maxInputs-1)], m.steps[i&(maxInputs-1)] = p, stepOf(*p)
		}
		for i, l := range contexts {
			p := &l[node&15]
			i += len(numbers)
			probs[i&(maxInputs-1)], m.steps[i&(maxInputs-1)] = p, stepOf(*p)
		}
		bit := m.code(rg, int(u>>k&1), k, c.bits+set)
		for i, limit := range limits {
			probs[i&(maxInputs-1)].Update(bit, limit)
		}
		prefix |= uint64(bit) << k
	}
	if v := c.low + int64(prefix); rg.Dec != nil {
		c.values[r] = v // when encoding, others may read it
	}
	c.learn(r)
}
