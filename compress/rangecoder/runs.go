package rangecoder

// Rows are Probs of bits that are mostly 0, by row and column. A bit's row is the low seven bits of a byte.
type Rows [128][16]Prob

// NewRows returns fresh Probs.
func NewRows() *Rows {
	t := new(Rows)
	for i := range t {
		FillProbs(t[i][:])
	}
	return t
}

// In the loops below the size of the interval is all that a step waits for.

// AdaptZeros encodes a 0 for each of rows, under a column, as Coder.Adapt does one by one with a limit of MaxCount.
func (c *Coder) AdaptZeros(t *Rows, rows []byte, column uint32) {
	e, a := c.Enc, c.adaptation
	low, size := e.low, e.high-e.low
	for _, r := range rows {
		p := &t[r&127][column&15]
		below := size >> ProbBits * uint64(a.Clamp(p.P()))
		size = size - 1 - below
		low += below + 1
		if (low^(low+size))>>32 == 0 {
			e.low, e.high = low, low+size
			e.shift()
			low, size = e.low, e.high-e.low
		}
		*p = p.afterZero(a)
	}
	e.low, e.high = low, low+size
}

// afterZero returns p after Update with a 0 and a limit of MaxCount.
func (p Prob) afterZero(a *Adaptation) Prob {
	n, x := uint32(p)&countMask, uint32(p)>>probShift
	x += uint32(-int64(x) * int64(a.rate[n]) >> 16)
	return Prob(x<<probShift | min(n+1, MaxCount))
}

// AdaptRun decodes a bit for each of rows, under a column, as Coder.Adapt does one by one with a limit of MaxCount, to the first 1. It
// returns how many are 0.
func (c *Coder) AdaptRun(t *Rows, rows []byte, column uint32) int {
	d, a := c.Dec, c.adaptation
	low, size, x := d.low, d.high-d.low, d.x
	for i, r := range rows {
		p := &t[r&127][column&15]
		below := size >> ProbBits * uint64(a.Clamp(p.P()))
		if x <= low+below {
			d.low, d.high = low, low+below
			d.shift()
			p.Update(1, MaxCount, a)
			return i
		}
		size = size - 1 - below
		low += below + 1
		if (low^(low+size))>>32 == 0 {
			d.low, d.high = low, low+size
			d.shift()
			low, size, x = d.low, d.high-d.low, d.x
		}
		*p = p.afterZero(a)
	}
	d.low, d.high = low, low+size
	return len(rows)
}
