package archive

import (
	"errors"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"orcomgo/bins/record"

	"github.com/zeebo/xxh3"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
)

// sample writes an archive "x" of a pair and a single input to dir and returns its manifest.
func sample(t testing.TB, dir string, verified bool) *Manifest {
	t.Helper()
	w, err := Create(dir, "x", commit.Forced(true, nil), false)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewSource(1))
	random := func(n int) []byte {
		b := make([]byte, n)
		rng.Read(b)
		return b
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	m := &Manifest{Source: [16]byte{1, 2, 3}, Tool: "orcomgo test", Sides: []string{"run", "b"}, Verified: verified,
		Options: record.Options{BlockSize: 256 << 20}}
	m.Inputs = []Input{
		{Input: record.Input{Name: "r1.fastq", Mate: 1, First: true, Records: 30, Bytes: 900}, Bases: 300, MinLen: 10, MaxLen: 10,
			Blocks: []TextBlock{{Len: 500, Hash: [16]byte{9}}, {Len: 400, Hash: [16]byte{8}}}},
		{Input: record.Input{Name: "r2.fastq", Mate: 0, Records: 30, Bytes: 930}, Bases: 330, MinLen: 11, MaxLen: 11,
			Blocks: []TextBlock{{Len: 930, Hash: [16]byte{7}}}},
		{Input: record.Input{Name: "z.fa", Kind: record.FASTA, Mate: -1, Records: 1, Bytes: 70}, Bases: 60, MinLen: 60, MaxLen: 60,
			Blocks: []TextBlock{{Len: 70}}},
		{Input: record.Input{Name: "empty.fastq", Mate: -1}, Blocks: []TextBlock{}},
	}
	check(w.Begin(m))
	lens := [Columns]int{Lengths: 3, Names: 20, Quals: 40}
	add := func(s *Slice, seqs int) {
		check(w.AddSlice(len(m.Slices), s, func(c Column, _ int) []byte {
			if c == Seqs {
				return random(seqs)
			}
			return random(lens[c])
		}))
		m.Slices = append(m.Slices, *s)
	}
	member := func(input int, bases, names, text uint64) Member {
		p := Member{Input: input, Bases: bases, NamesLen: names}
		if verified {
			p.TextLen, p.TextHash = text, 77
		}
		return p
	}
	for i, n := range []int{20, 10} {
		s := Slice{From: uint64(20 * i), Records: n}
		s.First = member(0, uint64(n)*10, 9, uint64(n)*30)
		mate := member(1, uint64(n)*11, 9, uint64(n)*31)
		s.Mate = &mate
		add(&s, 50)
	}
	s := Slice{Records: 1, First: member(2, 60, 5, 70)}
	add(&s, 7)
	check(w.AddShared(m, random(100)))
	check(w.AddShared(m, nil))
	if verified {
		for i := range m.Inputs {
			m.Inputs[i].OutBytes = m.Inputs[i].Bytes
			m.Inputs[i].SHA256 = [32]byte{byte(i)}
		}
	}
	check(w.End(m))
	check(w.Commit(m, ParityOptions{Threads: 1}))
	return m
}

// readAll opens the archive and reads every section. It returns the first problem.
func readAll(dir string) error {
	r, err := openPath(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	var first error
	r.m.eachSection(func(_ label, s *Section) {
		if _, err := r.Read(*s, nil, "a section"); err != nil && first == nil {
			first = err
		}
	})
	if err := r.CheckRest(); err != nil {
		return err
	}
	if p := r.Problems(); len(p) > 0 && first == nil {
		first = p[0]
	}
	return first
}

func TestRoundTrip(t *testing.T) {
	for _, verified := range []bool{true, false} {
		dir := t.TempDir()
		want := sample(t, dir, verified)
		if err := readAll(dir); err != nil {
			t.Fatal(err)
		}
		r, err := openPath(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if !reflect.DeepEqual(r.Manifest(), want) {
			t.Errorf("manifest came back as\n%+v, was\n%+v", r.Manifest(), want)
		}
		if r.Name() != "x" {
			t.Errorf("name %q", r.Name())
		}
		z := r.Manifest().Sizes()
		if want := [Columns]uint64{Names: 100, Quals: 200, Seqs: 207, Lengths: 15}; z != want {
			t.Errorf("sizes %+v, want %+v", z, want)
		}
		if left, _ := os.ReadDir(dir); len(left) != 2 {
			t.Errorf("%d files: %v", len(left), left)
		}
	}
}

func TestFindSeveral(t *testing.T) {
	dir := t.TempDir()
	sample(t, dir, true)
	other := filepath.Join(dir, "y"+MetaSuffix)
	if err := os.WriteFile(other, []byte("somebody's"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := readAll(dir); err != nil {
		t.Errorf("beside another file: %v", err)
	}
	if err := os.WriteFile(other, []byte(metaMagic), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := openPath(dir); !errors.Is(err, commit.ErrSeveral) || !strings.Contains(err.Error(), "x, y") {
		t.Errorf("error %v", err)
	}
	if err := readAll(filepath.Join(dir, "x")); err != nil {
		t.Errorf("by name: %v", err)
	}
}

func TestAbort(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir, "x", commit.Forced(true, nil), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AddShared(&Manifest{}, []byte("abc")); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if err := w.AddShared(&Manifest{}, []byte("abc")); err == nil {
		t.Error("AddShared after Abort succeeded")
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
}

// TestReplace repacks over an archive: only where that was asked for.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	sample(t, dir, true)
	if _, err := Create(dir, "x", nil, false); !errors.Is(err, commit.ErrExists) {
		t.Errorf("error %v", err)
	}
	sample(t, dir, false)
	if err := readAll(dir); err != nil {
		t.Fatal(err)
	}
	if e, _ := os.ReadDir(dir); len(e) != 2 {
		t.Errorf("%d files, want 2", len(e))
	}
}

// TestStreamingHash: the archive ID comes from the streaming hash and readers of other
// languages will use the one-shot function.
func TestStreamingHash(t *testing.T) {
	rng := rand.New(rand.NewSource(3))
	for n := 0; n < 5000; n += 1 + n/7 {
		b := make([]byte, n)
		rng.Read(b)
		h := xxh3.New()
		for p := b; len(p) > 0; {
			k := min(len(p), 1+rng.Intn(700))
			h.Write(p[:k])
			p = p[k:]
		}
		if h.Sum128() != xxh3.Hash128(b) {
			t.Fatalf("%d bytes: streaming and one-shot XXH3-128 differ", n)
		}
	}
}

// TestWords: what slices say of the words of their names comes back, and words that cannot be are refused.
func TestWords(t *testing.T) {
	m := sample(t, t.TempDir(), true)
	m.NameRanges = true
	long := strings.Repeat("x", MaxWord-1)
	words := []Words{{"r1", "r10"}, {"r1:0:" + long[5:], "r7:9:" + long[5:]}, {}, {"r7:9:", long + "y"}}
	for i := range m.Slices {
		m.Slices[i].Words = words[i%len(words)]
	}
	data := m.marshal()
	got, err := parseManifest("x.cmeta", data)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got.Slices {
		if got.Slices[i].Words != words[i%len(words)] {
			t.Errorf("slice %d: words %v", i, got.Slices[i].Words)
		}
	}
	m.Slices[0].Words = Words{long, long + "yz"}
	if _, err := parseManifest("x.cmeta", m.marshal()); !errors.Is(err, parse.ErrCorrupt) {
		t.Errorf("too long: error %v", err)
	}
}

// openPath opens the packed archive that a path leads to.
func openPath(path string) (*Reader, error) {
	e, err := commit.One(path)
	if err != nil {
		return nil, err
	}
	return OpenEntry(e)
}
