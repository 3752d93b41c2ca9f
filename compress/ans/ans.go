// Package ans is what models have in common that code several symbols side by side, one in each lane: the coder, and the function that
// makes probabilities. Lanes have states of their own, of an asymmetric numeral system (Duda, 2009), and share one stream of words of 16
// bits. docs/FORMAT.md, "Blocks", is the specification.
package ans

const (
	// Lanes is how many lanes there are.
	Lanes = 16
	// Start is the state of a lane before the first decision that is encoded. States are never smaller.
	Start = 1 << 16
	// RoundValues is how many values the decisions of a round have: see Encode.
	RoundValues = 2 * Lanes
)

// Encode encodes the decisions of rounds, the last ones first: what is decoded first is encoded last. A round has where the interval of
// each lane starts, and then the sizes of the intervals less 1, both in 1/2^bits; bits is at most 16. With fewer bits less is lost where
// states are small. States are moved. The words replace the values from the index on that is returned: a decision takes two values, and
// makes a word at most.
func Encode(decisions []uint16, states *[Lanes]uint32, bits uint) int {
	return encode(decisions, states, bits)
}

// encodePlain is Encode in plain Go.
func encodePlain(decisions []uint16, states *[Lanes]uint32, bits uint) int {
	at := len(decisions)
	for i := at - RoundValues; i >= 0; i -= RoundValues {
		d := [RoundValues]uint16(decisions[i:])
		for l := Lanes - 1; l >= 0; l-- {
			x, size := states[l], uint32(d[Lanes+l])+1
			if x>>(32-bits) >= size {
				at--
				decisions[at] = uint16(x)
				x >>= 16
			}
			q := x / size
			states[l] = q<<bits + x - q*size + uint32(d[l])
		}
	}
	return at
}

// tails is the logistic function of an integer number of octaves below 0, in 1/65536.
var tails = func() (t [17]uint16) {
	for i := range t {
		t[i] = uint16(65536 / (1 + uint32(1)<<i))
	}
	return
}()

// Logistic returns the probability, in 1/65536, whose logit is given in 1/2048 octaves. Between octaves the function is linear.
func Logistic(logit int16) uint16 {
	a := uint16(min(max(int32(logit), -int32(logit)), 32767))
	octave := a >> 11 & 15
	tail := tails[octave] - MulHigh(tails[octave]-tails[octave+1], a<<5)
	if logit < 0 {
		return tail
	}
	return -tail
}

// MulHigh returns the product of two numbers in 1/65536, rounded down.
func MulHigh(a, b uint16) uint16 { return uint16(uint32(a) * uint32(b) >> 16) }

// Saturate returns the number of 16 bits that is next to x.
func Saturate(x int32) int16 { return int16(min(max(x, -32768), 32767)) }
