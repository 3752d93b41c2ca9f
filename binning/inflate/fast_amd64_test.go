//go:build !race && !inflate_checked

package inflate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// plainly runs f with the loops in Go.
func plainly(f func()) {
	defer func(b bool) { hasBMI2 = b }(hasBMI2)
	hasBMI2 = false
	f()
}

// inflateSymbols inflates one deflate stream to symbols of 16 bits, up to a limit. It returns also what
// stopped it, and where.
func inflateSymbols(in []byte, limit int) (symbols []byte, stopped string) {
	d := newDecoder()
	d.reset(in, 0)
	d.wide, d.out = true, make([]byte, 2*windowSize+2*limit+slack)
	copy(d.out, unknownWindow[:])
	d.n, d.limit = 2*windowSize, 2*windowSize+2*limit
	s := d.run(1 << 62)
	symbols = d.out[2*windowSize : d.n]
	if !d.wide {
		symbols = slices.Concat(d.out[2*windowSize:d.wideEnd], d.out[d.wideEnd:d.n])
	}
	return symbols, fmt.Sprint(s, d.bit, d.n, d.place, d.corruptAt, d.blocks)
}

// checkFast compares the loops in assembler with those in Go.
func checkFast(t *testing.T, in []byte) {
	if !hasBMI2 {
		t.Skip("the processor has no BMI2")
	}
	for _, limit := range []int{1 << 18, 700} {
		got, used, err := inflateAll(in, limit)
		symbols, stopped := inflateSymbols(in, limit)
		plainly(func() {
			want, wantUsed, wantErr := inflateAll(in, limit)
			if !bytes.Equal(got, want) || used != wantUsed || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("limit %d: %d bytes of %d, %v; want %d of %d, %v", limit, len(got), used, err, len(want), wantUsed, wantErr)
			}
			wantSymbols, wantStopped := inflateSymbols(in, limit)
			if !bytes.Equal(symbols, wantSymbols) || stopped != wantStopped {
				t.Fatalf("limit %d: %d bytes of symbols, %s; want %d, %s", limit, len(symbols), stopped, len(wantSymbols), wantStopped)
			}
		})
	}
}

func TestFast(t *testing.T) {
	rng := rand.New(rand.NewPCG(30, 30))
	texts := samples()
	texts["repeats"] = repeats()
	for name, text := range texts {
		for level := -2; level <= 9; level++ {
			gz := goLevel(level)(text)
			n, err := headerSize(gz)
			if err != nil {
				t.Fatal(name, err)
			}
			in := gz[n : len(gz)-footerSize]
			checkFast(t, in)
			for range 20 {
				damaged := slices.Clone(in[:1+rng.IntN(len(in))])
				damaged[rng.IntN(len(damaged))] ^= 1 << rng.IntN(8)
				checkFast(t, damaged)
			}
		}
	}
}

func FuzzFast(f *testing.F) {
	for _, text := range [][]byte{fastq(32, 3000), repeats()[:20_000], random(33, 3000)} {
		for _, level := range []int{-2, 1, 6, 9} {
			gz := goLevel(level)(text)
			f.Add(gz[10 : len(gz)-footerSize])
		}
	}
	f.Fuzz(checkFast)
}
