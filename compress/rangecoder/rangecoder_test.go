package rangecoder

import (
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
		c := EncodeTo([]byte("head"), testAdaptation)
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
		c, m = DecodeFrom(out[4:], testAdaptation), NewTree(8)
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

func TestSquashAndStretchAgree(t *testing.T) {
	for x := -2047; x < 2048; x++ {
		want := 65536 / (1 + math.Exp(-float64(x)/256))
		if got := float64(Squash(int32(x))); math.Abs(got-want) > 10 {
			t.Fatalf("squash(%d) = %v, want %v", x, got, want)
		}
		if x > -2047 && Squash(int32(x)) < Squash(int32(x-1)) {
			t.Fatalf("squash falls at %d", x)
		}
	}
	for p := uint32(256); p < 65536-256; p += 16 {
		want := 256 * math.Log(float64(p)/(65536-float64(p)))
		if got := float64(Stretch(p)); math.Abs(got-want) > 18 {
			t.Fatalf("stretch(%d) = %v, want %v", p, got, want)
		}
	}
}

func TestLeftOverBytesAreNoticed(t *testing.T) {
	e := NewEncoder(nil)
	for i := uint32(0); i < 1000; i++ {
		e.EncodeBits(i*2654435761, 32)
	}
	d := NewDecoder(append(e.Finish(), make([]byte, 16)...))
	for i := 0; i < 1000; i++ {
		d.DecodeBits(32)
	}
	if d.Err() == nil {
		t.Fatal("16 bytes left over were not noticed")
	}
}

// testAdaptation is that of sequences.
var testAdaptation = NewAdaptation(16, 12)

func BenchmarkEncodeAdaptive(b *testing.B) {
	src := make([]byte, 1<<16)
	rand.New(rand.NewSource(1)).Read(src)
	b.SetBytes(1 << 16 / 8)
	c := EncodeTo(nil, testAdaptation)
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
	c, p := EncodeTo(nil, testAdaptation), NewProb
	for _, v := range src {
		c.Adapt(int(v&1), &p, 255)
	}
	out := c.Enc.Finish()
	b.SetBytes(1 << 16 / 8)
	for b.Loop() {
		c, p := DecodeFrom(out, testAdaptation), NewProb
		for range src {
			c.Adapt(0, &p, 255)
		}
	}
}

// TestPairs: pairs code as their bits do one by one, whatever the probabilities.
func TestPairs(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	n := 5000
	v, p := make([]byte, n), make([][4]uint32, n)
	pairs, ones := NewEncoder(nil), NewEncoder(nil)
	for i := range v {
		v[i] = byte(r.Intn(4))
		for j := range p[i] {
			p[i][j] = 1 + uint32(r.Intn(65535))>>r.Intn(16)
		}
		pairs.EncodePair(v[i], &p[i])
		ones.Encode(int(v[i]>>1), p[i][0])
		ones.Encode(int(v[i]&1), p[i][1+v[i]>>1])
	}
	out := pairs.Finish()
	if string(out) != string(ones.Finish()) {
		t.Fatal("pairs are coded differently from their bits")
	}
	all := NewEncoder(nil)
	for at := 0; at < n; {
		k := min(1+r.Intn(300), n-at)
		all.EncodePairs(v[at:at+k], p[at:])
		at += k
	}
	if string(out) != string(all.Finish()) {
		t.Fatal("many pairs are coded differently from one after another")
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
