package rangecoder

import (
	"bytes"
	"math/rand"
	"testing"
)

// TestSixteen: symbols come back that have one of sixteen parts or some that are side by side, and even parts are even numbers.
func TestSixteen(t *testing.T) {
	r := rand.New(rand.NewSource(13))
	var all, steps []uint32
	var parts [][16]uint16
	c := EncodeTo(nil)
	for range 20000 {
		var p [16]uint16
		for k := range p[1:] {
			p[k+1] = p[k] + 1 + uint16(r.Intn(4300)>>r.Intn(12))
		}
		step := uint32(1) << r.Intn(4)
		k := r.Uint32() & 15 &^ (step - 1)
		parts, all, steps = append(parts, p), append(all, k), append(steps, step)
		if got := c.Sixteen(k, step, &p); got != k {
			t.Fatalf("%d is encoded as %d", k, got)
		}
		if got := c.AnyBit(int(k&1), 40000); got != int(k&1) {
			t.Fatalf("bit %d is encoded as %d", k&1, got)
		}
	}
	d := DecodeFrom(c.Enc.Finish())
	for i, k := range all {
		if got := d.Sixteen(0, steps[i], &parts[i]); got != k {
			t.Fatalf("symbol %d, %d of %v, step %d, is decoded as %d", i, k, parts[i], steps[i], got)
		}
		if got := d.AnyBit(0, 40000); got != int(k&1) {
			t.Fatalf("bit %d is decoded as %d", k&1, got)
		}
	}
	if err := d.Dec.Err(); err != nil {
		t.Fatal(err)
	}
	even := [16]uint16{}
	for k := range even {
		even[k] = uint16(k) << 12
	}
	c, d = EncodeTo(nil), EncodeTo(nil)
	for k := range uint32(16) {
		c.Sixteen(k, 1, &even)
		d.Uniform(k, 4)
		c.Sixteen(k&12, 4, &even)
		d.Uniform(k>>2, 2)
	}
	if !bytes.Equal(c.Enc.Finish(), d.Enc.Finish()) {
		t.Error("even parts are no even numbers")
	}
}

// TestBytes: bytes come back from two streams, of any number and by several models.
func TestBytes(t *testing.T) {
	r := rand.New(rand.NewSource(14))
	for _, n := range []int{0, 1, 2, 3, 50_001} {
		values, by, got := make([]byte, n), make([]byte, n), make([]byte, n)
		for i := range values {
			by[i] = byte(r.Intn(3))
			values[i] = byte(128 + r.NormFloat64()*float64(5+20*int(by[i])))
		}
		var e [2]Encoder
		e[0].Reset(nil)
		e[1].Reset(nil)
		EncodeBytes(&e, NewFrequencies(3), by, values)
		first, second := e[0].Finish(), e[1].Finish()
		if n > 3 && len(first)+len(second) > n*7/8 {
			t.Errorf("%d and %d bytes of %d values", len(first), len(second), n)
		}
		var d [2]Decoder
		d[0].Reset(first)
		d[1].Reset(second)
		if DecodeBytes(&d, NewFrequencies(3), by, got); !bytes.Equal(got, values) || d[0].Err() != nil || d[1].Err() != nil {
			t.Errorf("%d values came back otherwise: %v, %v", n, d[0].Err(), d[1].Err())
		}
	}
}
