package bases

import (
	"math/rand"
	"testing"
)

// TestAppendLetters: letters of reads of any length in both directions, and nothing is written before or behind them.
func TestAppendLetters(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for n := range 70 {
		bases := make([]byte, n)
		packed := make([]byte, PackedLen(n))
		for i := range bases {
			bases[i] = byte(rng.Intn(4))
			packed[i/4] |= bases[i] << (2 * (i % 4))
		}
		for _, reverse := range []bool{false, true} {
			want := make([]byte, n)
			for i, b := range bases {
				if reverse {
					want[n-1-i] = "TGCA"[b]
				} else {
					want[i] = "ACGT"[b]
				}
			}
			buf := []byte("before" + string(make([]byte, n)) + "after")
			got := AppendLetters(buf[:6], packed, n, reverse)
			if string(got) != "before"+string(want) || string(buf[6+n:]) != "after" {
				t.Fatalf("%d bases, reverse %t: %q, want %q", n, reverse, buf, want)
			}
		}
	}
}

func BenchmarkAppendLetters(b *testing.B) {
	packed := make([]byte, 25)
	for i := range packed {
		packed[i] = byte(41 * i)
	}
	var dst []byte
	for _, reverse := range []bool{false, true} {
		b.Run(map[bool]string{false: "forward", true: "reverse"}[reverse], func(b *testing.B) {
			b.SetBytes(100)
			for b.Loop() {
				dst = AppendLetters(dst[:0], packed, 100, reverse)
			}
		})
	}
}
