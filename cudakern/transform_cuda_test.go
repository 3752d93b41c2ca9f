//go:build cuda

package cudakern

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"sync"
	"testing"

	"orcomgo/compress/bwt"
	"orcomgo/internal/testrun"
)

// randomSymbols returns n bytes of an alphabet of so many, the lower of which are more frequent.
func randomSymbols(r *rand.Rand, n, symbols int) []byte {
	text := make([]byte, n)
	alphabet := r.Perm(256)
	for i := range text {
		text[i] = byte(alphabet[min(r.Intn(symbols), r.Intn(symbols))])
	}
	return text
}

// transformTexts are texts of n bytes that are hard to sort, and others.
func transformTexts(n int) map[string][]byte {
	r := rand.New(rand.NewSource(int64(n)))
	fibonacci, before := []byte("ab"), []byte("a")
	for len(fibonacci) < n {
		fibonacci, before = append(bytes.Clone(fibonacci), before...), fibonacci
	}
	all := map[string][]byte{
		"zeros": make([]byte, n), "Fibonacci": fibonacci[:n], "tandem": bytes.Repeat([]byte("ACGTTGCA"), n/8+1)[:n],
		"long tandem": bytes.Repeat(randomSymbols(r, 300, 4), n/300+1)[:n],
	}
	for _, symbols := range []int{2, 3, 4, 5, 40, 90, 91, 256} {
		text := randomSymbols(r, n, symbols)
		all[fmt.Sprint(symbols, " symbols")] = text
		all[fmt.Sprint(symbols, " symbols twice")] = append(bytes.Clone(text[:n/2]), text[:n-n/2]...)
	}
	// Stretches that come again, and differ at last.
	mixed := randomSymbols(r, n, 30)
	for i := 200; i < n; i += 1 + r.Intn(100) {
		copy(mixed[i:], mixed[r.Intn(i):][:min(r.Intn(150), n-i)])
	}
	all["mixed"] = mixed
	return all
}

func openTransformer(t testing.TB) *Transformer {
	t.Helper()
	d, err := Open(0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { d.Close() })
	x, err := d.NewTransformer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// places returns where the suffix of each rank begins. It follows a transform; origin is the rank of the text.
func places(transformed []byte, origin uint32) []uint32 {
	var next [256]uint32 // the rank of the next suffix that begins with a symbol
	for _, c := range transformed {
		next[c]++
	}
	last, sum := transformed[origin], uint32(0)
	for c := range next {
		sum, next[c] = sum+next[c], sum
	}
	row := next[last] // the last suffix is the first that begins with its symbol
	next[last]++
	previous := make([]uint32, len(transformed))
	for r, c := range transformed {
		if uint32(r) != origin {
			previous[r] = next[c]
			next[c]++
		}
	}
	all := make([]uint32, len(transformed))
	for p := len(transformed) - 1; p >= 0; p-- {
		all[row] = uint32(p)
		row = previous[row]
	}
	return all
}

// checkTransform compares the transform of the device with that of the CPU.
func checkTransform(t *testing.T, x *Transformer, text []byte) {
	t.Helper()
	n := len(text)
	want, got := make([]byte, n), make([]byte, n)
	wantStarts, err := bwt.Transform(want, text, 4)
	if err != nil {
		t.Fatal(err)
	}
	starts := make([]uint32, len(wantStarts))
	const every = 5
	samples := make([]uint32, n/every)
	if err := x.TransformSampled(got, text, bwt.Step(n), starts, every, samples); err != nil {
		t.Fatal(err)
	}
	for i, p := range places(want, wantStarts[0]) {
		if i%every == every-1 && samples[i/every] != p {
			t.Fatalf("%d bytes: sample %d is %d, not %d", n, i/every, samples[i/every], p)
		}
	}
	if !bytes.Equal(got, want) {
		i := 0
		for got[i] == want[i] {
			i++
		}
		t.Fatalf("%d bytes: the transform differs at %d", n, i)
	}
	if !slices.Equal(starts, wantStarts) {
		t.Fatalf("%d bytes: starting points %v, not %v", n, starts, wantStarts)
	}
}

func TestTransformSmall(t *testing.T) {
	x := openTransformer(t)
	sizes := []int{1, 2, 3, 10, 63, 64, 65, 300, 4095, 4096, 4097, 20000}
	if underSanitizer() {
		sizes = []int{1, 3, 64, 65, 300, 4097}
	}
	each := 3
	if underRacecheck() {
		sizes, each = []int{3, 65, 4097}, 7
	}
	for i, n := range sizes {
		for name, text := range transformTexts(n) {
			if underSanitizer() && (i+len(name))%each != 0 {
				continue
			}
			t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) { checkTransform(t, x, text) })
		}
	}
}

// TestTransformLarge transforms texts of many tiles, with more than one starting point; of 100 MB with ORCOMGO_LONG=1.
func TestTransformLarge(t *testing.T) {
	x := openTransformer(t)
	sizes := []int{700001, 2<<20 + 5}
	if underSanitizer() {
		sizes = []int{300001}
	}
	if underRacecheck() {
		sizes = []int{20001}
	}
	if testrun.Long() {
		sizes = append(sizes, 100000007)
	}
	for _, n := range sizes {
		for name, text := range transformTexts(n) {
			if underSanitizer() && name != "mixed" && name != "4 symbols" && name != "long tandem" {
				continue
			}
			t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) { checkTransform(t, x, text) })
		}
	}
}

// TestTransformSideBySide: several transformers of one device work at the same time.
func TestTransformSideBySide(t *testing.T) {
	x := openTransformer(t)
	most, rounds := 300000, 5
	if underRacecheck() {
		most, rounds = 9000, 1
	}
	var wait sync.WaitGroup
	for k := range 3 {
		wait.Go(func() {
			y, err := x.dev.NewTransformer()
			if err != nil {
				t.Error(err)
				return
			}
			r := rand.New(rand.NewSource(int64(k)))
			for range rounds {
				text := randomSymbols(r, 1+r.Intn(most), 1+r.Intn(256))
				want, got := make([]byte, len(text)), make([]byte, len(text))
				wantStarts, _ := bwt.Transform(want, text, 1)
				starts := make([]uint32, len(wantStarts))
				if err := y.TransformSampled(got, text, bwt.Step(len(text)), starts, len(text)+1, nil); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d bytes: another transform, %v", len(text), err)
				}
			}
			if err := y.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

// TestTransformMemory: too little memory is an error, and the transformer is usable after it.
func TestTransformMemory(t *testing.T) {
	x := openTransformer(t)
	text := randomSymbols(rand.New(rand.NewSource(1)), 100000, 4)
	dst, starts := make([]byte, len(text)), make([]uint32, bwt.Starts(len(text)))
	MostMemory = allocated.Load() + int64(len(text))
	err := x.TransformSampled(dst, text, bwt.Step(len(text)), starts, len(text)+1, nil)
	MostMemory = 0
	if !errors.Is(err, ErrMemory) {
		t.Fatalf("got %v", err)
	}
	checkTransform(t, x, text)
}
