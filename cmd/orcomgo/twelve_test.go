package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"orcomgo/bins/commit"
	"orcomgo/cmd/simreads/sim"
	"orcomgo/compress"
	"orcomgo/compress/archive"
	"orcomgo/internal/codectest"
	"orcomgo/internal/testrun"
)

// twelveInputs writes two pairs, six single files, a FASTA file and an empty one, and returns
// their contents and what precedes the output directory in bin's arguments.
func twelveInputs(t *testing.T, dir string) (texts map[string][]byte, args []string) {
	t.Helper()
	texts = map[string][]byte{}
	g := sim.Invent(sim.GenomeConfig{Size: 8_000})
	for i := range 2 {
		s, err := sim.New(sim.Config{Genome: g, Reads: 60, Paired: true, NRate: 0.001, Seed: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		r1, r2 := fmt.Sprintf("pair%d_R1.fastq", i), fmt.Sprintf("pair%d_R2.fastq", i)
		texts[r1], texts[r2] = s.All()
		args = append(args, "-1", filepath.Join(dir, r1), "-2", filepath.Join(dir, r2))
	}
	for i := range 6 {
		s, err := sim.New(sim.Config{Genome: g, Reads: 80, Length: 60 + 10*i, CRLF: i == 2, Seed: uint64(10 + i)})
		if err != nil {
			t.Fatal(err)
		}
		texts[fmt.Sprintf("single%d.fastq", i)], _ = s.All()
	}
	texts["contigs.fa"] = []byte(">one\nACGTNNACGT\nACGTTGCA\n>two\nacgtTTGACCA\n")
	texts["empty.fastq"] = nil
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if !bytes.HasPrefix([]byte(name), []byte("pair")) {
			args = append(args, filepath.Join(dir, name))
		}
	}
	put(t, dir, texts)
	return texts, args
}

// needs returns which inputs can't be restored without the bytes from..to of the bulk file.
// The header and the copy of the manifest are needed by none, as long as the .cmeta file is there.
func needs(man *archive.Manifest, from, to uint64) map[string]bool {
	lost := map[string]bool{}
	hit := func(s archive.Section) bool { return s.Len > 0 && s.Off < to && from < s.Off+s.Len }
	for i := range man.Slices {
		s := &man.Slices[i]
		name := func(m *archive.Member) string { return man.Inputs[m.Input].Name }
		both := hit(s.Seqs)
		for _, shared := range man.Shared {
			both = both || hit(shared)
		}
		for _, m := range s.Members() {
			// Sequences need the lengths of both mates.
			both = both || hit(m.Sections[archive.Lengths])
			if hit(m.Sections[archive.Quals]) || hit(m.Sections[archive.Forms]) || hit(m.Sections[archive.Names]) {
				lost[name(m)] = true
			}
		}
		for _, m := range s.Members() {
			if both || s.Mate != nil && hit(s.First.Sections[archive.Names]) {
				lost[name(m)] = true
			}
		}
	}
	return lost
}

// TestDamagedTwelve damages an archive of twelve inputs: each input that the damage does not
// touch comes back, no file has wrong bytes, and what is missing is reported.
func TestDamagedTwelve(t *testing.T) {
	dir := t.TempDir()
	in, arch, out := filepath.Join(dir, "in"), filepath.Join(dir, "arch"), filepath.Join(dir, "out")
	if err := os.Mkdir(in, 0o777); err != nil {
		t.Fatal(err)
	}
	texts, args := twelveInputs(t, in)
	if len(texts) != 12 {
		t.Fatalf("%d inputs", len(texts))
	}
	mustRun(t, append(append([]string{"bin", "--quiet", "--block-size", "10KB"}, args...), arch)...)
	mustRun(t, "pack", "--quiet", "--parity", "none", arch)
	files := contents(t, arch)
	e, err := commit.One(arch)
	if err != nil {
		t.Fatal(err)
	}
	r, err := archive.OpenEntry(e)
	if err != nil {
		t.Fatal(err)
	}
	man := *r.Manifest()
	bulk, meta := filepath.Base(r.Paths()[0]), filepath.Base(r.Paths()[1])
	r.Close()
	// Without the parity within the bulk file, which would mend the damage.
	files[bulk] = codectest.WithoutParity(files[bulk])
	times := testrun.Pick(16, 16, 1000)
	rng := rand.New(rand.NewPCG(12, 12))
	whole, partial := 0, 0
	for i := range times {
		spoilt := maps.Clone(files)
		b := bytes.Clone(files[bulk])
		var lost map[string]bool
		what := ""
		switch i % 8 {
		case 0: // the manifest beside it
			m := bytes.Clone(files[meta])
			switch rng.IntN(3) {
			case 0:
				spoilt[meta] = m[:rng.IntN(len(m))]
			case 1:
				m[rng.IntN(len(m))] ^= 1 << rng.IntN(8)
				spoilt[meta] = m
			default:
				delete(spoilt, meta)
			}
			what = "the .cmeta file damaged or lost"
		case 1:
			n := rng.IntN(len(b))
			lost = needs(&man, uint64(n), uint64(len(b)))
			spoilt[bulk] = b[:n]
			what = fmt.Sprintf("cut to %d bytes", n)
		default:
			// Mostly few bytes, since the archive has not many; up to 64 KiB.
			size := 1 << rng.IntN(17)
			from := rng.IntN(len(b))
			to := min(len(b), from+1+rng.IntN(size))
			for k := from; k < to; k++ {
				b[k] ^= byte(1 + rng.IntN(255))
			}
			lost = needs(&man, uint64(from), uint64(to))
			spoilt[bulk] = b
			what = fmt.Sprintf("bytes %d to %d changed", from, to)
		}
		if err := errors.Join(os.RemoveAll(arch), os.RemoveAll(out), os.Mkdir(arch, 0o777)); err != nil {
			t.Fatal(err)
		}
		put(t, arch, spoilt)
		s, err := compress.Unpack(context.Background(), filepath.Join(arch, man.Inputs[0].Name[:5]),
			compress.UnpackOptions{Threads: 2, OutDir: out})
		if len(spoilt[bulk]) == 0 || spoilt[meta] == nil && len(lost) > 0 {
			continue
		}
		restored := map[string][]byte{}
		if _, e := os.Stat(out); e == nil {
			restored = contents(t, out)
		}
		for name, text := range texts {
			got, there := restored[name]
			if there && !bytes.Equal(got, text) {
				t.Errorf("%s: %s has wrong bytes", what, name)
			}
			if there == lost[name] {
				t.Errorf("%s: %s restored: %v (%v)", what, name, there, err)
			}
		}
		var damaged *compress.DamagedError
		if (len(lost) > 0) != errors.As(err, &damaged) {
			t.Errorf("%s: %d inputs lost, error %v", what, len(lost), err)
		}
		// Headers of sections and what only repairing needs are not read here; verify compares them.
		if i%8 < 2 && err == nil && len(s.Notes) == 0 {
			t.Errorf("%s: no word about it", what)
		}
		if damaged != nil {
			for _, f := range s.Files {
				if name := filepath.Base(f.Name); f.OK == lost[name] || !f.OK && len(f.Damaged) == 0 {
					t.Errorf("%s: status %+v", what, f)
				}
			}
		}
		switch {
		case len(lost) == 0:
			whole++
		case len(lost) < len(texts)-1:
			partial++
		}
	}
	t.Logf("%d damages: all restored after %d, some after %d", times, whole, partial)
	if whole < times/8 || partial < times/8 {
		t.Error("the damages are too much alike")
	}
}
