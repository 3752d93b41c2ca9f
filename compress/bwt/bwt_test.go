package bwt

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/internal/testrun"
)

// reference is the transform by its definition.
func reference(text []byte) (transformed []byte, starts []uint32) {
	suffixes := make([]int, len(text))
	for i := range suffixes {
		suffixes[i] = i
	}
	slices.SortFunc(suffixes, func(a, b int) int { return bytes.Compare(text[a:], text[b:]) })
	starts = make([]uint32, Starts(len(text)))
	for rank, p := range suffixes {
		if p%Step(len(text)) == 0 {
			starts[p/Step(len(text))] = uint32(rank)
		}
		transformed = append(transformed, text[(p+len(text)-1)%len(text)])
	}
	return transformed, starts
}

// fibonacci returns the Fibonacci word of n letters.
func fibonacci(n int) []byte {
	a, b := []byte("a"), []byte("ab")
	for len(b) < n {
		a, b = b, append(slices.Clone(b), a...)
	}
	return b[:n]
}

func randomText(r *rand.Rand, n, symbols int) []byte {
	text := make([]byte, n)
	perm := r.Perm(256)
	for i := range text {
		text[i] = byte(perm[min(r.Intn(symbols), r.Intn(symbols))])
	}
	return text
}

// texts are texts that are hard to sort, and others.
func texts(n int) map[string][]byte {
	r := rand.New(rand.NewSource(1))
	all := map[string][]byte{
		"same": bytes.Repeat([]byte("A"), n), "fibonacci": fibonacci(n), "tandem": bytes.Repeat([]byte("ACGTTGCA"), n/8+1)[:n],
		"long tandem": bytes.Repeat(randomText(r, 1000, 4), n/1000+1)[:n],
	}
	for _, symbols := range []int{1, 2, 3, 4, 5, 8, 50, 200, 256} {
		all[fmt.Sprint(symbols, " symbols")] = randomText(r, n, symbols)
		half := randomText(r, n/2, symbols)
		all[fmt.Sprint(symbols, " symbols twice")] = append(half, half...)
	}
	runs := randomText(r, n, 40)
	for i := 200; i < n; i++ {
		if r.Intn(50) > 0 {
			runs[i] = runs[i-1]
		} else if r.Intn(3) == 0 {
			copy(runs[i:], runs[i-200:i])
		}
	}
	all["runs"] = runs
	// Codes of different lengths, and stretches that come again and differ at last.
	mixed := make([]byte, n)
	for i := range mixed {
		mixed[i] = byte('A' + min(bits.TrailingZeros32(r.Uint32())*2+r.Intn(2), 30))
	}
	for i := 300; i+200 < n; i += 100 + r.Intn(100) {
		copy(mixed[i:], mixed[r.Intn(i-100):][:60+r.Intn(8)])
	}
	all["mixed"] = mixed
	return all
}

func check(t *testing.T, text []byte, threads int) {
	t.Helper()
	want, wantStarts := reference(text)
	got := make([]byte, len(text))
	starts, err := Transform(got, text, threads)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) || !slices.Equal(starts, wantStarts) {
		i := 0
		for i < len(got)-1 && got[i] == want[i] {
			i++
		}
		t.Fatalf("%d bytes, %d threads: differs at %d; starts %v, want %v", len(text), threads, i, starts, wantStarts)
	}
	checkInverse(t, text, got, starts)
}

func TestTransform(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 63, 64, 65, 100, 1000, 5000, 20000} {
		for name, text := range texts(n) {
			t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) {
				for _, threads := range []int{1, 3} {
					check(t, text, threads)
				}
			})
		}
	}
}

// TestWords: texts with zeros and of words that occur again, whose suffixes end within the bits that are compared.
func TestWords(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	for range 300 {
		text := make([]byte, 1+r.Intn(300))
		words := [][]byte{make([]byte, r.Intn(20)), []byte("word "), {0, 0, 1}, {255}, make([]byte, 9)}
		for at := 0; at < len(text); {
			at += copy(text[at:], words[r.Intn(len(words))]) + 1
		}
		check(t, text, 1)
	}
}

// checkInverse compares the text that a transform restores with the one that it was made of.
func checkInverse(t *testing.T, text, transformed []byte, starts []uint32) {
	t.Helper()
	if len(text) == 0 {
		return
	}
	var first [257]int // of each byte value, the first rank of suffixes that begin with it
	for _, c := range transformed {
		first[int(c)+1]++
	}
	for c := range 256 {
		first[c+1] += first[c]
	}
	// The suffix of rank r begins one byte before that of rank before[r].
	place, before := first, make([]int, len(text))
	zero := int(starts[0])
	place[transformed[zero]]++ // the last suffix is the first one of its byte
	for r, c := range transformed {
		if r != zero {
			before[place[c]] = r
			place[c]++
		}
	}
	r := zero
	for i, c := range text {
		if i%Step(len(text)) == 0 && int(starts[i/Step(len(text))]) != r {
			t.Fatalf("starting point %d is wrong", i/Step(len(text)))
		}
		if r < first[c] || r >= first[int(c)+1] {
			t.Fatalf("%d bytes: byte %d is not restored", len(text), i)
		}
		r = before[r]
	}
}

// TestGiantGroups sorts texts in which all threads work on one bucket, and compares the results of different numbers of threads.
func TestGiantGroups(t *testing.T) {
	testrun.NotShort(t)
	for name, text := range texts(testrun.Pick(0, 5<<14, 5<<17)) {
		t.Run(name, func(t *testing.T) {
			var first []byte
			var firstStarts []uint32
			for _, threads := range []int{1, 3} {
				got := make([]byte, len(text))
				starts, err := Transform(got, text, threads)
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first, firstStarts = got, starts
				} else if !bytes.Equal(got, first) || !slices.Equal(starts, firstStarts) {
					t.Fatalf("%d threads: another transform", threads)
				}
				checkInverse(t, text, got, starts)
			}
		})
	}
}

func FuzzTransform(f *testing.F) {
	f.Add([]byte("GATTACA"), 2)
	f.Add([]byte("abracadabra, abracadabra"), 1)
	f.Add(bytes.Repeat([]byte{0}, 300), 3)
	f.Fuzz(func(t *testing.T, text []byte, repeat int) {
		if len(text) == 0 || len(text) > 400 {
			return
		}
		repeat = max(min(repeat, 10), 1)
		check(t, bytes.Repeat(text, repeat), 2)
	})
}
