package minimizer

import (
	"bufio"
	"compress/gzip"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
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
			sig, pos, reverse := Find([]byte(tt.read))
			if Letters(sig) != tt.sig || pos != tt.pos || reverse != tt.reverse {
				t.Errorf("Find(%s) = %s %d %v, want %s %d %v", tt.read, Letters(sig), pos, reverse, tt.sig, tt.pos, tt.reverse)
			}
		})
	}
}

// randomRead draws a read whose letters and lengths reach the odd cases: gaps, runs, lower case.
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
}

func same(t *testing.T, read []byte) {
	t.Helper()
	sig, pos, reverse := Find(read)
	wantSig, wantPos, wantReverse := Reference(read, K, Skip)
	if sig != wantSig || pos != wantPos || reverse != wantReverse {
		t.Fatalf("Find(%q) = %s %d %v, Reference %s %d %v", read, Letters(sig), pos, reverse, Letters(wantSig), wantPos, wantReverse)
	}
}

func FuzzFind(f *testing.F) {
	f.Add([]byte("ACGTACGTACGTACGTACGTACGT"))
	f.Add([]byte("NACGTTTGACGGTNacgtAAATTTCCGATAGACCAGATNNN.TAGA"))
	f.Fuzz(func(t *testing.T, read []byte) { same(t, read) })
}

// TestOracle compares with signatures that an independent program printed.
func TestOracle(t *testing.T) {
	dir := filepath.Join("..", "..", "shared", "oracle", "vectors")
	tables, _ := filepath.Glob(filepath.Join(dir, "*.tsv.gz"))
	if len(tables) == 0 {
		t.Skip("no vectors here")
	}
	for _, table := range tables {
		name, params, _ := strings.Cut(filepath.Base(table), ".")
		k, skip := int(params[1]-'0'), 0
		skip, _ = strconv.Atoi(params[strings.Index(params, "s")+1 : strings.Index(params, "m")])
		reads := gunzipLines(t, filepath.Join(dir, name+".fq.gz"))
		lines := gunzipLines(t, table)
		if len(lines) == 0 || len(reads) < 4*len(lines) {
			t.Fatalf("%s: %d lines for %d reads", table, len(lines), len(reads)/4)
		}
		for i, line := range lines {
			f := strings.Split(line, "\t")
			read := []byte(reads[4*i+1])
			sig, pos, reverse := Reference(read, k, skip)
			got := "N"
			if sig != None {
				got = Letters(sig)[K-k:]
			}
			rc := "0"
			if reverse {
				rc = "1"
			}
			if got != f[2] || rc != f[3] || strconv.Itoa(int(pos)) != f[4] {
				t.Fatalf("%s line %d: Reference = %s %s %d, want %v", table, i+1, got, rc, pos, f[2:5])
			}
			if k == K && skip == Skip {
				same(t, read)
			}
		}
	}
}

func gunzipLines(t *testing.T, path string) []string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for s := bufio.NewScanner(z); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines
}

func BenchmarkFindPacked(b *testing.B) {
	const n = 101
	rng := rand.New(rand.NewSource(1))
	reads := make([][]byte, 4096)
	for i := range reads {
		reads[i] = make([]byte, (n+3)/4+Pad)
		rng.Read(reads[i])
	}
	b.SetBytes(n)
	b.ResetTimer()
	for i := range b.N {
		FindPacked(reads[i%len(reads)], n, nil)
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
		Find(reads[i%len(reads)])
	}
}
