package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"orcomgo/bins/bam"
	"orcomgo/internal/deflate"
	"orcomgo/internal/testrun"
)

func small(t testing.TB, c Config) *Simulator {
	t.Helper()
	if c.Genome == nil {
		c.Genome = Invent(GenomeConfig{Size: 200_000, Contigs: 3, Repeats: 0.1, Seed: 5})
	}
	if c.Reads == 0 {
		c.Reads = 20_000
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// record is a FASTQ record cut in its lines.
type record struct{ name, seq, plus, qual string }

func records(t testing.TB, text []byte) (all []record) {
	t.Helper()
	lines := strings.Split(string(text), "\n")
	if len(lines)%4 != 1 || lines[len(lines)-1] != "" {
		t.Fatalf("%d lines are no FASTQ records", len(lines))
	}
	for i := 0; i+4 < len(lines); i += 4 {
		r := record{lines[i], lines[i+1], lines[i+2], lines[i+3]}
		if r.name[0] != '@' || r.plus[0] != '+' || len(r.seq) != len(r.qual) {
			t.Fatalf("record %d is no FASTQ: %q", i/4, r)
		}
		all = append(all, r)
	}
	return all
}

func TestSameBytesForAnyNumberOfWorkers(t *testing.T) {
	for _, paired := range testrun.Pick([]bool{true}, []bool{false, true}, []bool{false, true}) {
		s := small(t, Config{Paired: paired, Length: testrun.Pick(30, 100, 100), NRate: 0.001, Trim: 0.2, Optical: 0.05})
		want1, want2 := s.All()
		for _, workers := range []int{1, 2, 7} {
			if workers == 2 && testrun.Short() {
				continue
			}
			var got1, got2 bytes.Buffer
			if err := s.Write(context.Background(), &got1, &got2, workers, nil); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got1.Bytes(), want1) || !bytes.Equal(got2.Bytes(), want2) {
				t.Errorf("paired %v: %d workers wrote other bytes", paired, workers)
			}
		}
		if n := len(records(t, want1)); n != 20_000 {
			t.Errorf("%d records", n)
		}
		if paired != (len(want2) > 0) {
			t.Errorf("paired %v, second mates of %d bytes", paired, len(want2))
		}
	}
}

func TestSeedMatters(t *testing.T) {
	a, _ := small(t, Config{Reads: 100, Seed: 1}).All()
	b, _ := small(t, Config{Reads: 100, Seed: 2}).All()
	if bytes.Equal(a, b) {
		t.Error("two seeds drew the same reads")
	}
}

// truth returns what read i was before its errors.
func truth(s *Simulator, i, n, mate int) string {
	f := s.library.fragment(uint64(i))
	if mate == 2 {
		f.reverse = !f.reverse
	}
	if f.reverse {
		b := make([]byte, n)
		reverseComplement(b, s.c.Genome.letters[f.start+f.length-n:f.start+f.length])
		return string(b)
	}
	return string(s.c.Genome.letters[f.start : f.start+n])
}

func TestErrorsFollowQualities(t *testing.T) {
	testrun.NoRace(t)
	s := small(t, Config{Paired: true, MeanError: 0.02})
	var bases, wrong [94]float64
	r1, r2 := s.All()
	for mate, text := range [][]byte{r1, r2} {
		for i, r := range records(t, text) {
			for j, b := range []byte(truth(s, i, len(r.seq), mate+1)) {
				q := r.qual[j] - 33
				bases[q]++
				if r.seq[j] != b {
					wrong[q]++
				}
			}
		}
	}
	var sum, total float64
	for q, n := range bases {
		sum, total = sum+wrong[q], total+n
		p := math.Pow(10, -float64(q)/10)
		if n*p < 500 {
			continue
		}
		if got := wrong[q] / n; math.Abs(got-p) > 5*math.Sqrt(p/n) {
			t.Errorf("quality %d: %.5f of %.0f bases are wrong, want %.5f", q, got, n, p)
		}
	}
	if mean := sum / total; math.Abs(mean-0.02) > 0.002 {
		t.Errorf("mean error %.4f, want 0.02", mean)
	}
}

func TestMeanError(t *testing.T) {
	testrun.NotShort(t)
	for _, c := range []struct {
		profile Profile
		want    float64
	}{{Levels41, 0.0003}, {Levels41, 0.005}, {Levels8, 0.001}, {Levels4, 0.002}, {HiFi, 0.0005}, {Nanopore, 0.08}} {
		s := small(t, Config{Quality: c.profile, MeanError: c.want, Length: 120})
		text, _ := s.All()
		var sum, n float64
		for _, r := range records(t, text) {
			for _, q := range []byte(r.qual) {
				sum += math.Pow(10, -float64(q-33)/10)
				n++
			}
		}
		if got := sum / n; math.Abs(got-c.want) > 0.08*c.want {
			t.Errorf("profile %d: mean error %.5f, want %.5f", c.profile, got, c.want)
		}
	}
	if _, err := New(Config{Genome: Invent(GenomeConfig{Size: 1000}), Reads: 1, Quality: Levels4, MeanError: 1e-6}); err == nil {
		t.Error("4 levels reached a mean error of 1e-6")
	}
}

func TestLevels(t *testing.T) {
	testrun.NoRace(t)
	for profile, want := range map[Profile]string{Levels4: "#,:F", Levels8: "#'07<BFI"} {
		text, _ := small(t, Config{Quality: profile, NRate: 0.001}).All()
		var seen [256]bool
		for _, r := range records(t, text) {
			for _, q := range []byte(r.qual) {
				seen[q] = true
			}
		}
		var got []byte
		for q, yes := range seen {
			if yes {
				got = append(got, byte(q))
			}
		}
		if string(got) != want {
			t.Errorf("profile %d: qualities %q, want %q", profile, got, want)
		}
	}
}

func TestNeighboursAreAlike(t *testing.T) {
	testrun.NoRace(t)
	text, _ := small(t, Config{}).All()
	var alike, n float64
	for _, r := range records(t, text) {
		for j := 20; j < len(r.qual); j++ {
			n++
			if r.qual[j] == r.qual[j-1] {
				alike++
			}
		}
	}
	if share := alike / n; share < 0.5 || share > 0.95 {
		t.Errorf("%.2f of the qualities are their neighbour's", share)
	}
}

func TestNRate(t *testing.T) {
	testrun.NoRace(t)
	text, _ := small(t, Config{NRate: 0.002}).All()
	var n, all int
	for _, r := range records(t, text) {
		for j, b := range []byte(r.seq) {
			all++
			if b == 'N' {
				n++
				if r.qual[j] != '#' {
					t.Fatalf("an N of quality %q", r.qual[j])
				}
			}
		}
	}
	if got := float64(n) / float64(all); math.Abs(got-0.002) > 0.0002 {
		t.Errorf("N rate %.5f, want 0.002", got)
	}
}

func TestTrim(t *testing.T) {
	text, _ := small(t, Config{Length: 90, Trim: 0.5}).All()
	cut, shortest := 0, 90
	for _, r := range records(t, text) {
		shortest = min(shortest, len(r.seq))
		if len(r.seq) < 90 {
			cut++
		}
	}
	if cut < 9_500 || cut > 10_500 || shortest != 35 {
		t.Errorf("%d of 20000 reads are cut, the shortest to %d", cut, shortest)
	}
}

func TestInserts(t *testing.T) {
	s := small(t, Config{Paired: true})
	var sum, squares float64
	for i := range uint64(20_000) {
		n := float64(s.library.fragment(i).length)
		sum, squares = sum+n, squares+n*n
	}
	mean := sum / 20_000
	if sd := math.Sqrt(squares/20_000 - mean*mean); math.Abs(mean-350) > 2 || math.Abs(sd-50) > 2 {
		t.Errorf("inserts of %.1f +- %.1f, want 350 +- 50", mean, sd)
	}
}

func TestDuplicates(t *testing.T) {
	s := small(t, Config{Optical: 0.1})
	seen := map[fragment]int{}
	adjacent := 0
	for i := range uint64(20_000) {
		f := s.library.fragment(i)
		seen[f]++
		if i > 0 && f == s.library.fragment(i-1) {
			adjacent++
		}
	}
	if copies := 20_000 - len(seen); copies < 1_500 || copies > 2_600 {
		t.Errorf("%d of 20000 fragments are copies, want some 10 %%", copies)
	}
	if adjacent < 1_500 || adjacent > 2_500 {
		t.Errorf("%d optical duplicates, want some 2000", adjacent)
	}
}

func TestExpression(t *testing.T) {
	s := small(t, Config{Expression: 2})
	depth := make([]int, s.c.Genome.Size())
	for i := range uint64(20_000) {
		depth[s.library.fragment(i).start]++
	}
	covered, deepest := 0, 0
	for _, d := range depth {
		deepest = max(deepest, d)
		if d > 0 {
			covered++
		}
	}
	// 20,000 starts drawn evenly over 200,000 positions hit about 19,000 of them
	if covered > 15_000 || deepest < 5 {
		t.Errorf("reads start at %d positions, at most %d at one: no skew", covered, deepest)
	}
}

func TestNames(t *testing.T) {
	t.Run("casava", func(t *testing.T) {
		text, second := small(t, Config{Paired: true, Reads: 5_000}).All()
		lastY, mates := 0, records(t, second)
		for i, r := range records(t, text) {
			var lane, tile, x, y int
			fields := strings.Split(r.name, ":")
			if len(fields) != 10 || fields[9] != "ACAGTGAT" || !strings.HasSuffix(fields[6], " 1") {
				t.Fatalf("%q is no CASAVA name", r.name)
			}
			_, err := fmt.Sscan(strings.Join(fields[3:6], " ")+" "+strings.TrimSuffix(fields[6], " 1"), &lane, &tile, &x, &y)
			if err != nil || lane != 1 || tile != 1101 || y < lastY || x < 1000 || x > 33_000 {
				t.Fatalf("%q: %v", r.name, err)
			}
			if mates[i].name != strings.Replace(r.name, " 1:", " 2:", 1) {
				t.Fatalf("mates are named %q and %q", r.name, mates[i].name)
			}
			lastY = y
		}
	})
	t.Run("sra", func(t *testing.T) {
		text, _ := small(t, Config{Names: SRA, Reads: 3, Seed: 41}).All()
		for i, r := range records(t, text) {
			if want := fmt.Sprintf("SRR0000042.%d %[1]d length=100", i+1); r.name[1:] != want || r.plus[1:] != want {
				t.Errorf("%q %q, want %q", r.name, r.plus, want)
			}
		}
	})
	t.Run("far along the flow cell", func(t *testing.T) {
		n := newNamer(Casava, 0, false)
		got := string(n.append(nil, readsPerRow*rowsPerTile*tilesPerSwath*swaths*surfaces*9, 2, 100, &random{}))
		if !strings.HasPrefix(got, "@SIM01:2:") || !strings.Contains(got, ":2:1101:") || !strings.HasSuffix(got, ":1000 2:N:0:ACAGTGAT") {
			t.Errorf("%q", got)
		}
	})
}

func TestLongReads(t *testing.T) {
	testrun.NoRace(t)
	g := Invent(GenomeConfig{Size: 500_000})
	text, _ := small(t, Config{Genome: g, Long: true, Quality: HiFi, Names: PacBio, Reads: 500}).All()
	over, top := 0, byte(0)
	for _, r := range records(t, text) {
		if len(r.seq) > 20_000 {
			over++
		}
		for _, q := range []byte(r.qual) {
			top = max(top, q)
		}
	}
	if over < 10 || top != '~' {
		t.Errorf("%d of 500 reads beyond 20 kb, best quality %q", over, top)
	}
}

func TestLineEndsAndFASTA(t *testing.T) {
	text, _ := small(t, Config{Reads: 50, CRLF: true}).All()
	if n := bytes.Count(text, []byte("\r\n")); n != 200 || bytes.Count(text, []byte("\n")) != 200 {
		t.Errorf("%d lines of 200 end in CR LF", n)
	}
	text, _ = small(t, Config{Reads: 50, FASTA: true}).All()
	if lines := strings.Split(string(text), "\n"); len(lines) != 101 || lines[0][0] != '>' || len(lines[1]) != 100 {
		t.Errorf("FASTA of %d lines: %.40q", len(lines), text)
	}
}

func TestEncodings(t *testing.T) {
	testrun.NoRace(t)
	s := small(t, Config{Paired: true, Reads: 9_000, Length: 100}) // two chunks
	r1, r2 := s.All()
	var want []byte
	second := records(t, r2)
	for i, r := range records(t, r1) {
		m := second[i]
		want = fmt.Appendf(want, "%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n", r.name, r.seq, r.plus, r.qual, m.name, m.seq, m.plus, m.qual)
	}
	for name, encode := range map[string]Encoding{"text": nil, "gzip": Gzip, "bgzf": BGZF} {
		var out bytes.Buffer
		if err := s.Write(context.Background(), &out, nil, 2, encode); err != nil {
			t.Fatal(err)
		}
		got := out.Bytes()
		if name == "bgzf" && !bytes.HasSuffix(got, []byte(deflate.BGZFEnd)) {
			t.Error("no block ends the file")
		}
		if encode != nil {
			r, err := gzip.NewReader(&out)
			if err != nil {
				t.Fatal(name, err)
			}
			if got, err = io.ReadAll(r); err != nil {
				t.Fatal(name, err)
			}
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: other bytes came back", name)
		}
	}
	// every BGZF block tells where the next begins
	blocks := BGZF(nil, want[:200_000])
	n := 0
	for len(blocks) > 0 {
		if !bytes.HasPrefix(blocks, []byte("\x1f\x8b\x08\x04")) || string(blocks[12:14]) != "BC" {
			t.Fatalf("block %d is not where the one before says", n)
		}
		blocks = blocks[int(blocks[16])|int(blocks[17])<<8+1:]
		n++
	}
	if n != 4 {
		t.Errorf("200,000 bytes in %d blocks, want 4", n)
	}
}

func TestInventedGC(t *testing.T) {
	g := Invent(GenomeConfig{Size: 10_007, Contigs: 3, Repeats: 0.3, Seed: 9})
	var gc int
	for _, b := range g.letters {
		if b == 'G' || b == 'C' {
			gc++
		}
	}
	if share := float64(gc) / 10_007; math.Abs(share-meanGC) > 0.08 {
		t.Errorf("GC content %.2f, want %.2f", share, meanGC)
	}
}

func TestGapsAreAvoided(t *testing.T) {
	g := &Genome{}
	g.Add("chr1", []byte(strings.Repeat("n", 5_000)+strings.Repeat("acgtt", 1_000)))
	text, _ := small(t, Config{Genome: g, Reads: 500}).All()
	if n := bytes.Count(text, []byte("N")); n > 3_000 { // one in every name, and edges of the gap
		t.Errorf("%d Ns", n)
	}
}

func TestImpossible(t *testing.T) {
	g := Invent(GenomeConfig{Size: 1_000})
	for want, c := range map[string]Config{
		"no genome":         {Reads: 1},
		"N rate 2":          {Genome: g, NRate: 2},
		"of -1 bases":       {Genome: g, Length: -1},
		"as long as a read": {Genome: g, Length: 2_000},
		"no mates":          {Genome: g, Long: true, Length: 500, Paired: true},
		"room for a transc": {Genome: Invent(GenomeConfig{Size: 250}), Expression: 1},
		"too few reads":     {Genome: g, Optical: 0.97},
		"has 30 bases":      {Genome: Invent(GenomeConfig{Size: 20}), SmallRNA: 5},
		"has 400 bases":     {Genome: Invent(GenomeConfig{Size: 250}), Amplicons: 5},
		"or of small RNA":   {Genome: g, Amplicons: 5, SmallRNA: 5},
		"can't be negative": {Genome: g, Expression: -1},
		"only long reads":   {Genome: g, Indels: 0.01},
		"only the profiles": {Genome: g, Long: true, Length: 500, Indels: 0.01},
		"more than 0.1":     {Genome: g, Long: true, Length: 500, Quality: HiFi, Indels: 0.2},
	} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error that says %q", err, want)
		}
	}
}

func BenchmarkChunk(b *testing.B) {
	for name, c := range map[string]Config{"single": {}, "paired": {Paired: true}, "hifi": {Long: true, Quality: HiFi},
		"nanopore": {Long: true, Quality: Nanopore, Indels: 0.025}} {
		b.Run(name, func(b *testing.B) {
			c.Genome, c.Reads = Invent(GenomeConfig{Size: 1_000_000}), 1<<40
			s := small(b, c)
			r1, r2 := s.chunk(0, nil, nil, false, nil)
			b.SetBytes(int64(len(r1) + len(r2)))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				r1, r2 = s.chunk(i&1023, r1[:0], r2[:0], false, nil)
			}
		})
	}
}

// TestBAM: the FASTQ of the BAM that is written is that of the same draw, but for comments of names, and HiFi reads have two arrays of
// bytes.
func TestBAM(t *testing.T) {
	for name, c := range map[string]Config{
		"pairs":    {Reads: 50, Paired: true, Names: ENA},
		"hifi":     {Reads: 5, Long: true, Quality: HiFi, Names: PacBio},
		"strands":  {Reads: 5, Long: true, Quality: HiFi, Names: PacBio, Strands: true},
		"nanopore": {Reads: 5, Long: true, Quality: Nanopore, Names: Nanoread},
	} {
		s := small(t, c)
		var text, file bytes.Buffer
		file.Write(BAMHeader())
		if err := errors.Join(s.Write(t.Context(), &text, nil, 1, nil), s.Write(t.Context(), &file, nil, 2, c.BAM())); err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(&file)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := bam.Choice{}.Append(nil, data, true, nil)
		want := regexp.MustCompile(`(?m)^(@\S*) .*?(/[12])?$`).ReplaceAllString(text.String(), "$1$2")
		if err != nil || string(got) != want {
			t.Errorf("%s: %d bytes of FASTQ, %v, want %d", name, len(got), err, len(want))
		}
		for tag, of := range map[string]string{"ip": "hifi", "pw": "hifi", "fi": "strands", "fp": "strands", "ri": "strands", "rp": "strands"} {
			if n := bytes.Count(data, []byte(tag+"BC")); name == of && n != 5 {
				t.Errorf("%d arrays %s of 5 reads", n, tag)
			}
		}
		if name == "nanopore" && (bytes.Count(data, []byte("mvBc")) != 5 || bytes.Count(data, []byte("MLBC")) != 5) {
			t.Error("reads have no moves, or no modified bases")
		}
	}
}
