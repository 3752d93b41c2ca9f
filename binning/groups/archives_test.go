package groups

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"orcomgo/internal/testrun"
)

// assembly is a sample whose text is a genome.
func assembly(g []byte, files ...string) Sample {
	s := sketchOf(1, g)
	s.Assembly = true
	s.Text = uint64(len(g))
	return Sample{s, files}
}

func TestUnion(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	a, b := genome(r, 200e3), genome(r, 100e3)
	list := []Sample{assembly(a), assembly(a[:150e3]), assembly(b)}
	for _, c := range []struct {
		part []int
		want float64
	}{{[]int{0}, 200e3}, {[]int{0, 1}, 200e3}, {[]int{0, 2}, 300e3}, {[]int{0, 1, 2}, 300e3}} {
		if got := unionOf(list, c.part).size(); math.Abs(got/c.want-1) > 0.1 {
			t.Errorf("%v: %.0f k-mers, want %.0f", c.part, got, c.want)
		}
	}
}

func TestArchives(t *testing.T) {
	testrun.NoRace(t)
	r := rand.New(rand.NewPCG(7, 1))
	g, h := genome(r, 1e6), genome(r, 1e6)
	strain := func(g []byte, i int) Sample { return assembly(mutated(r, g, 0.001), fmt.Sprint(i, ".fasta")) }
	for _, c := range []struct {
		name string
		list []Sample
		want [][]int
	}{
		{"none", nil, nil},
		{"two species", []Sample{strain(g, 0), strain(h, 1), strain(g, 2), strain(h, 3)}, [][]int{{0, 2}, {1, 3}}},
		{"a species with many strains",
			[]Sample{strain(g, 0), strain(g, 1), strain(g, 2), strain(g, 3), strain(g, 4), strain(g, 5), strain(g, 6)},
			[][]int{{0, 1, 2, 3, 4, 5, 6}}},
		{"files of the same name", []Sample{strain(g, 0), strain(g, 1), strain(g, 0)}, [][]int{{0, 1}, {2}}},
		// half of the larger one is not in the smaller one, which would take twice as long to be restored
		{"a part of another one", []Sample{strain(g, 0), assembly(g[:400e3], "1")}, [][]int{{0}, {1}}},
		// a third is, but the smaller one has so little that it would take 1.3 times as long
		{"two small ones", []Sample{assembly(g[:300e3], "0"), assembly(g[:200e3], "1")}, [][]int{{0}, {1}}},
		{"two that differ less", []Sample{assembly(g[:240e3], "0"), assembly(g[:200e3], "1")}, [][]int{{0, 1}}},
	} {
		if got := Archives(c.list, 2); len(got)+len(c.want) > 0 && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: archives %v, want %v", c.name, got, c.want)
		}
	}
}

func TestRestoring(t *testing.T) {
	testrun.NoRace(t)
	r := rand.New(rand.NewPCG(12, 1))
	g := genome(r, 1e6)
	list := []Sample{assembly(g, "0"), assembly(g[:400e3], "1"), assembly(g, "2"), readsOf(r, g, 10, 2, "3")}
	for _, c := range []struct {
		part []int
		want []float64
	}{
		{[]int{0}, []float64{1}}, {[]int{0, 2}, []float64{1, 1}},
		{[]int{2, 1}, []float64{1, 75. / 36}},
		{[]int{0, 3}, []float64{185. / 75, 407. / 322}}, // the genome is there twice
	} {
		for k, got := range Restoring(list, c.part) {
			if math.Abs(got/c.want[k]-1) > 0.1 {
				t.Errorf("%v: sample %d takes %.2f times as long, want %.2f", c.part, c.part[k], got, c.want[k])
			}
		}
	}
}

// Samples that are similar, but have much of their own, are not all in one archive, and none of them is left out.
func TestArchivesBounded(t *testing.T) {
	testrun.NoRace(t)
	r := rand.New(rand.NewPCG(8, 1))
	core := genome(r, 900e3)
	var list []Sample
	for i := range 9 {
		list = append(list, assembly(append(slices.Clone(core), genome(r, 100e3)...), fmt.Sprint(i)))
	}
	got := Archives(list, 1)
	var all []int
	for _, part := range got {
		all = append(all, part...)
		for _, i := range part {
			if s := &list[i]; s.restoring(unionOf(list, part).size()) > 1.3*s.restoring(kmersOf(s.Sketch)) {
				t.Errorf("%v: sample %d takes too long to be restored", part, i)
			}
		}
	}
	slices.Sort(all)
	if !reflect.DeepEqual(all, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}) || len(got) < 2 || len(got) > 6 {
		t.Errorf("archives %v", got)
	}
}

// What is shared is little beside the text.
func TestArchivesSave(t *testing.T) {
	testrun.NoRace(t)
	r := rand.New(rand.NewPCG(9, 1))
	g := genome(r, 30e3)
	list := []Sample{assembly(g, "a"), assembly(g, "b")}
	if got := Archives(list, 1); len(got) != 1 {
		t.Errorf("archives %v", got)
	}
	for i := range list {
		list[i].Text = 100e6
	}
	if got := Archives(list, 1); len(got) != 2 {
		t.Errorf("with much text: archives %v", got)
	}
}
