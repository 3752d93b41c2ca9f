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
	c := EncodeTo(nil, testAdaptation)
	pass(c)
	d := DecodeFrom(c.Enc.Finish(), testAdaptation)
	pass(d)
	if err := d.Dec.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestProbsFollowTheirBits: a probability is the share of ones while it counts, counts to its limit and no further, and then follows
// the last bits.
func TestProbsFollowTheirBits(t *testing.T) {
	for _, c := range []struct {
		tenths, floor, limit uint32
		share                float64
	}{{16, 12, MaxCount, 0.1}, {15, 8, 255, 0.7}, {20, 24, 60, 0.5}, {16, 12, MaxCount, 0.999}} {
		r := rand.New(rand.NewSource(12))
		a, p := NewAdaptation(c.tenths, c.floor), NewProb
		sum, n := 0.0, 20000
		for i := range n + 2000 {
			if want := min(uint32(i), c.limit); p.Count() != want {
				t.Fatalf("%+v: count %d after %d bits", c, p.Count(), i)
			}
			p.Update(BitOf(r.Float64() < c.share), c.limit, a)
			if i >= 2000 {
				sum += float64(p.P()) / 65536 / float64(n)
			}
		}
		if math.Abs(sum-c.share) > 0.02 {
			t.Errorf("%+v: settles at %.4f", c, sum)
		}
	}
	p, a := NewProb, NewAdaptation(16, 12)
	p.Update(1, 10, a)
	if got, want := p.P(), uint32(32768+32768*655360/16/65536); got < want-2 || got > want {
		t.Errorf("the first bit moves a probability to %d, want about %d", got, want)
	}
	for range 100000 {
		p.Update(0, 10, a)
	}
	if p.P() != 0 || a.Clamp(p.P()) != 12 || a.Clamp(65536) != 65536-12 || a.Clamp(500) != 500 {
		t.Errorf("after many zeros: %d, coded as %d", p.P(), a.Clamp(p.P()))
	}
}

// TestFormulaOfAdaptations: the three formats divide by n+1.6, n+1.5 and n+2.
func TestFormulaOfAdaptations(t *testing.T) {
	sequences, names, qualities := NewAdaptation(16, 12), NewAdaptation(15, 8), NewAdaptation(20, 24)
	for n := range uint32(MaxCount + 1) {
		got := [3]uint32{sequences.rate[n], names.rate[n], qualities.rate[n]}
		if want := [3]uint32{655360 / (10*n + 16), 2 * 65536 / (2*n + 3), 1 << 16 / (n + 2)}; got != want {
			t.Fatalf("rates after %d updates are %v, want %v", n, got, want)
		}
	}
}

// A Coder runs the same model in both directions.
func ExampleCoder() {
	adaptation := NewAdaptation(16, 12)
	message := func(c *Coder, text []byte) {
		letters := NewTree(8)
		for i, b := range text {
			text[i] = byte(letters.Code(c, uint32(b), 255))
		}
	}
	c := EncodeTo(nil, adaptation)
	message(c, []byte("GATTACAGATTACAGATTACAGATTACA"))
	stream := c.Enc.Finish()

	text := make([]byte, 28)
	message(DecodeFrom(stream, adaptation), text)
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
	a := NewAdaptation(16, 12)
	code := func(c *Coder) {
		t := NewTree(8)
		for _, v := range symbols {
			t.Code(c, v, MaxCount)
		}
	}
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(len(symbols)))
		for b.Loop() {
			code(EncodeTo(nil, a))
		}
	})
	c := EncodeTo(nil, a)
	code(c)
	data := c.Enc.Finish()
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(symbols)))
		for b.Loop() {
			code(DecodeFrom(data, a))
		}
	})
}

// TestTreeZeros: trees code as Adapt does bit by bit, also long after zeros have ceased to change the first nodes, and where a symbol comes
// then that never came before.
func TestTreeZeros(t *testing.T) {
	r := rand.New(rand.NewSource(161))
	a := NewAdaptation(16, 12)
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
			want, node := EncodeTo(nil, a), NewProbs(1<<size)
			for k, v := range symbols {
				if k == 50_000 && size > 4 && node[1] != never(limit) {
					t.Errorf("limit %d: after many zeros the first node is %#x", limit, node[1])
				}
				n := 1
				for i := size - 1; i >= 0; i-- {
					n = n<<1 | want.Adapt(int(v>>i&1), &node[n], limit)
				}
			}
			got, tree := EncodeTo(nil, a), NewTree(size)
			for _, v := range symbols {
				tree.Code(got, v, limit)
			}
			stream := want.Enc.Finish()
			if !bytes.Equal(got.Enc.Finish(), stream) {
				t.Fatalf("limit %d, %d bits: other bytes than bit by bit", limit, size)
			}
			for _, code := range []func(t *Tree, c *Coder, v, limit uint32) uint32{(*Tree).Code, (*Tree).CodeAny} {
				c, tree := DecodeFrom(stream, a), NewTree(size)
				for i, v := range symbols {
					if got := code(&tree, c, 0, limit); got != v {
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
