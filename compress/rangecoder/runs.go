package rangecoder

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
