package estimate

import (
	"math"
	"testing"
)

// limits are those of two threads.
func limits() *Limits {
	return &Limits{Threads: 2, Memory: 8e9, Hold: 1e9, BlockText: 256e6, SliceText: 64e6, Streams: 2,
		Layout: func(reads, bases uint64) uint64 { return 28*reads + 6*bases }}
}

// point is what a run like that of the formulas takes: 40 bytes of names and qualities a record, sequences by new k-mers and bases.
func point(records uint64, kmers float64) *Point {
	p := &Point{Text: 250 * records, Records: records, Bases: 100 * records, Bins: 80 * records, Kmers: kmers}
	p.Sequences = uint64(novel*kmers + 0.02*float64(p.Bases))
	p.Archive = 1000 + 40*records + p.Sequences
	p.BinPeak, p.Peak = 24e6+2*p.Text, 20e6+8*p.Text
	p.CPU = 1 + 1e-4*float64(records)
	p.Seconds = p.CPU
	return p
}

func near(a, b uint64) bool { return math.Abs(float64(a)/float64(b)-1) < 0.01 }

func TestExtrapolate(t *testing.T) {
	genome := func(records uint64) float64 { return 5e6 * (1 - math.Exp(-float64(records)*100/5e6)) }
	half, full := point(100e3, genome(100e3)), point(200e3, genome(200e3))
	for _, records := range []uint64{300e3, 1e6, 20e6} {
		want := point(records, genome(records))
		e := limits().Extrapolate(half, full, want.Text, want.Kmers)
		if !near(e.Archive, want.Archive) {
			t.Errorf("%d records: archive of %d bytes, want %d", records, e.Archive, want.Archive)
		}
		if math.Abs(e.CPU/want.CPU-1) > 0.01 {
			t.Errorf("%d records: %g s of all threads, want %g", records, e.CPU, want.CPU)
		}
		if e.Seconds < want.CPU/2 || e.Seconds > want.CPU {
			t.Errorf("%d records: %g s with two threads, and %g s of all threads", records, e.Seconds, want.CPU)
		}
	}
}

func TestMemory(t *testing.T) {
	half, full := point(100e3, 1e6), point(200e3, 2e6)
	l := limits()
	// as many slices as are in work at a time: in proportion
	if e := l.Extrapolate(half, full, 180e6, 3e6); !near(e.Memory, 20e6+8*180e6) {
		t.Errorf("180 MB of text take %d bytes of memory", e.Memory)
	}
	// then the layout alone grows
	a, b := l.Extrapolate(half, full, 1e9, 3e6).Memory, l.Extrapolate(half, full, 2e9, 3e6).Memory
	if grown, want := b-a, uint64(28*4e6+6*4e8); math.Abs(float64(grown)-float64(want)) > 0.1*float64(want) {
		t.Errorf("from 1 to 2 GB of text memory grows by %d, want %d", grown, want)
	}
	// never beyond the limit
	l.Memory = 1e9
	if e := l.Extrapolate(half, full, 1e12, 3e6); e.Memory != l.Memory {
		t.Errorf("%d bytes of memory, want %d", e.Memory, l.Memory)
	}
}

func TestTemporary(t *testing.T) {
	l := limits()
	half, full := point(100e3, 1e6), point(200e3, 2e6)
	for _, c := range []struct{ text, want uint64 }{{50e6, 0}, {1e9, 0}, {2e9, 640e6}, {10e9, 3.2e9}} {
		// Up to an eighth of the memory stays there, unless the layout needs it.
		if e := l.Extrapolate(half, full, c.text, 3e6); c.want == 0 && e.Temporary != 0 || c.want > 0 && !near(e.Temporary, c.want) {
			t.Errorf("%d bytes of text: %d bytes of temporary files, want %d", c.text, e.Temporary, c.want)
		}
	}
}

func TestWhole(t *testing.T) {
	p := point(1000, 1000)
	want := Expected{Archive: p.Archive, Seconds: p.Seconds, CPU: p.CPU, Memory: p.Peak}
	if e := limits().Whole(p); e != want {
		t.Errorf("%+v, want %+v", e, want)
	}
	if e := limits().Extrapolate(p, p, p.Text, 1000); e != want {
		t.Errorf("as large as what was measured: %+v, want %+v", e, want)
	}
}

// Times that were measured on a busy machine don't lead to an archive that takes no longer than its first part.
func TestBusy(t *testing.T) {
	half, full := point(100e3, 1e6), point(200e3, 2e6)
	half.CPU, half.Seconds = full.CPU, 3*full.Seconds
	if e := limits().Extrapolate(half, full, 10*full.Text, 3e6); e.CPU < 7*full.CPU || e.Seconds < 3*full.Seconds {
		t.Errorf("%g s, %g s of all threads: ten times as much took %g and %g s", full.Seconds, full.CPU, e.Seconds, e.CPU)
	}
}
