package rangecoder

import (
	"bytes"
	"fmt"
	"math"
	"math/rand"
	"testing"
)

// TestNumbers: numbers of all lengths, and bits without a model, come back, and encoding returns what it was given.
func TestNumbers(t *testing.T) {
	r := rand.New(rand.NewSource(11))
	values := []uint32{0, 1, 2, 3, 31, 32, 33, 1<<31 - 1, 1 << 31, 1<<32 - 1}
	for range 3000 {
		values = append(values, r.Uint32()>>r.Intn(32))
	}
	pass := func(c *Coder) {
		m := NewNumber()
		for i, want := range values {
			v, raw := want, want
			if c.Decoding() {
				v, raw = 0, 0
			}
			if got := m.Code(c, v, 255); got != want {
				t.Fatalf("number %d is %d, want %d", i, got, want)
			}
			if got := c.Uniform(raw, i%33); got != want&uint32(1<<(i%33)-1) {
				t.Fatalf("the %d low bits of %#x are %#x", i%33, want, got)
			}
		}
	}
	c := EncodeTo(nil)
	pass(c)
	d := DecodeFrom(c.Enc.Finish())
	pass(d)
	if err := d.Dec.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestProbsFollowTheirBits: a probability is the share of ones while it counts, counts to its limit and no further, and then follows
// the last bits.
func TestProbsFollowTheirBits(t *testing.T) {
	for _, c := range []struct {
		limit uint32
		share float64
	}{{MaxCount, 0.1}, {255, 0.7}, {60, 0.5}, {MaxCount, 0.999}} {
		r := rand.New(rand.NewSource(12))
		p := NewProb
		sum, n := 0.0, 20000
		for i := range n + 2000 {
			if want := min(uint32(i), c.limit); p.Count() != want {
				t.Fatalf("%+v: count %d after %d bits", c, p.Count(), i)
			}
			p.Update(BitOf(r.Float64() < c.share), c.limit)
			if i >= 2000 {
				sum += float64(p.P()) / 65536 / float64(n)
			}
		}
		if math.Abs(sum-c.share) > 0.02 {
			t.Errorf("%+v: settles at %.4f", c, sum)
		}
	}
	p := NewProb
	p.Update(1, 10)
	if got, want := p.P(), uint32(32768+32768*2/3); got < want-2 || got > want {
		t.Errorf("the first bit moves a probability to %d, want about %d", got, want)
	}
	for range 100000 {
		p.Update(0, 10)
	}
	if p.P() != 0 || coded(p.P()) != floor || coded(65536) != 65536-floor || coded(500) != 500 {
		t.Errorf("after many zeros: %d, coded as %d", p.P(), coded(p.P()))
	}
}

// A Coder runs the same model in both directions.
func ExampleCoder() {
	message := func(c *Coder, text []byte) {
		letters := NewTree(8)
		for i, b := range text {
			text[i] = byte(letters.Code(c, uint32(b), 255))
		}
	}
	c := EncodeTo(nil)
	message(c, []byte("GATTACAGATTACAGATTACAGATTACA"))
	stream := c.Enc.Finish()

	text := make([]byte, 28)
	message(DecodeFrom(stream), text)
	fmt.Printf("%d bytes: %s\n", len(stream), text)
	// Output: 11 bytes: GATTACAGATTACAGATTACAGATTACA
}

// BenchmarkTree codes symbols that are mostly 0, as the numbers of mismatches of reads are.
func BenchmarkTree(b *testing.B) {
	symbols := make([]uint32, 1<<16)
	for i := range symbols {
		if i%3 == 0 {
			symbols[i] = uint32(i*0x9e37>>7) % 3
		}
	}
	code := func(c *Coder) {
		t := NewTree(8)
		for _, v := range symbols {
			t.Code(c, v, MaxCount)
		}
	}
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(len(symbols)))
		for b.Loop() {
			code(EncodeTo(nil))
		}
	})
	c := EncodeTo(nil)
	code(c)
	data := c.Enc.Finish()
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(symbols)))
		for b.Loop() {
			code(DecodeFrom(data))
		}
	})
}

// TestTreeZeros: trees code as Adapt does bit by bit, also where a symbol comes after many zeros.
func TestTreeZeros(t *testing.T) {
	r := rand.New(rand.NewSource(161))
	for _, limit := range []uint32{30, 255, MaxCount} {
		for _, size := range []int{1, 3, 8} {
			symbols := make([]uint32, 60_000)
			for i := range symbols {
				if r.Intn(4) == 0 {
					symbols[i] = uint32(r.Intn(1 << max(size-4, 0)))
				}
				if i > 50_000 && r.Intn(500) == 0 {
					symbols[i] = uint32(r.Intn(1 << size))
				}
			}
			want, node := EncodeTo(nil), NewProbs(1<<size)
			for _, v := range symbols {
				n := 1
				for i := size - 1; i >= 0; i-- {
					n = n<<1 | want.Adapt(int(v>>i&1), &node[n], limit)
				}
			}
			got, tree := EncodeTo(nil), NewTree(size)
			for _, v := range symbols {
				tree.Code(got, v, limit)
			}
			stream := want.Enc.Finish()
			if !bytes.Equal(got.Enc.Finish(), stream) {
				t.Fatalf("limit %d, %d bits: other bytes than bit by bit", limit, size)
			}
			{
				c, tree := DecodeFrom(stream), NewTree(size)
				for i, v := range symbols {
					if got := tree.Code(c, 0, limit); got != v {
						t.Fatalf("limit %d, %d bits: symbol %d is decoded to %d, want %d", limit, size, i, got, v)
					}
				}
				if err := c.Dec.Err(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
