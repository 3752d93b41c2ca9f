package groups

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"orcomgo/internal/testrun"
)

// readsOf returns reads of 150 bases that cover a genome so many times, with one wrong base in a hundred, as a sample.
func readsOf(r *rand.Rand, g []byte, coverage float64, least int, files ...string) Sample {
	s := NewSketcher(least)
	n := 0
	for ; float64(n) < coverage*float64(len(g)); n += 150 {
		at := r.IntN(len(g) - 150)
		s.add(new(window), mutated(r, g[at:at+150], 0.01))
	}
	k := s.Sketch()
	k.Assembly = least == 1
	k.Text = uint64(2.4 * float64(n))
	return Sample{k, files}
}

// TestUnionOfReads: how much of a genome reads cover is estimated, also where most of it is covered once.
func TestUnionOfReads(t *testing.T) {
	testrun.NoRace(t)
	r := rand.New(rand.NewPCG(10, 1))
	g := genome(r, 1e6)
	for _, coverage := range testrun.Pick([]float64{0.3, 2}, []float64{0.3, 1, 5}, []float64{0.3, 0.5, 1, 2, 5, 10}) {
		for least := 1; least <= 2; least++ {
			list := []Sample{readsOf(r, g, coverage, least), readsOf(r, g, coverage, least)}
			for n := 1.0; n <= 2; n++ {
				part := []int{0, 1}[:int(n)]
				want := 1e6 * (1 - math.Exp(-n*coverage))
				if got := unionOf(list, part).size(); math.Abs(got/want-1) > 0.3 {
					t.Errorf("%d samples that cover %.1f times, least %d: %.0f bases, want %.0f", len(part), coverage, least, got, want)
				}
			}
		}
	}
	none := Sample{Sketch: new(Sketch)}
	if n := unionOf([]Sample{none, none}, []int{0, 1}).size(); n != 0 {
		t.Errorf("nothing has %.0f bases", n)
	}
}

// Two samples that cover half of a genome each have a pseudogenome that is half as large again, of which few k-mers were seen twice. Reads
// of much coverage, and assemblies, are together with their kind alone.
func TestArchivesOfReads(t *testing.T) {
	testrun.NoRace(t)
	r := rand.New(rand.NewPCG(11, 1))
	g := genome(r, 1e6)
	reads := func(coverage float64, i int) Sample { return readsOf(r, g, coverage, 2, fmt.Sprint(i)) }
	for _, c := range []struct {
		name string
		list []Sample
		want [][]int
	}{
		{"little", []Sample{reads(0.5, 0), reads(0.5, 1)}, [][]int{{0}, {1}}},
		{"much", []Sample{reads(10, 0), reads(10, 1), reads(12, 2)}, [][]int{{0, 1, 2}}},
		{"with genomes", []Sample{reads(10, 0), assembly(g, "1"), reads(10, 2), assembly(g, "3")}, [][]int{{0, 2}, {1, 3}}},
	} {
		if got := Archives(c.list, 2); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: archives %v, want %v", c.name, got, c.want)
		}
	}
}

// unionOf returns the k-mers of samples of a list, at least one.
func unionOf(list []Sample, part []int) (u *union) {
	for _, i := range part {
		u = u.with(list[i].Sketch)
	}
	return u
}
