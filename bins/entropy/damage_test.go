package entropy

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

// TestDamage shortens, lengthens and changes stored bytes. What is shorter or longer does not decode; of what is changed, some does,
// since a checksum is not the business of this package, but nothing panics.
func TestDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	names := nameLike(rng, 200)
	for _, c := range []struct {
		name   string
		data   []byte
		encode func(data []byte) []byte
		decode func(dst, stored []byte) error
	}{
		{"raw", randomSymbols(rng, 50, 41, 33, 0), func(b []byte) []byte { return e.AppendStream(nil, b, true) }, d.Stream},
		{"same", bytes.Repeat([]byte("F"), 500), func(b []byte) []byte { return e.AppendStream(nil, b, true) }, d.Stream},
		{"order 0", randomSymbols(rng, 999, 41, 33, .5), func(b []byte) []byte { return e.AppendStream(nil, b, false) }, d.Stream},
		{"order 1", randomSymbols(rng, 5003, 12, 50, .9), func(b []byte) []byte { return e.AppendStream(nil, b, true) }, d.Stream},
		{"names", names, func(b []byte) []byte { return e.AppendNames(nil, b) }, d.Names},
	} {
		t.Run(c.name, func(t *testing.T) {
			stored := c.encode(c.data)
			dst := make([]byte, len(c.data))
			for n := range stored {
				if err := c.decode(dst, stored[:n]); !errors.Is(err, ErrCorrupt) {
					t.Fatalf("cut to %d of %d bytes: %v", n, len(stored), err)
				}
			}
			if err := c.decode(dst, append(bytes.Clone(stored), 0)); !errors.Is(err, ErrCorrupt) {
				t.Errorf("a byte longer: %v", err)
			}
			for _, n := range []int{0, len(dst) / 2, 2 * len(dst)} {
				if err := c.decode(make([]byte, n), stored); !errors.Is(err, ErrCorrupt) && c.name != "same" {
					t.Errorf("decoded to %d bytes instead of %d: %v", n, len(dst), err)
				}
			}
			refused := 0
			for range 5000 {
				bad := bytes.Clone(stored)
				for range 1 + rng.IntN(3) {
					bad[rng.IntN(len(bad))] ^= byte(1 + rng.IntN(255))
				}
				if err := c.decode(dst, bad); errors.Is(err, ErrCorrupt) {
					refused++
				} else if err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%d of 5000 changes were noticed", refused)
			if err := c.decode(dst, stored); err != nil || !bytes.Equal(dst, c.data) {
				t.Errorf("after all that, the stored bytes do not decode: %v", err)
			}
		})
	}
}

// TestForged: headers that no encoder writes.
func TestForged(t *testing.T) {
	symbols := bytes.Repeat([]byte("AAAB"), 40)
	order0 := e.AppendStream(nil, symbols, false)
	order1 := e.AppendStream(nil, randomSymbols(rand.New(rand.NewPCG(19, 20)), 21000, 3, 'A', .9), true)
	if order0[0] != byte(Order0) || order1[0] != byte(Order1) {
		t.Fatal("the streams are of other kinds")
	}
	const counts, set, first = 1, 2, 34 // offsets in the header; those of order 1 have first symbols
	for _, c := range []struct {
		name   string
		stored []byte
		n      int
		at     int
		value  byte
	}{
		{"number of symbols", order0, 160, counts, 2},
		{"another symbol", order0, 160, set + 9, 1},
		{"a length of 11", order0, 160, first, 0x1b},
		{"a symbol without a code", order0, 160, first, 0x10},
		{"codes that are too many", order0, 160, first, 0x11 ^ 0x30},
		{"part longer than all", order0, 160, first + 4, 0xff},
		{"an unknown first symbol", order1, 21000, first, 'D'},
		{"a symbol below 33", order1, 21000, set, 1},
		{"15 beside a code", order1, 21000, first + 4, 0x1f},
	} {
		bad := bytes.Clone(c.stored)
		bad[c.at] = c.value
		if err := d.Stream(make([]byte, c.n), bad); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	names := e.AppendNames(nil, []byte("a1\na2\n"))
	for i, value := range []byte{9, 9, 9, 9, 9} {
		bad := bytes.Clone(names)
		bad[8*i] = value
		if err := d.Names(make([]byte, 6), bad); !errors.Is(err, ErrCorrupt) {
			t.Errorf("stream %d of names has %d symbols: %v", i, value, err)
		}
	}
}

// TestAllocations: a coder that has grown allocates nothing.
func TestAllocations(t *testing.T) {
	quals, names := benchQualities(1<<17), benchNames(1<<17)
	codedQuals, codedNames := e.AppendStream(nil, quals, true), e.AppendNames(nil, names)
	out := make([]byte, 1<<18)
	for name, f := range map[string]func(){
		"AppendStream": func() { e.AppendStream(out[:0], quals, true) },
		"AppendNames":  func() { e.AppendNames(out[:0], names) },
		"Stream":       func() { _ = d.Stream(out[:len(quals)], codedQuals) },
		"Names":        func() { _ = d.Names(out[:len(names)], codedNames) },
	} {
		if n := testing.AllocsPerRun(5, f); n != 0 {
			t.Errorf("%s allocates %g times", name, n)
		}
	}
}
