package general

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand"
	"testing"

	"orcomgo/internal/testvector"
)

func report(r *rand.Rand, n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "sample_%05d\tlane %d\treads %d\tq30 %.2f %%\n", i, i%8+1, 400000000+r.Intn(1000000), 85+r.Float64()*10)
	}
	return b.Bytes()[:n]
}

func texts() map[string][]byte {
	r := rand.New(rand.NewSource(5))
	noise := make([]byte, 100000)
	r.Read(noise)
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	fibonacci, before := []byte("ab"), []byte("a")
	for len(fibonacci) < 50000 {
		fibonacci, before = append(bytes.Clone(fibonacci), before...), fibonacci
	}
	var records, symmetric []byte
	for i := range 3000 {
		records = binary.LittleEndian.AppendUint32(append(records, byte(i/7), 0, byte(r.Intn(3)), 0), uint32(i*i/5))
	}
	for row := range 100 {
		for column := range row {
			symmetric = append(symmetric, symmetric[4*(100*column+row):][:4]...)
		}
		symmetric = append(symmetric, noise[:4*(100-row)]...)
		noise = append(noise[1000:], noise[:1000]...)
	}
	return map[string][]byte{
		"records": records, "symmetric": symmetric,
		"empty": nil, "a byte": {7}, "zeros": make([]byte, 400000), "noise": noise, "all bytes": bytes.Repeat(all, 30),
		"report": report(r, 400000), "two letters": bytes.Repeat([]byte("ab"), 5000), "Fibonacci": fibonacci,
		"skewed": []byte("a" + string(bytes.Repeat([]byte("b"), 1<<14)) + string(all) + string(bytes.Repeat([]byte("c"), 1<<16))),
	}
}

func TestRoundTrip(t *testing.T) {
	for name, text := range texts() {
		t.Run(name, func(t *testing.T) {
			got, err := Decode(Encode(text), len(text))
			if err != nil || !bytes.Equal(got, text) {
				t.Fatalf("%d bytes of %d, %v", len(got), len(text), err)
			}
		})
	}
}

// TestSizes: the sizes that the models reach, so that a change that loses is noticed.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		name string
		most int
	}{{"empty", 1}, {"a byte", 2}, {"zeros", 55}, {"noise", 100003}, {"two letters", 25}, {"report", 72500}} {
		if got := len(Encode(texts()[c.name])); got > c.most {
			t.Errorf("%s: %d bytes, at most %d expected", c.name, got, c.most)
		}
	}
}

// TestDamage: a stream that is cut gives an error or another text, and one of a longer text than allowed an error.
func TestDamage(t *testing.T) {
	text := report(rand.New(rand.NewSource(6)), 2500)
	stream := Encode(text)
	for i := range stream {
		if got, err := Decode(stream[:i], len(text)); err == nil && bytes.Equal(got, text) {
			t.Fatalf("%d bytes of %d are enough", i, len(stream))
		}
	}
	if _, err := Decode(stream, len(text)-1); err != ErrSize {
		t.Errorf("a long text: %v", err)
	}
	for _, damaged := range [][]byte{nil, {1}, {3}, append([]byte{2, 'a'}, 'b'), append(stream, make([]byte, 16)...)} {
		if _, err := Decode(damaged, len(text)); err != ErrCorrupt {
			t.Errorf("% x: %v", damaged[:min(len(damaged), 4)], err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range [][]byte{nil, []byte("a"), bytes.Repeat([]byte("GATTACA "), 7), report(rand.New(rand.NewSource(7)), 3000)} {
		f.Add(Encode(text))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		if text, err := Decode(stream, 1<<16); err == nil && len(text) > 1<<16 {
			t.Fatal("a text that is too long")
		}
	})
}

func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("GATTACA"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, err := Decode(Encode(text), len(text)); err != nil || !bytes.Equal(got, text) {
			t.Fatal("differs", err)
		}
	})
}

// TestVectors codes the texts of testdata/vectors/general.txt and decodes them.
func TestVectors(t *testing.T) {
	testvector.Run(t, "../../testdata/vectors/general.txt", func(t *testing.T, v *testvector.Vector) {
		text := bytes.Repeat([]byte(v.Strings(t, "text")[0]), v.Int(t, "times"))
		if v.Has("counter") {
			for i := v.Int(t, "counter"); i < len(text); i += len(text) / v.Int(t, "times") {
				text[i] = byte(i * i >> 6)
			}
		}
		if v.Has("noise") {
			for i := len(text) - v.Int(t, "noise"); i < len(text); i++ {
				text[i] = byte(uint32(i*i) * 0x9E3779B1 >> 24)
			}
		}
		got, err := Decode(v.Bytes(t, "bytes", Encode(text)), len(text))
		if err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%d bytes of %d, %v", len(got), len(text), err)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	text := report(rand.New(rand.NewSource(8)), 8<<20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Encode(text)
	}
}

func BenchmarkDecode(b *testing.B) {
	text := report(rand.New(rand.NewSource(8)), 8<<20)
	stream := Encode(text)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Decode(stream, len(text)); err != nil {
			b.Fatal(err)
		}
	}
}

// TestChanceRepeats: in tables of the same rows with random digits, a repeat goes on from the table before, and not where a few bytes are
// the same by chance.
func TestChanceRepeats(t *testing.T) {
	r, text := rand.New(rand.NewSource(9)), []byte(nil)
	for i := range 1500 {
		text = fmt.Appendf(text, "g%03d\t%02d\n", i%15, r.Intn(100))
	}
	if got := len(Encode(text)); got > 1500 { // 1,246 are the digits
		t.Errorf("%d bytes", got)
	}
}
