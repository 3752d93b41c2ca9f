package bases

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// draw returns n random bases, one a byte.
func draw(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.IntN(4))
	}
	return b
}

// packed returns bases in packed bytes, and Pad bytes.
func packed(b []byte) []byte {
	p := make([]byte, PackedLen(len(b))+Pad)
	Pack(p, b)
	return p
}

// words returns bases in words.
func words(b []byte) Words {
	w := make(Words, WordsLen(len(b)))
	for i, v := range b {
		w.Set(i, v)
	}
	return w
}

func reversed(b []byte) []byte {
	out := make([]byte, len(b))
	for i, v := range b {
		out[len(b)-1-i] = 3 - v
	}
	return out
}

// TestPacked packs, unpacks and reverses reads of all lengths, and compares single bases and words with them.
func TestPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 130; n++ {
		b := draw(r, n)
		p := packed(b)
		for at := 0; at < n; at += 1 + r.IntN(7) {
			if got := Unpack(nil, p, at, n-at); !bytes.Equal(got, b[at:]) || At(p, at) != b[at] {
				t.Fatalf("n=%d: unpack from %d: %v, want %v", n, at, got, b[at:])
			}
			w := words(b[at:])
			if x := First(min(n-at, PerChunk)); Chunk(p, at)&x != w[0]&x || Word(p, at)&First(min(n-at, PerWord)) != w[0] {
				t.Fatalf("n=%d: other bases from %d", n, at)
			}
		}
		for _, more := range []int{0, Pad} {
			dst := bytes.Repeat([]byte{0xff}, PackedLen(n)+Pad)
			ReverseComplementInto(dst[:PackedLen(n)+more], p, n)
			if got := Unpack(nil, dst, 0, n); !bytes.Equal(got, reversed(b)) || more == 0 && dst[PackedLen(n)] != 0xff {
				t.Fatalf("n=%d: reverse complement %v, want %v", n, got, reversed(b))
			}
		}
	}
}

// TestCopy copies and replaces bases between all offsets in a byte. Nothing before and after them changes.
func TestCopy(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for from := range 9 {
		for to := range 9 {
			for n := range 140 {
				src, before, after := draw(r, from+n+5), draw(r, to), draw(r, 40)
				dst := make([]byte, PackedLen(to+n))
				copy(dst, packed(before)[:PackedLen(to)])
				Copy(dst, to, packed(src), from, n)
				if want := packed(slices.Concat(before, src[from:from+n])); !bytes.Equal(dst, want[:len(dst)]) {
					t.Fatalf("%d bases from %d to %d: %v, want %v", n, from, to, dst, want[:len(dst)])
				}
				dst = packed(slices.Concat(before, draw(r, n), after))
				Replace(dst, to, packed(src), from, n)
				if want := packed(slices.Concat(before, src[from:from+n], after)); !bytes.Equal(dst, want) {
					t.Fatalf("%d bases from %d to %d are replaced: %v, want %v", n, from, to, dst, want)
				}
			}
		}
	}
}

// TestWords compares comparisons and reverse complements of words with those base by base.
func TestWords(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 2000 {
		a, shift := draw(r, 200), r.IntN(40)
		b := append(draw(r, shift), a...)
		b[shift+r.IntN(200)] ^= 1
		x, y, from := words(a), words(b), r.IntN(150)
		n, want := r.IntN(200-from), 0
		for want < n && a[from+want] == b[shift+from+want] {
			want++
		}
		if got := x.EqualForward(from, y, shift+from, n); got != want {
			t.Fatalf("forward %d, want %d", got, want)
		}
		if got := Equal(packed(a), from, packed(b), shift+from, n); got != (want == n) {
			t.Fatalf("%d of %d bases are equal: %t", want, n, got)
		}
		n, want = r.IntN(from+1), 0
		for want < n && a[from-want-1] == b[shift+from-want-1] {
			want++
		}
		if got := x.EqualBackward(from, y, shift+from, n); got != want {
			t.Fatalf("backward %d, want %d", got, want)
		}
		m := r.IntN(200 - from + 1)
		out := make(Words, WordsLen(m+shift))
		out.ReverseComplement(shift, x, from, m)
		for i, v := range reversed(a[from : from+m]) {
			if out.At(shift+i) != v {
				t.Fatal("another reverse complement")
			}
		}
	}
}
