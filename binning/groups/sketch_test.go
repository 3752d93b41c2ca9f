package groups

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"orcomgo/binning"
	"orcomgo/internal/testrun"
)

// genome returns n random bases.
func genome(r *rand.Rand, n int) []byte {
	g := make([]byte, n)
	for i := range g {
		g[i] = "ACGT"[r.IntN(4)]
	}
	return g
}

// mutated returns a copy in which a share of the bases is another one.
func mutated(r *rand.Rand, g []byte, share float64) []byte {
	g = slices.Clone(g)
	for i := range g {
		if r.Float64() < share {
			g[i] = "CGTA"[strings.IndexByte("ACGT", g[i])]
		}
	}
	return g
}

func reverseComplement(g []byte) []byte {
	out := make([]byte, len(g))
	for i, b := range g {
		out[len(g)-1-i] = "TGCA"[strings.IndexByte("ACGT", b)]
	}
	return out
}

func sketchOf(least int, seqs ...[]byte) *Sketch {
	s := NewSketcher(least)
	for _, seq := range seqs {
		s.add(new(window), seq)
	}
	return s.Sketch()
}

func TestSketch(t *testing.T) {
	testrun.NoRace(t)
	r := rand.New(rand.NewPCG(1, 1))
	g := genome(r, 300e3)
	s := sketchOf(1, g)
	if len(s.Solid) != SketchSize || !slices.IsSorted(s.Solid) || !reflect.DeepEqual(s.Solid, s.Seen) {
		t.Fatalf("%d k-mers, %d seen", len(s.Solid), len(s.Seen))
	}
	if n := kmersOf(s); math.Abs(n/300e3-1) > 0.1 {
		t.Errorf("about %.0f k-mers of 300,000", n)
	}
	for name, o := range map[string]*Sketch{
		"the other strand":    sketchOf(1, reverseComplement(g)),
		"two halves, swapped": sketchOf(1, g[150e3:], g[:150e3+K-1]),
		"twice":               sketchOf(1, g, g),
		"seen twice":          sketchOf(2, g, reverseComplement(g)),
		"in lower case":       sketchOf(1, []byte(strings.ToLower(string(g)))),
	} {
		if o.Bases, o.Windows, o.Again = s.Bases, s.Windows, s.Again; !reflect.DeepEqual(s, o) {
			t.Errorf("%s: another sketch", name)
		}
	}
	if o := sketchOf(2, g); len(o.Solid) != 0 || len(o.Seen) == 0 || kmersOf(o) != 0 {
		t.Errorf("k-mers seen once: %d are solid, %d seen", len(o.Solid), len(o.Seen))
	}
	if o := sketchOf(1, []byte("ACGTNACGTNACGTACGTAC")); len(o.Solid) != 0 {
		t.Errorf("no stretch of %d bases: %d k-mers", K, len(o.Solid))
	}
}

func TestContained(t *testing.T) {
	testrun.NoRace(t)
	r := rand.New(rand.NewPCG(2, 1))
	g := genome(r, 200e3)
	s := sketchOf(1, g)
	for _, c := range []struct {
		name string
		o    []byte
		want float64
	}{
		{"itself", g, 1},
		{"nothing in common", genome(r, 200e3), 0},
		{"one of 100 bases differs", mutated(r, g, 0.01), math.Pow(0.99, K)},
		{"half of it", g[:100e3], 0.5},
		{"and as much again", append(slices.Clone(g), genome(r, 200e3)...), 1},
		{"too short to tell", g[:30], 0},
	} {
		if got := s.Contained(sketchOf(1, c.o)); math.Abs(got-c.want) > 0.07 {
			t.Errorf("%s: %.3f contained, want %.3f", c.name, got, c.want)
		}
	}
}

// reads returns FASTQ of reads of a genome of which one base in 100 is wrong.
func reads(r *rand.Rand, g []byte, n int) string {
	var b strings.Builder
	for i := range n {
		at := r.IntN(len(g) - 100)
		read := mutated(r, g[at:at+100], 0.01)
		if i%2 == 1 {
			read = reverseComplement(read)
		}
		fmt.Fprintf(&b, "@r%d\n%s\n+\n%s\n", i, read, strings.Repeat("@", 100))
	}
	return b.String()
}

// fasta returns a genome with lines of so many bases.
func fasta(g []byte, width int) string {
	var b strings.Builder
	b.WriteString(">chromosome\n")
	for len(g) > 0 {
		n := min(width, len(g))
		b.Write(g[:n])
		b.WriteString("\r\n")
		g = g[n:]
	}
	return b.String()
}

// Nine samples of three species, as reads and assemblies, are in three groups.
func TestFind(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	dir := t.TempDir()
	var list []*Sketch
	for species := range 3 {
		g := genome(r, 60e3)
		for i, text := range []string{fasta(g, 70), fasta(mutated(r, reverseComplement(g), 0.01), 1000),
			reads(r, mutated(r, g, 0.005), 3000)} {
			path := filepath.Join(dir, fmt.Sprintf("%d.%d", species, i))
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := SketchInputs(context.Background(), []binning.InputSpec{{Path: path, Mate: -1}})
			if err != nil {
				t.Fatal(err)
			}
			if n := kmersOf(s); math.Abs(n/60e3-1) > 0.3 {
				t.Errorf("%s has about %.0f k-mers", path, n)
			}
			list = append(list, s)
		}
	}
	want := [][]int{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}}
	for threads := range 4 {
		if got := Find(list, threads); !reflect.DeepEqual(got, want) {
			t.Errorf("%d threads: groups %v, want %v", threads, got, want)
		}
	}
	if got := Find(nil, 1); len(got) != 0 {
		t.Errorf("no samples: groups %v", got)
	}
}

func TestSketchInputs(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) []binning.InputSpec {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return []binning.InputSpec{{Path: path, Mate: -1}}
	}
	g := string(genome(rand.New(rand.NewPCG(5, 1)), 400))
	lines := func(width int) (s string) {
		for i := 0; i < len(g); i += width {
			s += g[i:min(i+width, len(g))] + "\n"
		}
		return s
	}
	quals := strings.Repeat("@", len(g))
	one := "@a\n" + g + "\n+\n" + quals + "\n"
	wrapped := "@a\n" + lines(50) + "+a\n" + quals[:200] + "\n" + quals[200:] + "\n"
	want := len(g) - K + 1
	for _, c := range []struct {
		name, text string
		solid      int
	}{
		{"empty", "", 0},
		{"other text", "Sample,Lane\n", 0},
		{"fasta", ">a\n" + g + "\n", want},
		{"wrapped fasta", ">a\n" + lines(61) + ">b\nACGT", want},
		{"reads seen once", one, 0},
		{"reads seen twice", one + one, want},
		{"wrapped fastq", wrapped + wrapped, want},
		{"reads without bases", "@a\n\n+\n\n" + one + one, want},
	} {
		s, err := SketchInputs(context.Background(), write(c.name, c.text))
		if err != nil || len(s.Solid) != c.solid {
			t.Errorf("%s: %d k-mers, want %d; %v", c.name, len(s.Solid), c.solid, err)
		}
	}
	index := write("index", one+one)
	index[0].Further = true
	if s, err := SketchInputs(context.Background(), index); err != nil || len(s.Seen) != 0 {
		t.Errorf("reads of an index count: %v", err)
	}
	if _, err := SketchInputs(context.Background(), []binning.InputSpec{{Path: dir + "/none", Mate: -1}}); err == nil {
		t.Error("a missing file has a sketch")
	}
}

// kmersOf returns about how many different solid k-mers the sample has.
func kmersOf(s *Sketch) float64 {
	return float64(len(s.Solid)) * (math.MaxUint64 / float64(max(s.Limit, 1)))
}
