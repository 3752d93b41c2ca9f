package quals

import (
	"math"
	"math/rand"
	"testing"
)

// States settle, on average, at the probability of what they are shown.
func TestStatesSettle(t *testing.T) {
	m := newMoves()
	for _, p := range []float64{0.002, 0.01, 0.1, 0.3, 0.5, 0.8, 0.97, 0.995} {
		r := rand.New(rand.NewSource(1))
		s, sum, n := state(stateStart), 0.0, 400000
		for i := range n + 20000 {
			bit := 0
			if r.Float64() < p {
				bit = 1
			}
			s = m[bit][s]
			if i >= 20000 {
				sum += 1 / (1 + math.Exp(-(float64(s&4095)-2048)/256))
			}
		}
		if got := sum / float64(n); math.Abs(got-p) > 0.06*p*(1-p)+0.0006 {
			t.Errorf("shown %.3f, settles at %.4f", p, got)
		}
		if s>>12 < stateAges-4 {
			t.Errorf("shown %.3f, age is %d after %d decisions", p, s>>12, n)
		}
	}
}

func TestMovesGoTheRightWay(t *testing.T) {
	m := newMoves()
	for s := range stateLevels * stateAges {
		level := s & 4095
		if up := int(m[1][s] & 4095); up <= level && level < 4095 {
			t.Fatalf("state %#x goes to level %d on a 1", s, up)
		}
		if down := int(m[0][s] & 4095); down >= level && level > 1 {
			t.Fatalf("state %#x goes to level %d on a 0", s, down)
		}
	}
}

func TestLevelsOfFrequency(t *testing.T) {
	for n := uint64(0); n < 1<<20; n += 1 + n>>6 {
		f := 2 * n // frequencyOf counts halves
		if got := frequencyOf(levelOf(n)); got > f || 3*got < 2*f && n > 1 {
			t.Fatalf("%d becomes %d halves", n, got)
		}
	}
}
