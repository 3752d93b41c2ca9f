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

// In the loops below a step waits for the size of the interval alone, and rows that follow each other often are equal: their Prob is in
// registers then, which takes half of the time that writing and reading it takes.

// AdaptZeros encodes a 0 for each of rows, under a column, as Coder.Adapt does one by one with a limit of MaxCount.
func (c *Coder) AdaptZeros(t *Rows, rows []byte, column uint32) {
	e, a := c.Enc, c.adaptation
	low, size := e.low, e.high-e.low
	for i := 0; i < len(rows); {
		r := rows[i]
		p := &t[r&127][column&15]
		x, n := uint32(*p)>>probShift, uint32(*p)&countMask
		for ; i < len(rows) && rows[i] == r; i++ {
			below := size >> ProbBits * uint64(a.Clamp(x>>(16-probShift)))
			size = size - 1 - below
			low += below + 1
			if (low^(low+size))>>32 == 0 {
				e.low, e.high = low, low+size
				e.shift()
				low, size = e.low, e.high-e.low
			}
			x, n = a.afterZero(x, n)
		}
		*p = Prob(x<<probShift | n)
	}
	e.low, e.high = low, low+size
}

// afterZero returns the probability and the count of a Prob after Update with a 0 and a limit of MaxCount.
func (a *Adaptation) afterZero(x, n uint32) (uint32, uint32) {
	return x + uint32(-int64(x)*int64(a.rate[n&countMask])>>16), min(n+1, MaxCount)
}

// AdaptRun decodes a bit for each of rows, under a column, as Coder.Adapt does one by one with a limit of MaxCount, to the first 1. It
// returns how many are 0.
func (c *Coder) AdaptRun(t *Rows, rows []byte, column uint32) int {
	d, a := c.Dec, c.adaptation
	low, size, code := d.low, d.high-d.low, d.x
	for i := 0; i < len(rows); {
		r := rows[i]
		p := &t[r&127][column&15]
		x, n := uint32(*p)>>probShift, uint32(*p)&countMask
		for ; i < len(rows) && rows[i] == r; i++ {
			below := size >> ProbBits * uint64(a.Clamp(x>>(16-probShift)))
			if code <= low+below {
				d.low, d.high = low, low+below
				d.shift()
				*p = Prob(x<<probShift | n)
				p.Update(1, MaxCount, a)
				return i
			}
			size = size - 1 - below
			low += below + 1
			if (low^(low+size))>>32 == 0 {
				d.low, d.high = low, low+size
				d.shift()
				low, size, code = d.low, d.high-d.low, d.x
			}
			x, n = a.afterZero(x, n)
		}
		*p = Prob(x<<probShift | n)
	}
	d.low, d.high = low, low+size
	return len(rows)
}
