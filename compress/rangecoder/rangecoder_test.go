package rangecoder

import (
	"bytes"
	"math"
	"math/rand"
	"testing"
)

func TestRoundTripSkewedBits(t *testing.T) {
	for _, p := range []uint32{1, 16, 300, 32768, 65000, 65535} {
		r := rand.New(rand.NewSource(int64(p)))
		bits := make([]int, 20000)
		e := NewEncoder(nil)
		for i := range bits {
			if uint32(r.Intn(65536)) < p {
				bits[i] = 1
			}
			e.Encode(bits[i], p)
		}
		out := e.Finish()
		d := NewDecoder(out)
		for i, b := range bits {
			if got := d.Decode(p); got != b {
				t.Fatalf("p=%d: bit %d is %d, want %d", p, i, got, b)
			}
		}
		if err := d.Err(); err != nil {
			t.Fatalf("p=%d: %v (%d bytes, pos %d)", p, err, len(out), d.pos)
		}
		q := float64(p) / 65536
		floor := -(q*math.Log2(q) + (1-q)*math.Log2(1-q)) * float64(len(bits)) / 8
		if float64(len(out)) > floor*1.15+24 {
			t.Errorf("p=%d: %d bytes, entropy %.0f", p, len(out), floor)
		}
	}
}

func TestShortStreams(t *testing.T) {
	for n := 0; n < 300; n++ {
		c := EncodeTo([]byte("head"))
		r := rand.New(rand.NewSource(int64(n)))
		m := NewTree(8)
		want := make([]uint32, n)
		for i := range want {
			a, b := r.Intn(256), r.Intn(256)
			want[i] = uint32(a & b)
			if got := m.Code(c, want[i], 255); got != want[i] {
				t.Fatalf("n=%d: encoding %d returns %d", n, want[i], got)
			}
		}
		out := c.Enc.Finish()
		if string(out[:4]) != "head" {
			t.Fatal("prefix lost")
		}
		c, m = DecodeFrom(out[4:]), NewTree(8)
		for i := range want {
			if got := m.Code(c, 0, 255); got != want[i] {
				t.Fatalf("n=%d symbol %d: %d, want %d", n, i, got, want[i])
			}
		}
		if err := c.Dec.Err(); err != nil {
			t.Fatalf("n=%d: %v", n, err)
		}
	}
}

func TestLeftOverBytesAreNoticed(t *testing.T) {
	e := EncodeTo(nil)
	for i := uint32(0); i < 1000; i++ {
		e.Uniform(i*2654435761, 32)
	}
	d := DecodeFrom(append(e.Enc.Finish(), make([]byte, 16)...))
	for i := uint32(0); i < 1000; i++ {
		if v := d.Uniform(0, 32); v != i*2654435761 {
			t.Fatalf("number %d is %d", i, v)
		}
	}
	if d.Dec.Err() == nil {
		t.Fatal("16 bytes left over were not noticed")
	}
}

func BenchmarkEncodeAdaptive(b *testing.B) {
	src := make([]byte, 1<<16)
	rand.New(rand.NewSource(1)).Read(src)
	b.SetBytes(1 << 16 / 8)
	c := EncodeTo(nil)
	for b.Loop() {
		c.Enc.Reset(c.Enc.buf[:0])
		p := NewProb
		for _, v := range src {
			c.Adapt(int(v&1), &p, 255)
		}
		c.Enc.Finish()
	}
}

func BenchmarkDecodeAdaptive(b *testing.B) {
	src := make([]byte, 1<<16)
	rand.New(rand.NewSource(1)).Read(src)
	c, p := EncodeTo(nil), NewProb
	for _, v := range src {
		c.Adapt(int(v&1), &p, 255)
	}
	out := c.Enc.Finish()
	b.SetBytes(1 << 16 / 8)
	for b.Loop() {
		c, p := DecodeFrom(out), NewProb
		for range src {
			c.Adapt(0, &p, 255)
		}
	}
}

// TestDecisions: decisions are coded all at once as one by one, and pairs are decoded as their bits are, whatever the probabilities.
func TestDecisions(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	n := 5000
	v, p := make([]byte, n), make([][4]uint32, n)
	all, ones := NewEncoder(nil), NewEncoder(nil)
	var decisions []Decision
	for i := range v {
		v[i] = byte(r.Intn(4))
		for j := range p[i] {
			p[i][j] = 1 + uint32(r.Intn(65535))>>r.Intn(16)
		}
		hi, lo := v[i]>>1, v[i]&1
		decisions = append(decisions, Decision(p[i][0]<<1|uint32(hi)), Decision(p[i][1+hi]<<1|uint32(lo)))
		ones.Encode(int(hi), p[i][0])
		ones.Encode(int(lo), p[i][1+hi])
	}
	for len(decisions) > 0 {
		k := min(1+r.Intn(300), len(decisions))
		all.EncodeAll(decisions[:k])
		decisions = decisions[k:]
	}
	out := ones.Finish()
	if string(out) != string(all.Finish()) {
		t.Fatal("decisions are coded differently one by one")
	}
	d := NewDecoder(out)
	for i := range v {
		if got := d.DecodePair(&p[i]); got != v[i] {
			t.Fatalf("pair %d is %d, want %d", i, got, v[i])
		}
	}
	if err := d.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestCarry: a long run of zeros raises the start of the interval to just under a power of two and past it, so that a carry goes through
// bytes of 255. What Written returns does not change.
func TestCarry(t *testing.T) {
	carried := 0
	for seed := range int64(300) {
		r := rand.New(rand.NewSource(seed))
		e := NewEncoder(nil)
		var bits []int
		var before, written []byte
		for range 2000 {
			before, written = append(before[:0], e.buf...), append(written[:0], e.Written()...)
			bits = append(bits, r.Intn(2))
			e.Encode(bits[len(bits)-1], 24) // the wrong probability on purpose
			if len(before) > 0 && e.buf[len(before)-1] != before[len(before)-1] {
				carried++
			}
			if !bytes.HasPrefix(e.Written(), written) {
				t.Fatalf("seed %d: what was written changes", seed)
			}
		}
		d := NewDecoder(e.Finish())
		for i, b := range bits {
			if got := d.Decode(24); got != b {
				t.Fatalf("seed %d: bit %d is %d", seed, i, got)
			}
		}
	}
	if carried == 0 {
		t.Fatal("no carry was met")
	}
}
