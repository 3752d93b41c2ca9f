package rangecoder

import (
	"bytes"
	"math/rand"
	"testing"
)

// TestStaticBits: bits of probabilities that do not learn are written and read as by Encode and Decode, in any number.
func TestStaticBits(t *testing.T) {
	r := rand.New(rand.NewSource(13))
	var values []uint32
	var lengths []int
	plain, each := NewEncoder(nil), EncodeTo(nil)
	var p [16]uint16
	for i := range p {
		p[i] = uint16(1 + r.Intn(65535))
	}
	for i := range 20000 {
		n, v := i%5, r.Uint32()
		values, lengths = append(values, v), append(lengths, n)
		for k, j := 1, n-1; j >= 0; j-- {
			plain.Encode(int(v>>j&1), uint32(p[k]))
			k = k<<1 | int(v>>j&1)
		}
		if got, want := each.Steps(n, v, &p), v&(1<<n-1)|1<<n; got != want {
			t.Fatalf("%d bits are encoded as %b, want %b", n, got, want)
		}
		plain.Encode(int(v&1), 40000)
		if got := each.AnyBit(int(v&1), 40000); got != int(v&1) {
			t.Fatalf("bit %d is encoded as %d", v&1, got)
		}
	}
	stream := plain.Finish()
	if !bytes.Equal(stream, each.Enc.Finish()) {
		t.Fatal("another stream is written")
	}
	d := DecodeFrom(stream)
	for i, v := range values {
		if got, want := d.Steps(lengths[i], 0, &p), v&(1<<lengths[i]-1)|1<<lengths[i]; got != want {
			t.Fatalf("%d bits are decoded as %b, want %b", lengths[i], got, want)
		}
		if got := d.AnyBit(0, 40000); got != int(v&1) {
			t.Fatalf("bit %d is decoded as %d", v&1, got)
		}
	}
	if err := d.Dec.Err(); err != nil {
		t.Fatal(err)
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
