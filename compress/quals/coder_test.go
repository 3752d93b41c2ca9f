package quals

import (
	"math"
	"math/rand"
	"testing"
)

// decodeBits decodes n decisions of probability p.
func decodeBits(data []byte, n int, p uint64) (bits []int, d *decoder) {
	d = &decoder{src: data}
	code, size := d.word()<<32|d.word(), ^uint64(0)
	for range n {
		split := size >> 16 * p
		bit := 0
		if code < split {
			bit, size = 1, split
		} else {
			code, size = code-split, size-split
		}
		if size>>32 == 0 {
			size, code = size<<32, code<<32|d.word()
		}
		bits = append(bits, bit)
	}
	return bits, d
}

func TestCoder(t *testing.T) {
	for _, p := range []uint32{24, 300, 32768, 65000, 65536 - 24} {
		for _, n := range []int{0, 1, 2, 5, 64, 1000, 30000} {
			r := rand.New(rand.NewSource(int64(n) + int64(p)))
			batch := make([]decision, n)
			ones := 0.0
			for i := range batch {
				batch[i] = decision(p << 1)
				if uint32(r.Intn(65536)) < p {
					batch[i] |= 1
					ones++
				}
			}
			e := newEncoder([]byte("head"))
			e.encode(batch[:n/2])
			e.encode(batch[n/2:])
			out := e.finish()
			if string(out[:4]) != "head" {
				t.Fatal("what stood before the stream has changed")
			}
			bits, d := decodeBits(out[4:], n, uint64(p))
			for i, b := range bits {
				if b != int(batch[i]&1) {
					t.Fatalf("p=%d n=%d: bit %d is %d", p, n, i, b)
				}
			}
			if !d.done() {
				t.Fatalf("p=%d n=%d: %d bytes, read to %d", p, n, len(out)-4, d.pos)
			}
			q := float64(p) / 65536
			best := -(ones*math.Log2(q) + (float64(n)-ones)*math.Log2(1-q)) / 8
			if float64(len(out)-4) > best*1.001+2 {
				t.Errorf("p=%d n=%d: %d bytes, %.1f would do", p, n, len(out)-4, best)
			}
		}
	}
}

// A long run of zeros raises the start of the interval to just under a power of two and
// past it: the carry goes through bytes of 255.
func TestCarry(t *testing.T) {
	carried := 0
	for seed := int64(0); seed < 300; seed++ {
		r := rand.New(rand.NewSource(seed))
		batch := make([]decision, 2000)
		for i := range batch {
			batch[i] = 24<<1 | decision(r.Intn(2)) // the wrong probability on purpose
		}
		e := newEncoder(nil)
		var before []byte
		for i := range batch {
			before = append(before[:0], e.out...)
			e.encode(batch[i : i+1])
			if len(before) > 0 && e.out[len(before)-1] != before[len(before)-1] {
				carried++
			}
		}
		bits, _ := decodeBits(e.finish(), len(batch), 24)
		for i, b := range bits {
			if b != int(batch[i]&1) {
				t.Fatalf("seed %d: bit %d is %d", seed, i, b)
			}
		}
	}
	if carried == 0 {
		t.Fatal("no carry was met")
	}
}

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
