package sim

import (
	"bytes"
	"math"
	"testing"

	"orcomgo/internal/testrun"
)

// replay returns the bases that the genome and the errors of a read make, with the Ns of the read.
func replay(s *Simulator, r *Truth) (b []byte) {
	genome := orient(nil, s.c.Genome.letters[r.Place:r.Place+r.Length], r.Reverse)
	at := 0
	for _, e := range r.Errors {
		b = append(b, genome[at:e.At]...)
		at = e.At
		if e.Kind != Insertion {
			at++
		}
		if e.Kind != Deletion {
			b = append(b, e.Base)
		}
	}
	b = append(b, genome[at:]...)
	for i := range r.Bases {
		if r.Bases[i] == 'N' && i < len(b) {
			b[i] = 'N'
		}
	}
	return b
}

// TestTruthMakesTheReads: what is said to be true of a read makes its bases, for all kinds of long reads, and the reads are those
// that are written.
func TestTruthMakesTheReads(t *testing.T) {
	testrun.NoRace(t)
	for name, c := range map[string]Config{
		"substitutions": {Quality: HiFi},
		"hifi":          {Quality: HiFi, Indels: 0.002, NRate: 0.001},
		"nanopore":      {Quality: Nanopore, Indels: 0.025, Trim: 0.3},
	} {
		t.Run(name, func(t *testing.T) {
			c.Long, c.Length, c.Reads = true, 2000, 300
			s := small(t, c)
			text, _ := s.All()
			written, i := records(t, text), 0
			s.Each(func(r *Truth) {
				if got := replay(s, r); !bytes.Equal(got, r.Bases) {
					t.Fatalf("read %d: its place and errors make %d bases, and it has %d others", i, len(got), len(r.Bases))
				}
				if written[i].seq != string(r.Bases) || written[i].qual != string(r.Qualities) {
					t.Fatalf("read %d is not the one that is written", i)
				}
				i++
			})
		})
	}
}

// TestIndels: as many bases are inserted and deleted as are asked for, most of them in runs; reads of better qualities have fewer.
func TestIndels(t *testing.T) {
	testrun.NoRace(t)
	for name, c := range map[string]struct {
		profile    Profile
		share      float64
		best, most float64 // of the classes of reads, the least and the greatest share that is expected, as parts of the mean
	}{"hifi": {HiFi, 0.002, 0.3, 3}, "nanopore": {Nanopore, 0.025, 0.7, 1.4}} {
		t.Run(name, func(t *testing.T) {
			s := small(t, Config{Long: true, Length: 4000, Reads: 1000, Quality: c.profile, Indels: c.share})
			var bases, indels, inRuns float64
			shares := []float64{}
			s.Each(func(r *Truth) {
				genome := orient(nil, s.c.Genome.letters[r.Place:r.Place+r.Length], r.Reverse)
				n := 0.0
				for _, e := range r.Errors {
					if e.Kind == Substitution {
						continue
					}
					n++
					if e.At > 0 && genome[e.At-1] == genome[e.At] || e.At+1 < len(genome) && genome[e.At+1] == genome[e.At] {
						inRuns++
					}
				}
				indels += n
				bases += float64(len(r.Bases))
				shares = append(shares, n/float64(len(r.Bases)))
			})
			if got := indels / bases; math.Abs(got-c.share) > 0.08*c.share {
				t.Errorf("%.5f of the bases are inserted or deleted, want %.5f", got, c.share)
			}
			if got := inRuns / indels; got < 0.6 {
				t.Errorf("%.2f of them are in runs of one base", got)
			}
			low, high := 0, 0
			for _, x := range shares {
				if x < c.best*c.share {
					low++
				}
				if x > c.most*c.share {
					high++
				}
			}
			if low < len(shares)/20 || high < len(shares)/20 {
				t.Errorf("of %d reads, %d have few and %d many insertions and deletions", len(shares), low, high)
			}
		})
	}
}
