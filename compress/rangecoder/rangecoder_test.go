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
		e := NewEncoder([]byte("head"))
		r := rand.New(rand.NewSource(int64(n)))
		m := NewTree(8)
		want := make([]uint32, n)
		for i := range want {
			a, b := r.Intn(256), r.Intn(256)
			want[i] = uint32(a & b)
			m.Encode(e, want[i], 4)
		}
		out := e.Finish()
		if string(out[:4]) != "head" {
			t.Fatal("prefix lost")
		}
		d, m := NewDecoder(out[4:]), NewTree(8)
		for i := range want {
			if got := m.Decode(d, 4); got != want[i] {
				t.Fatalf("n=%d symbol %d: %d, want %d", n, i, got, want[i])
			}
		}
		if err := d.Err(); err != nil {
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

func BenchmarkEncodeAdaptive(b *testing.B) {
	src := make([]byte, 1<<16)
	rand.New(rand.NewSource(1)).Read(src)
	b.SetBytes(1 << 16 / 8)
	e := NewEncoder(nil)
	for i := 0; i < b.N; i++ {
		e.Reset(e.buf[:0])
		m := NewBit
		for _, c := range src {
			e.EncodeBit(int(c&1), &m, 5)
		}
		e.Finish()
	}
}

func BenchmarkDecodeAdaptive(b *testing.B) {
	src := make([]byte, 1<<16)
	rand.New(rand.NewSource(1)).Read(src)
	e, m := NewEncoder(nil), NewBit
	for _, c := range src {
		e.EncodeBit(int(c&1), &m, 5)
	}
	out := e.Finish()
	b.SetBytes(1 << 16 / 8)
	for i := 0; i < b.N; i++ {
		d, m := NewDecoder(out), NewBit
		for range src {
			d.DecodeBit(&m, 5)
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
