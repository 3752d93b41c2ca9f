package general

// prob is a small adaptive probability that a bit is 1: 13 bits of probability above a count of its updates, up to 7.
type prob uint16

const freshProb = prob(1 << 15)

// rates are the parts of the distance that a prob moves, in 1/65536, by its count.
var rates = [8]int32{50000, 28000, 18724, 14563, 10922, 8192, 5957, 4369}

// p returns the probability in 1/65536; it may be 0.
func (p prob) p() uint32 { return uint32(p) }

// update moves p towards bit.
func (p *prob) update(bit int) {
	n := *p & 7
	x := int32(*p >> 3)
	x += ((int32(-bit)&8191-x)*rates[n] + 1<<15) >> 16
	if n < 7 {
		n++
	}
	*p = prob(x<<3) | n
}
