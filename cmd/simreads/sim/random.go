package sim

import (
	"math"
	"math/bits"
)

// random is the SplitMix64 generator (Steele, Lea, Flood, OOPSLA 2014): one word of state,
// so a stream of its own for every chunk and every fragment costs nothing to set up.
type random struct{ state uint64 }

// stream returns generator number index of the family that seed and purpose name.
func stream(seed, purpose, index uint64) random {
	return random{scramble(scramble(seed+purpose*0x9e3779b97f4a7c15) + index*0xd1342543de82ef95)}
}

func scramble(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	return scramble(r.state)
}

// below returns a number in [0, n), n > 0.
func (r *random) below(n uint64) uint64 {
	hi, _ := bits.Mul64(r.next(), n)
	return hi
}

// unit returns a number in (0, 1].
func (r *random) unit() float64 { return float64(r.next()>>11+1) / (1 << 53) }

// normal returns a draw from the standard normal distribution (Box and Muller 1958).
func (r *random) normal() float64 {
	return math.Sqrt(-2*math.Log(r.unit())) * math.Cos(2*math.Pi*r.unit())
}

// chance is a probability as a threshold for the upper 32 bits of a draw.
type chance uint64

func chanceOf(p float64) chance {
	return chance(math.Round(math.Min(math.Max(p, 0), 1) * (1 << 32)))
}

func (r *random) hit(c chance) bool { return r.next()>>32 < uint64(c) }

// gap returns how many trials of probability p fail before the next success; math.MaxInt where p
// is 0.
func (r *random) gap(p float64) int {
	if p <= 0 {
		return math.MaxInt
	}
	if p >= 1 {
		return 0
	}
	g := math.Log(r.unit()) / math.Log1p(-p)
	if g > 1e15 {
		return math.MaxInt
	}
	return int(g)
}
