package compress

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/internal/testrun"
)

// TestSchedules packs bins of many slices and blocks with many numbers of threads and processors, so that slices end in many orders, and
// unpacks them: the archive is the same each time, and gives back the text.
func TestSchedules(t *testing.T) {
	smallSlices(t)
	setChains(t, 450, 1500)
	rounds, pairs, many := testrun.Pick(2, 4, 150), testrun.Pick(160, 450, 900), testrun.Pick(1350, 3000, 6000)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rng := rand.New(rand.NewSource(11))
	mates := pair(simulated(12, pairs, true))
	// Reads of many names and few bases. The first slice of a chain has long names and takes longest, and a form of names that is new at
	// its end.
	var text strings.Builder
	for i := range many {
		name := fmt.Sprintf("seq_%d_x%d", i*i%9973, i%77)
		if k := i % 450; k < 150 {
			name = strings.Repeat(name+":", 8) + strings.Repeat("/", k/149*(1+i/450))
		}
		fmt.Fprintf(&text, ">%s\n%s\n", name, "ACGTTGCAAC"[:4+i%7])
	}
	for _, c := range []struct {
		name string
		ins  []input
		o    record.Options
	}{
		{"many names", single("x.fasta", text.String()), record.Options{BlockSize: 8 << 10}},
		{"pair", mates, record.Options{BlockSize: 64 << 10}},
		{"any order", mates, record.Options{BlockSize: 64 << 10, OrderAny: true}},
	} {
		dir := binTo(t, c.ins, c.o)
		var want, restored string
		for k := range rounds {
			runtime.GOMAXPROCS(1 + rng.Intn(8))
			o := PackOptions{Threads: 1 + rng.Intn(8), KeepBins: true, Force: k > 0}
			packTo(t, dir, o)
			data, err := filepath.Glob(filepath.Join(dir, "*.cdna"))
			if err != nil || len(data) != 1 {
				t.Fatal(data, err)
			}
			got, err := os.ReadFile(data[0])
			if err != nil {
				t.Fatal(err)
			}
			if k == 0 {
				want = string(got)
				restored = fmt.Sprint(unpackAll(t, dir, UnpackOptions{}))
			}
			if string(got) != want {
				t.Errorf("%s: another archive with %d threads on %d processors", c.name, o.Threads, runtime.GOMAXPROCS(0))
			}
			if k%4 == 1 && fmt.Sprint(unpackAll(t, dir, UnpackOptions{Threads: o.Threads})) != restored {
				t.Errorf("%s: another text with %d threads on %d processors", c.name, o.Threads, runtime.GOMAXPROCS(0))
			}
		}
		if !c.o.OrderAny {
			for _, in := range c.ins {
				if !strings.Contains(restored, in.text) {
					t.Errorf("%s: %s was not restored", c.name, in.name)
				}
			}
		}
	}
}
