package compress

import (
	"bytes"
	"context"
	"errors"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/internal/testrun"
)

// reseal writes a copy of the archive in from to a new directory with its sections changed
// by f and all checksums right again, so that only decoding can tell.
func reseal(t testing.TB, from string, f func(i int, section []byte) []byte) string {
	t.Helper()
	r, err := archive.OpenEntry(entryOf(t, from))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	dir := t.TempDir()
	w, err := archive.Create(dir, r.Name(), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	man := *r.Manifest()
	man.Slices, man.Shared = slices.Clone(man.Slices), slices.Clone(man.Shared)
	if err := w.Begin(&man); err != nil {
		t.Fatal(err)
	}
	i := 0
	changed := func(s archive.Section) []byte {
		b, err := r.Read(s, nil, "a section")
		if err != nil {
			t.Fatal(err)
		}
		b = f(i, b)
		i++
		return b
	}
	for k := range man.Slices {
		s := &man.Slices[k]
		if s.Mate != nil {
			mate := *s.Mate
			s.Mate = &mate
		}
		sections := make(map[*archive.Section][]byte)
		s.EachSection(func(_ archive.Column, _ int, sec *archive.Section) { sections[sec] = changed(*sec) })
		if err := w.AddSlice(k, s, func(c archive.Column, m int) []byte { return sections[s.Section(c, m)] }); err != nil {
			t.Fatal(err)
		}
	}
	shared := man.Shared
	man.Shared, man.Parity = nil, archive.Section{}
	for _, s := range shared {
		if err := w.AddShared(&man, changed(s)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.End(&man), w.Commit(&man, archive.ParityOptions{})); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestForgedSections changes sections under checksums that match: the codecs must come to
// an error, and never to other text.
func TestForgedSections(t *testing.T) {
	testrun.NoRace(t)
	smallSlices(t)
	r1, r2 := simulated(71, 110, true)
	ins := append(
		pair(r1, r2),
		input{"x.fa", ">a b\nACGTNNNN\nacgt\nAC", -1, false},
		input{"y.fastq", "@y\r\nACGT\r\n+other\r\nIIII\r\n", -1, false},
	)
	dir := binTo(t, ins, record.Options{})
	packTo(t, dir, PackOptions{Threads: 2})
	sections := 0
	sameFiles(t, unpackAll(t, reseal(t, dir, func(i int, b []byte) []byte { sections = i + 1; return b }), UnpackOptions{}), texts(ins))
	rng := rand.New(rand.NewSource(7))
	for round := range sections * testrun.Pick(1, 2, 10) {
		changed := false
		forged := reseal(t, dir, func(i int, b []byte) []byte {
			if i != round%sections {
				return b
			}
			bad := bytes.Clone(b)
			switch rng.Intn(4) {
			case 0:
				bad = bad[:rng.Intn(len(bad)+1)]
			case 1:
				bad = append(bad, make([]byte, 1+rng.Intn(40))...)
				rng.Read(bad[len(b):])
			case 2:
				rng.Read(bad)
			default:
				for range 1 + rng.Intn(3) {
					if len(bad) > 0 {
						bad[rng.Intn(len(bad))] ^= 1 << rng.Intn(8)
					}
				}
			}
			changed = !bytes.Equal(bad, b)
			return bad
		})
		out := t.TempDir()
		_, err := Unpack(context.Background(), forged, UnpackOptions{Threads: 2, OutDir: out})
		files := filesIn(t, out)
		switch {
		case err == nil:
			sameFiles(t, files, texts(ins)) // what was changed said nothing
		case !changed:
			t.Fatalf("round %d: nothing was changed: %v", round, err)
		}
		for name, text := range files {
			if text != texts(ins)[name] {
				t.Fatalf("round %d: %v, and %s has other text", round, err, name)
			}
		}
	}
}
