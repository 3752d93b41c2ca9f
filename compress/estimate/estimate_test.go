package estimate

import (
	"math"
	"testing"
)

// limits are those of two threads.
func limits() *Limits {
	return &Limits{Threads: 2, Memory: 8e9, Hold: 1e9, BlockText: 512e6, SliceText: 64e6,
		Layout: func(reads, bases uint64) (uint64, uint64) { return 28*reads + 6*bases, 28*reads + bases }}
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

// Memory is that of the program, and grows with the text in work and with sequences. Half of the sample took less than that, since tables
// double.
func TestMemory(t *testing.T) {
	l := limits()
	l.Memory = 100e9
	for _, c := range []struct {
		name       string
		perText    float64
		perNew     float64 // bytes of memory for a byte of sequences
		tables     float64 // that half did not have
		text       uint64
		want, some float64 // which share more may be expected
	}{
		{"nothing is new", perText, 0, 0, 180e6, 20e6 + perText*180e6, 0},
		{"reads alone", 1, 0, 0, 180e6, 20e6 + 180e6, 0},
		{"new sequences", perText, 40, 0, 180e6, 20e6 + perText*180e6 + 40*(novel*6e6+0.02*72e6), 0},
		{"tables of the first sequences", perText, 0, 20e6, 180e6, 20e6 + perText*180e6, 0.3},
		{"more than is in work", perText, 0, 0, 1e9, 20e6 + perText*192e6 + 28*3.232e6 + 3.232e8, 0},
	} {
		kmers := func(text uint64) float64 { return float64(text) / 30 }
		measured := func(text uint64, tables float64) *Point {
			p := point(text/250, kmers(text))
			p.BinPeak = 0
			p.Peak = uint64(20e6 + c.perText*float64(p.Text) + c.perNew*float64(p.Sequences) - tables)
			return p
		}
		half, full := measured(25e6, c.tables), measured(50e6, 0)
		e := l.Extrapolate(half, full, c.text, kmers(c.text))
		if got := float64(e.Memory); got < 0.99*c.want || got > (1.01+c.some)*c.want {
			t.Errorf("%s: %d bytes of memory, want %.0f", c.name, e.Memory, c.want)
		}
	}
}

// TestBasesOnly: without names and qualities, what grows with the text is only what its bases take.
func TestBasesOnly(t *testing.T) {
	l := limits()
	l.Memory, l.BasesOnly = 100e9, true
	measured := func(text uint64) *Point {
		p := point(text/250, 1e6)
		p.BinPeak, p.Peak = 0, 20e6+4*p.Text
		return p
	}
	full := measured(50e6)
	text := uint64(100e6)
	want := 20e6 + 4*50e6 + perText*50e6*100/250 + mostPerSequence*0.02*20e6 // of 250 bytes, 100 are bases
	if e := l.Extrapolate(measured(25e6), full, text, 1e6); math.Abs(float64(e.Memory)/want-1) > 0.02 {
		t.Errorf("%d bytes of memory, want %.0f", e.Memory, want)
	}
}

// Binning takes memory for the blocks in work; no more than the limit is expected.
func TestMemoryLimits(t *testing.T) {
	half, full := point(100e3, 1e6), point(200e3, 2e6)
	half.Peak, full.Peak = half.BinPeak, full.BinPeak
	l := limits()
	l.Memory = 100e9
	l.SliceText = 1e6
	if e := l.Extrapolate(half, full, 400e6, 2e6); !near(e.Memory, 24e6+2*400e6) {
		t.Errorf("400 MB of text take %d bytes of memory", e.Memory)
	}
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
