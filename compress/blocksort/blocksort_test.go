package blocksort

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"testing"
	"testing/iotest"

	"orcomgo/compress/bwt"
	"orcomgo/internal/testvector"
)

// encode returns the stream of text.
func encode(t testing.TB, text []byte, list ...Option) []byte {
	t.Helper()
	var stream bytes.Buffer
	w, err := NewWriter(&stream, list...)
	if err != nil {
		t.Fatal(err)
	}
	for len(text) > 0 {
		n := min(len(text), 100000)
		if _, err := w.Write(text[:n]); err != nil {
			t.Fatal(err)
		}
		text = text[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return stream.Bytes()
}

func decode(stream []byte, list ...Option) ([]byte, error) {
	r, err := NewReader(bytes.NewReader(stream), list...)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

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
	return map[string][]byte{
		"empty": nil, "a byte": {7}, "zeros": make([]byte, 400000), "noise": noise, "all bytes": bytes.Repeat(all, 30),
		"report": report(r, 400000), "two letters": bytes.Repeat([]byte("ab"), 5000), "Fibonacci": fibonacci,
		"skewed": []byte("a" + string(bytes.Repeat([]byte("b"), 1<<14)) + string(all) + string(bytes.Repeat([]byte("c"), 1<<16))),
	}
}

func TestRoundTrip(t *testing.T) {
	for name, text := range texts() {
		t.Run(name, func(t *testing.T) {
			for _, block := range []int{1000, 1 << 16, 100003, 64 << 20} {
				if len(text)/block > 500 {
					continue
				}
				stream := encode(t, text, WithBlockSize(block), WithThreads(1))
				for _, threads := range []int{2, 5} {
					if got := encode(t, text, WithBlockSize(block), WithThreads(threads)); !bytes.Equal(got, stream) {
						t.Fatalf("blocks of %d: another stream with %d threads", block, threads)
					}
					got, err := decode(stream, WithThreads(threads))
					if err != nil || !bytes.Equal(got, text) {
						t.Fatalf("blocks of %d, %d threads: %d bytes of %d, %v", block, threads, len(got), len(text), err)
					}
				}
			}
		})
	}
}

// TestParts codes a block of more than one part.
func TestParts(t *testing.T) {
	text := report(rand.New(rand.NewSource(9)), partSize(0)+100000)
	stream := encode(t, text, WithThreads(2))
	got, err := decode(stream, WithThreads(3))
	if err != nil || !bytes.Equal(got, text) {
		t.Fatalf("%d bytes of %d, %v", len(got), len(text), err)
	}
}

// TestSizes: the sizes that the models reach, so that a change that loses is noticed.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		name string
		most int
	}{{"empty", 5}, {"a byte", 20}, {"zeros", 70}, {"noise", 100025}, {"two letters", 40}, {"report", 72500}} {
		if got := len(encode(t, texts()[c.name])); got > c.most {
			t.Errorf("%s: %d bytes, at most %d expected", c.name, got, c.most)
		}
	}
}

// TestDamage: a stream that is cut gives an error, one that is changed an error or the text (some bits of a stream mean nothing).
func TestDamage(t *testing.T) {
	text := report(rand.New(rand.NewSource(6)), 2500)
	stream := encode(t, text, WithBlockSize(1000))
	refused := func(damaged []byte) {
		t.Helper()
		got, err := decode(damaged)
		if !bytes.HasPrefix(text, got) {
			t.Fatal("other text")
		}
		if err == nil && len(got) < len(text) {
			t.Fatal("no error")
		}
	}
	for i := range stream {
		refused(stream[:i])
		if _, err := decode(stream[:i]); err == nil {
			t.Fatalf("no error after %d bytes of %d", i, len(stream))
		}
		damaged := bytes.Clone(stream)
		damaged[i] ^= 1 << (i % 8)
		refused(damaged)
	}
}

func TestErrors(t *testing.T) {
	stream := encode(t, texts()["report"][:100000], WithBlockSize(50000))
	if _, err := decode(stream, WithBlockSize(49999)); err != ErrBlockSize {
		t.Errorf("a large block: %v", err)
	}
	if _, err := decode([]byte("GATTACA")); err != ErrFormat {
		t.Errorf("another format: %v", err)
	}
	if _, err := decode(stream[:3000]); err != ErrCorrupt {
		t.Errorf("cut off: %v", err)
	}
	broken := errors.New("broken")
	r, err := NewReader(io.MultiReader(bytes.NewReader(stream[:3000]), iotest.ErrReader(broken)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); err != broken {
		t.Errorf("a reader that fails: %v", err)
	}
	for _, o := range []Option{WithBlockSize(0), WithBlockSize(MaxBlockSize + 1), WithThreads(0)} {
		if _, err := NewWriter(io.Discard, o); err == nil {
			t.Error("an option out of range is accepted")
		}
	}
	w, err := NewWriter(failing{broken}, WithBlockSize(1000), WithThreads(2))
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if _, err = w.Write(make([]byte, 1000)); err != nil {
			break
		}
	}
	if err != broken || w.Close() != broken {
		t.Errorf("a writer that fails: %v", err)
	}
	w, _ = NewWriter(io.Discard)
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Error(err)
	}
	if _, err := w.Write([]byte("a")); err != ErrClosed {
		t.Errorf("a write after Close: %v", err)
	}
}

// failing is a writer that fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func FuzzDecode(f *testing.F) {
	for _, text := range []string{"", "a", "GATTACA GATTACA GATTACA GATTACA GATTACA GATTACA GATTACA"} {
		f.Add(encode(f, []byte(text)))
	}
	f.Add(encode(f, report(rand.New(rand.NewSource(7)), 3000), WithBlockSize(1000)))
	f.Fuzz(func(t *testing.T, stream []byte) {
		_, _ = decode(stream, WithBlockSize(1<<20), WithThreads(2))
	})
}

// FuzzBody decodes bodies whose hash need not be right.
func FuzzBody(f *testing.F) {
	for _, text := range [][]byte{bytes.Repeat([]byte("GATTACA "), 7)[:55], report(rand.New(rand.NewSource(7)), 3000)} {
		transformed := make([]byte, len(text))
		starts, err := bwt.Transform(transformed, text, 1)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(codeBody(transformed, starts, 1), len(text))
	}
	f.Fuzz(func(t *testing.T, body []byte, n int) {
		if n < 1 || n > 1<<14 {
			return
		}
		_, _ = new(spaces).get().decodeBody(n, body, 2)
	})
}

// TestEncode compares what Encode makes with the stream of a Writer of one block.
func TestEncode(t *testing.T) {
	for _, n := range []int{0, 1, 100, 3000, 100_000, smallBlock + 1} {
		text := report(rand.New(rand.NewSource(int64(n))), n)
		if !bytes.Equal(Encode(text), encode(t, text, WithBlockSize(max(len(text), 1)))) {
			t.Errorf("%d bytes: Encode and a Writer differ", n)
		}
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("GATTACA"), 3)
	f.Fuzz(func(t *testing.T, text []byte, block int) {
		block = max(block%5000, 100)
		got, err := decode(encode(t, text, WithBlockSize(block), WithThreads(2)))
		if err != nil || !bytes.Equal(got, text) {
			t.Fatal("differs", err)
		}
	})
}

// TestVectors codes the texts of testdata/vectors/blocksort.txt and decodes them.
func TestVectors(t *testing.T) {
	testvector.Run(t, "../../testdata/vectors/blocksort.txt", func(t *testing.T, v *testvector.Vector) {
		text := bytes.Repeat([]byte(v.Strings(t, "text")[0]), v.Int(t, "times"))
		got, err := decode(v.Bytes(t, "bytes", encode(t, text, WithBlockSize(v.Int(t, "block size")))))
		if err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%d bytes of %d, %v", len(got), len(text), err)
		}
	})
}

func BenchmarkWriter(b *testing.B) {
	text := report(rand.New(rand.NewSource(8)), 8<<20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		encode(b, text)
	}
}

func BenchmarkReader(b *testing.B) {
	text := report(rand.New(rand.NewSource(8)), 8<<20)
	stream := encode(b, text)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := decode(stream); err != nil {
			b.Fatal(err)
		}
	}
}

// TestHash: the sum of hash's factors is hash.
func TestHash(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	m := &model{hashShift: 14}
	for range 1000 {
		a, b, c, d := r.Intn(300), r.Intn(300), r.Intn(300), r.Intn(5000)
		if got, want := (uint32(a)*hash0+hashSum(b, c, d))>>14, m.hash(a, b, c, d); got != want {
			t.Fatalf("%d %d %d %d: %d, not %d", a, b, c, d, got, want)
		}
	}
}
