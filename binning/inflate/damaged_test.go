package inflate

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/klauspost/compress/flate"

	"orcomgo/internal/deflate"
	"orcomgo/internal/testrun"
)

// sameError reports whether two errors are the same, the first of this package, the second of klauspost/compress, which has read a few
// bits more when it finds damage.
func sameError(err, other error) bool {
	var at CorruptError
	var before flate.CorruptInputError
	if errors.As(err, &at) && errors.As(other, &before) {
		return int64(at) <= int64(before) && int64(before) < int64(at)+300 // a header of a block may be so long
	}
	return fmt.Sprint(err) == fmt.Sprint(other)
}

// sameText reports whether two texts before an error are the same as far as both go: decoders find damage, and where a symbol is cut, a
// few symbols sooner or later.
func sameText(text, other []byte) bool {
	n := min(len(text), len(other))
	return bytes.Equal(text[:n], other[:n]) && max(len(text), len(other))-n < 1000
}

// compare reads a file, perhaps damaged, as it was read before, and with a Reader. The text must
// be the same up to an error, and the error must be.
func compare(t *testing.T, name string, data []byte) {
	t.Helper()
	want, wantErr := readPlainly(data)
	for _, o := range []Options{{}, {Threads: 3, chunk: 2048}, {Threads: 2, chunk: 20_011}} {
		got, _, err := readAll(bytes.NewReader(data), o)
		if !sameError(err, wantErr) {
			t.Errorf("%s, %+v: %v, want %v", name, o, err, wantErr)
		}
		if err == nil && !bytes.Equal(got, want) || !sameText(got, want) {
			t.Errorf("%s, %+v, %v: %d bytes of text, want %d", name, o, err, len(got), len(want))
		}
	}
}

// TestDamaged has files that were flipped, cut, spliced, and had members swapped, in parts that can be tested side by side.
func TestDamaged(t *testing.T) {
	n := testrun.Pick(8, 160, 10_000)
	text := fastq(7, 120_000)
	const parts = 8
	for part := range parts {
		t.Run(fmt.Sprintf("part=%d", part), func(t *testing.T) {
			t.Parallel()
			for i := part; i < n; i += parts {
				name, data := damagedFile(text, uint64(i))
				compare(t, fmt.Sprintf("%d, %s, %d bytes", i, name, len(data)), data)
			}
		})
	}
}

// damagedFile returns a gzip file of text that was damaged, and how. It depends on i.
func damagedFile(text []byte, i uint64) (name string, data []byte) {
	member := func(c, from, to int) []byte { return compressors[c%len(compressors)].zip(text[from:to]) }
	r := rand.New(rand.NewPCG(7, i))
	var members [][]byte
	switch i % 3 {
	case 0:
		members = [][]byte{member(r.IntN(20), 0, 120_000)}
	case 1:
		for from := 0; from < 120_000; from += 20_000 {
			members = append(members, member(r.IntN(20), from, from+20_000))
		}
	default:
		members = [][]byte{bgzip(text)}
	}
	data = slices.Concat(members...)
	at, other := r.IntN(len(data)), r.IntN(len(data))
	switch kind := r.IntN(5); {
	case kind == 0:
		name = fmt.Sprintf("cut at %d", at)
		data = data[:at]
	case kind == 1:
		name = fmt.Sprintf("spliced at %d", at)
		data = slices.Concat(data[:at], data[other:])
	case kind == 2 && len(members) > 1:
		name = "swapped"
		a, b := r.IntN(len(members)), r.IntN(len(members))
		members[a], members[b] = members[b], members[a]
		data = slices.Concat(members...)
	case kind == 3:
		name = fmt.Sprintf("overwritten at %d", at)
		copy(data[at:], random(i, 1+r.IntN(50)))
	default:
		name = "flipped"
		for range 1 + r.IntN(3) {
			data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		}
	}
	return name, data
}

func TestHeaders(t *testing.T) {
	whole := fields(true)([]byte("text"))
	step := testrun.Pick(5, 25, 100)
	for n := 0; n < len(whole); n += 1 + n/step {
		compare(t, fmt.Sprintf("cut at %d", n), whole[:n])
		for _, flip := range []byte{1, 32, 255} {
			data := bytes.Clone(whole)
			data[n] ^= flip
			compare(t, fmt.Sprintf("flipped at %d", n), data)
			compare(t, fmt.Sprintf("flipped at %d of the second", n), slices.Concat(whole, data))
		}
	}
	long := bytes.Clone(plainHeader)
	long[3] = deflate.FlagName
	compare(t, "long name", append(long, bytes.Repeat([]byte("x"), 600)...))
	for _, tail := range []string{"\x00", "\x00\x00\x1f\x8b", "x", "\x1f", "\x1fx", "\x1f\x8b", "\x1f\x8b\x08", "\x00x"} {
		for _, data := range [][]byte{whole, bgzip([]byte("text")), bgzip([]byte("text"))[:70]} {
			compare(t, fmt.Sprintf("%q behind", tail), append(bytes.Clone(data), tail...))
		}
	}
	zeros := append(bytes.Clone(whole), make([]byte, 50_000)...)
	compare(t, "zeros", zeros)
	compare(t, "zeros and a byte", append(zeros, 1))
	var data []byte
	compare(t, "nothing", data)
}

// TestDamagedTime: damage must not make reading much slower.
func TestDamagedTime(t *testing.T) {
	testrun.NotShort(t)
	text := fastq(8, testrun.Pick(1_500_000, 1_500_000, 4_000_000))
	sound := goLevel(6)(text)
	// Processor time, since others may use the machine.
	measure := func(data []byte) time.Duration {
		best := time.Duration(math.MaxInt64)
		for range 3 {
			began := testrun.CPUTime()
			readAll(bytes.NewReader(data), Options{Threads: 2})
			best = min(best, testrun.CPUTime()-began)
		}
		return best
	}
	limit := 10 * measure(sound)
	for i := range 30 {
		data := bytes.Clone(sound)
		data[(i+1)*len(data)/32] ^= 1 << (i % 8)
		if got := measure(data); got > limit {
			t.Errorf("damage %d: %v, limit %v", i, got, limit)
		}
	}
	// Headers of blocks that are none, in stored blocks.
	zipped := goLevel(6)(text[:100_000])
	traps := goLevel(0)(bytes.Repeat(zipped[10:200], len(text)/200))
	if got := measure(traps); got > limit {
		t.Errorf("headers in stored blocks: %v, limit %v", got, limit)
	}
}
