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
	e := c.Enc
	for i := 0; i < len(rows); {
		r := rows[i]
		p := &t[r&127][column&15]
		q := *p
		low, size := e.low, e.size
		for ; i < len(rows) && rows[i] == r; i++ {
			split := size >> ProbBits * uint64(coded(q.P()))
			size -= split
			if low += split; low < split {
				carryInto(e.buf)
			}
			if size>>32 == 0 {
				e.low, e.size = low, size
				e.shift()
				low, size = e.low, e.size
			}
			q.Update(0, MaxCount)
		}
		e.low, e.size = low, size
		*p = q
	}
}

// AdaptRun decodes a bit for each of rows, under a column, as Coder.Adapt does one by one with a limit of MaxCount, to the first 1. It
// returns how many are 0.
func (c *Coder) AdaptRun(t *Rows, rows []byte, column uint32) int {
	d := c.Dec
	for i := 0; i < len(rows); {
		r := rows[i]
		p := &t[r&127][column&15]
		q := *p
		code, size := d.code, d.size
		for ; i < len(rows) && rows[i] == r; i++ {
			split := size >> ProbBits * uint64(coded(q.P()))
			if code < split {
				if d.code, d.size = code, split; split>>32 == 0 {
					d.shift()
				}
				q.Update(1, MaxCount)
				*p = q
				return i
			}
			code -= split
			if size -= split; size>>32 == 0 {
				size <<= 32
				code = code<<32 | d.next()
			}
			q.Update(0, MaxCount)
		}
		d.code, d.size = code, size
		*p = q
	}
	return len(rows)
}

// AdaptFirst codes a bit with each of p, as Adapt does with a limit of MaxCount, to the first 1, which is number `first`, and returns that;
// len(p) if all are 0. Encoding, first may be greater.
func (c *Coder) AdaptFirst(p []Prob, first int) int {
	zeros := min(max(first, 0), len(p))
	if c.Dec != nil {
		zeros = len(p)
		d := c.Dec
		code, size := d.code, d.size
		for i := range p {
			split := size >> ProbBits * uint64(coded(p[i].P()))
			if code < split {
				zeros = i
				break
			}
			code -= split
			if size -= split; size>>32 == 0 {
				size <<= 32
				code = code<<32 | d.next()
			}
			p[i].Update(0, MaxCount)
		}
		d.code, d.size = code, size
	} else {
		e := c.Enc
		low, size := e.low, e.size
		for i := range p[:zeros] {
			split := size >> ProbBits * uint64(coded(p[i].P()))
			size -= split
			if low += split; low < split {
				carryInto(e.buf)
			}
			if size>>32 == 0 {
				e.low, e.size = low, size
				e.shift()
				low, size = e.low, e.size
			}
			p[i].Update(0, MaxCount)
		}
		e.low, e.size = low, size
	}
	if zeros < len(p) {
		c.Adapt(1, &p[zeros], MaxCount)
	}
	return zeros
}
