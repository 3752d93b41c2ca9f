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
	p := &Point{Text: 250 * records, Records: records, Bases: 100 * records, Bins: 80 * records}
	p.Sequences = uint64(novel*kmers + 0.02*float64(p.Bases))
	p.Archive = 1000 + 40*records + p.Sequences
	p.BinPeak, p.Peak = 24e6+2*p.Text, 20e6+8*p.Text
	p.CPU = 1 + 1e-4*float64(records)
	p.Seconds = p.CPU
	return p
}

func near(a, b uint64) bool { return math.Abs(float64(a)/float64(b)-1) < 0.01 }

// line is the number of k-mers of a text in which they grow with it, by so many a byte.
func line(perByte float64) func(uint64) float64 {
	return func(text uint64) float64 { return perByte * float64(text) }
}

func TestExtrapolate(t *testing.T) {
	genome := func(records uint64) float64 { return 5e6 * (1 - math.Exp(-float64(records)*100/5e6)) }
	half, full := point(100e3, genome(100e3)), point(200e3, genome(200e3))
	for _, records := range []uint64{300e3, 1e6, 20e6} {
		want := point(records, genome(records))
		e := limits().Extrapolate(half, full, want.Text, func(text uint64) float64 { return genome(text / 250) })
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

// Half of the k-mers of nanopore reads have an error. Those in new bases are new in any case, and cost nothing more.
func TestLongReads(t *testing.T) {
	const genome, mistakes = 3e6, 0.5
	fresh := func(bases float64) float64 { return genome * (1 - math.Exp(-bases/genome)) }
	kmers := func(text uint64) float64 {
		bases := float64(text) / 2
		return fresh(bases) + mistakes*(bases-fresh(bases))
	}
	of := func(text uint64) *Point {
		bases := float64(text) / 2
		p := &Point{Text: text, Bases: text / 2, Records: text / 20e3, Bins: text / 3}
		p.Sequences = uint64(novel*fresh(bases) + perLongMistake*mistakes*(bases-fresh(bases)))
		p.Archive = text/4 + p.Sequences
		return p
	}
	want := of(120e6)
	e := limits().Extrapolate(of(2e6), of(4e6), want.Text, kmers)
	if got := float64(e.Archive - want.Text/4); math.Abs(got/float64(want.Sequences)-1) > 0.05 {
		t.Errorf("%.0f bytes of sequences, want %d", got, want.Sequences)
	}
}

// Memory grows from that of the sample with the text in work and with new sequences. What half of the sample took makes no difference:
// peaks of small samples differ by as much.
func TestMemory(t *testing.T) {
	full := &Point{Text: 50e6, Records: 200e3, Bases: 20e6, Sequences: 1e6, Peak: 200e6}
	small := &Point{Text: 4e6, Records: 16e3, Bases: 1.6e6, Sequences: 0.3e6, Peak: 60e6}
	assembly := &Point{Text: 4e6, Records: 10, Bases: 3.9e6, Sequences: 0.9e6, Peak: 100e6}
	const coded = codedText + 2*codedTextThread
	for _, c := range []struct {
		name            string
		full            *Point
		text, sequences uint64
		basesOnly       bool
		want            float64
	}{
		{"nothing is new", full, 180e6, 1e6, false, 200e6 + perText*130e6 + perCoded*(coded-50e6)},
		{"new sequences", full, 180e6, 3e6, false, 200e6 + perText*130e6 + perCoded*(coded-50e6) + perSequence*2e6},
		{"the first sequences", small, 10e6, 0.7e6, false, 60e6 + (perText+perCoded)*6e6 + perSequence*0.4e6 + perFirst*0.2e6},
		{"first and further sequences", small, 180e6, 2e6, false,
			60e6 + perText*176e6 + perCoded*(coded-4e6) + perSequence*1.7e6 + perFirst*0.2e6},
		{"bases alone", full, 180e6, 1e6, true, 200e6 + (perText*130e6+perCodedBases*(coded-50e6))*20/50},
		{"an assembly", assembly, 14e6, 3e6, false, 100e6 + (perText+perCoded)*10e6 + perAssembly*2.1e6},
		{"more than is in work", full, 1e9, 1e6, false, 200e6 + perText*142e6 + perCoded*(coded-50e6) + (28*3.8e6+3.8e8)*808/950},
	} {
		l := limits()
		l.Memory, l.BasesOnly = 100e9, c.basesOnly
		half := *c.full
		half.Text /= 2
		for _, half.Peak = range []uint64{c.full.Peak / 3, c.full.Peak} {
			got := l.memory(&half, c.full, c.text, float64(c.sequences), c.text/250, c.text*100/250)
			if math.Abs(float64(got)/c.want-1) > 0.001 {
				t.Errorf("%s: %d bytes of memory, want %.0f", c.name, got, c.want)
			}
		}
	}
}

// With more threads more of the text is coded at a time.
func TestMemoryThreads(t *testing.T) {
	l := limits()
	l.Memory, l.Threads = 100e9, 16
	full := &Point{Text: 50e6, Records: 200e3, Bases: 20e6, Sequences: 1e6, Peak: 200e6}
	half := &Point{Text: 25e6, Peak: 150e6}
	want := 200e6 + perText*350e6 + perCoded*(codedText+16*codedTextThread-50e6)
	if got := l.memory(half, full, 400e6, 1e6, 1600e3, 160e6); math.Abs(float64(got)/want-1) > 0.001 {
		t.Errorf("%d bytes of memory, want %.0f", got, want)
	}
}

// Binning takes memory for the blocks in work; no more than the limit is expected.
func TestMemoryLimits(t *testing.T) {
	half, full := point(100e3, 1e6), point(200e3, 2e6)
	half.Peak, full.Peak = half.BinPeak, full.BinPeak
	l := limits()
	l.Memory = 100e9
	l.SliceText = 1e6
	if e := l.Extrapolate(half, full, 400e6, line(0.01)); !near(e.Memory, 24e6+2*400e6) {
		t.Errorf("400 MB of text take %d bytes of memory", e.Memory)
	}
	l.Memory = 1e9
	if e := l.Extrapolate(half, full, 1e12, line(0)); e.Memory != l.Memory {
		t.Errorf("%d bytes of memory, want %d", e.Memory, l.Memory)
	}
}

func TestTemporary(t *testing.T) {
	l := limits()
	half, full := point(100e3, 1e6), point(200e3, 2e6)
	for _, c := range []struct{ text, want uint64 }{{50e6, 0}, {1e9, 0}, {2e9, 640e6}, {10e9, 3.2e9}} {
		// Up to an eighth of the memory stays there, unless the layout needs it.
		if e := l.Extrapolate(half, full, c.text, line(0.03)); c.want == 0 && e.Temporary != 0 || c.want > 0 && !near(e.Temporary, c.want) {
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
	if e := limits().Extrapolate(p, p, p.Text, line(0)); e != want {
		t.Errorf("as large as what was measured: %+v, want %+v", e, want)
	}
}

// Times that were measured on a busy machine don't lead to an archive that takes no longer than its first part.
func TestBusy(t *testing.T) {
	half, full := point(100e3, 1e6), point(200e3, 2e6)
	half.CPU, half.Seconds = full.CPU, 3*full.Seconds
	if e := limits().Extrapolate(half, full, 10*full.Text, line(0.03)); e.CPU < 7*full.CPU || e.Seconds < 3*full.Seconds {
		t.Errorf("%g s, %g s of all threads: ten times as much took %g and %g s", full.Seconds, full.CPU, e.Seconds, e.CPU)
	}
}
