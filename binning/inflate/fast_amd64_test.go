//go:build !race && !inflate_checked

package inflate

import (
	"bytes"
	"compress/flate"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"testing"

	"orcomgo/internal/deflate"
	"orcomgo/internal/testrun"
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
	return symbols, fmt.Sprint(s, d.bit, d.n, d.place, d.blocks)
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
		for level := -2; level <= 9; level += testrun.Pick(4, 2, 1) {
			gz := goLevel(level)(text)
			n, err := deflate.HeaderSize(gz)
			if err != nil {
				t.Fatal(name, err)
			}
			in := gz[n : len(gz)-footerSize]
			checkFast(t, in)
			for range testrun.Pick(5, 8, 20) {
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

// lastDynamic returns a deflate stream whose only block is a dynamic one, as those of zlib and libdeflate are; Go writes an empty block
// behind it.
func lastDynamic(t *testing.T, text []byte) []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, 6)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(text)
	w.Flush()
	in := b.Bytes()
	in = in[:len(in)-4] // the empty block's length and its complement
	if in[0]&7 != dynamicBits {
		t.Fatalf("the first block has type %d", in[0]&7)
	}
	in[0] |= 1
	return in
}

// TestLastDynamic has members whose last blocks are dynamic, as zlib makes them.
func TestLastDynamic(t *testing.T) {
	var b []byte
	var members []Member
	text := fastq(34, 8*30_000)
	for i := range 8 {
		part := text[i*30_000:][:30_000]
		in := lastDynamic(t, part)
		members = append(members, Member{uint32(len(b)), uint32(len(in)), uint32(len(part)), crc32.ChecksumIEEE(part)})
		b = append(b, in...)
	}
	checkDecoder(t, append(b, make([]byte, 16)...), members)
}
