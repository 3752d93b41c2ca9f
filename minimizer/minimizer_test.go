package minimizer

import (
	"encoding/binary"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"orcomgo/bases"
)

func TestLetters(t *testing.T) {
	for sig, want := range map[uint32]string{0: "AAAAAAAA", 0x1b1b: "ACGTACGT", 65535: "TTTTTTTT", None: "N"} {
		if got := Letters(sig); got != want {
			t.Errorf("Letters(%d) = %s, want %s", sig, got, want)
		}
	}
}

func TestFindByHand(t *testing.T) {
	tests := []struct {
		name, read, sig string
		pos             uint32
		reverse         bool
	}{
		{"empty", "", "N", 0, false},
		{"too short by one", "ACGTACGTACGTACGTACG", "N", 0, false},
		{"one candidate a strand", "ACGTACGTACGTACGTACGT", "ACGTACGT", 0, false},
		{"all N", strings.Repeat("N", 50), "N", 0, false},
		{"runs only", strings.Repeat("A", 50), "N", 0, false},
		{"reverse strand", "TTGTTGTTGTTGTTGTTGTTGTTG", "AACAACAA", 1, true},
		{"leftmost on the reverse strand", strings.Repeat("GGTT", 10), "AACCAACC", 0, true},
		{"lower case", "acgtacgtacgtacgtacgt", "ACGTACGT", 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sig, pos, reverse := find([]byte(tt.read))
			if Letters(sig) != tt.sig || pos != tt.pos || reverse != tt.reverse {
				t.Errorf("find(%s) = %s %d %v, want %s %d %v", tt.read, Letters(sig), pos, reverse, tt.sig, tt.pos, tt.reverse)
			}
		})
	}
}

// randomRead draws a read whose letters and lengths reach the special cases: gaps, runs, lower case.
func randomRead(rng *rand.Rand, n int) []byte {
	alphabets := []string{"ACGT", "ACGTN", "AAAAAT", "GT", "ACGTacgt", "ACGTACGTACGTACGTACGTACGTACGTN.-RY"}
	letters := alphabets[rng.Intn(len(alphabets))]
	read := make([]byte, n)
	for i := range read {
		read[i] = letters[rng.Intn(len(letters))]
	}
	return read
}

func TestFindIsReference(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for i := range 20000 {
		read := randomRead(rng, rng.Intn(20+i%400))
		same(t, read)
	}
	// Longer than what is searched at a time.
	for n := range 600 {
		same(t, randomRead(rng, n))
		same(t, randomRead(rng, 600+n))
		// The same k-mers again and again: the first or the last one counts.
		same(t, []byte(strings.Repeat("AACCGGTTAACG", n/12+1)[:n]))
		same(t, []byte(strings.Repeat("TTGTTGGACCTTG", n/13+1)[:n]))
	}
}

// finders are all ways of finding a signature that this processor has.
var finders = map[string]func(packed []byte, n int, gaps []Gap) (sig, pos uint32, reverse bool){
	"FindPacked": FindPacked, "findPlain": findPlain,
}

func same(t *testing.T, read []byte) {
	t.Helper()
	wantSig, wantPos, wantReverse := reference(read, K, Skip)
	check := func(name string, sig, pos uint32, reverse bool) {
		if sig != wantSig || pos != wantPos || reverse != wantReverse {
			t.Fatalf("%s(%q) = %s %d %v, reference %s %d %v", name, read, Letters(sig), pos, reverse, Letters(wantSig), wantPos, wantReverse)
		}
	}
	sig, pos, reverse := find(read)
	check("Find", sig, pos, reverse)
	if len(read) < K {
		return
	}
	// FindPacked both ways, with bits of no meaning at the gaps and after the bases.
	packed := make([]byte, (len(read)+3)/4+Pad)
	gaps := packAny(packed, read, 0, nil)
	junk := uint32(len(read))
	for _, g := range append(gaps, Gap{len(read), 4 * len(packed)}) {
		for i := g.Start; i < g.End; i++ {
			junk = junk*1664525 + 1013904223
			packed[i>>2] |= byte(junk>>30) << (i & 3 * 2)
		}
	}
	sig, pos, reverse = FindPacked(packed, len(read), gaps)
	check("FindPacked", sig, pos, reverse)
	for name, find := range finders {
		sig, pos, reverse = find(packed, len(read), gaps)
		check(name, sig, pos, reverse)
	}
	for _, piece := range []int{4, 36, 400} {
		sig, pos, reverse = findLong(packed, len(read), gaps, piece, func(n int, f func(i int)) {
			for i := range n {
				f(n - 1 - i)
			}
		})
		check("FindLong", sig, pos, reverse)
	}
}

func FuzzFind(f *testing.F) {
	f.Add([]byte("ACGTACGTACGTACGTACGTACGT"))
	f.Add([]byte("NACGTTTGACGGTNacgtAAATTTCCGATAGACCAGATNNN.TAGA"))
	f.Fuzz(func(t *testing.T, read []byte) { same(t, read) })
}

// TestVectors compares with the signatures of testdata/vectors/signatures.tsv, which an
// independent program printed.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "testdata", "vectors", "signatures.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 6 {
			t.Fatalf("line %d: %d columns", i+1, len(f))
		}
		k, skip, read := toInt(t, f[0]), toInt(t, f[1]), []byte(f[2])
		sig, pos, reverse := reference(read, k, skip)
		got := "N"
		if sig != None {
			got = Letters(sig)[K-k:]
		}
		if got != f[3] || reverse != (f[4] == "1") || int(pos) != toInt(t, f[5]) {
			t.Errorf("line %d: reference = %s %v %d, want %v", i+1, got, reverse, pos, f[3:])
		}
		if k == K && skip == Skip {
			same(t, read)
			compared++
		}
	}
	if compared < 100 {
		t.Errorf("only %d reads have the k and the skip zone of Find", compared)
	}
}

func toInt(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func BenchmarkFindPacked(b *testing.B) {
	const n = 101
	rng := rand.New(rand.NewSource(1))
	reads := make([][]byte, 4096)
	for i := range reads {
		reads[i] = make([]byte, (n+3)/4+Pad)
		rng.Read(reads[i])
	}
	for name, find := range finders {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(n)
			for i := 0; b.Loop(); i++ {
				find(reads[i%len(reads)], n, nil)
			}
		})
	}
}

func BenchmarkFind(b *testing.B) {
	rng := rand.New(rand.NewSource(1))
	reads := make([][]byte, 4096)
	for i := range reads {
		reads[i] = make([]byte, 101)
		for j := range reads[i] {
			reads[i][j] = "ACGT"[rng.Intn(4)]
		}
	}
	b.SetBytes(101)
	b.ResetTimer()
	for i := range b.N {
		find(reads[i%len(reads)])
	}
}

// find packs a read and returns what FindPacked does.
func find(read []byte) (sig, pos uint32, reverse bool) {
	var smallBuffer [64 + Pad]byte
	var smallGaps [4]Gap
	packed, gaps := smallBuffer[:], smallGaps[:0]
	if n := (len(read)+3)/4 + Pad; n > len(packed) {
		packed = make([]byte, n)
	}
	at := 0
	for ; at+8 <= len(read); at += 8 {
		c, nonACGT := bases.Pack8(binary.LittleEndian.Uint64(read[at:]))
		if nonACGT != 0 {
			gaps = packAny(packed, read[at:at+8], at, gaps)
			continue
		}
		packed[at>>2], packed[at>>2+1] = byte(c), byte(c>>8)
	}
	gaps = packAny(packed, read[at:], at, gaps)
	return FindPacked(packed, len(read), gaps)
}

// packAny packs letters of any kind, the first of which is that with index at.
func packAny(packed, letters []byte, at int, gaps []Gap) []Gap {
	for i, c := range letters {
		i += at
		x := bases.Code(c)
		if x == bases.NoBase {
			if g := len(gaps); g > 0 && gaps[g-1].End == i {
				gaps[g-1].End++
			} else {
				gaps = append(gaps, Gap{i, i + 1})
			}
			continue
		}
		packed[i>>2] |= x << (i & 3 * 2)
	}
	return gaps
}
