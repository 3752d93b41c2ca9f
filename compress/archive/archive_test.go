package archive

import (
	"bytes"
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
	w, err := Create(dir, "x", true)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewSource(1))
	add := func(n int) Section {
		b := make([]byte, n)
		rng.Read(b)
		s, err := w.Add(b)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	m := &Manifest{Source: [16]byte{1, 2, 3}, Tool: "orcomgo test", Level: 2, Verified: verified,
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
	member := func(input int, bases, names, text uint64) Member {
		p := Member{Input: input, Bases: bases, NamesLen: names}
		if verified {
			p.TextLen, p.TextHash = text, 77
		}
		p.Sections = [...]Section{Lengths: add(3), Forms: add(0), Names: add(20), Quals: add(40)}
		return p
	}
	for i, n := range []int{20, 10} {
		s := Slice{From: uint64(20 * i), Records: n}
		s.First = member(0, uint64(n)*10, 9, uint64(n)*30)
		mate := member(1, uint64(n)*11, 9, uint64(n)*31)
		s.Mate = &mate
		s.Seqs = add(50)
		m.Slices = append(m.Slices, s)
	}
	s := Slice{Records: 1, First: member(2, 60, 5, 70)}
	s.Seqs = add(7)
	m.Slices = append(m.Slices, s)
	m.Shared = []Section{add(100), add(0)}
	if verified {
		for i := range m.Inputs {
			m.Inputs[i].OutBytes = m.Inputs[i].Bytes
			m.Inputs[i].SHA256 = [32]byte{byte(i)}
		}
	}
	if err := w.Commit(m); err != nil {
		t.Fatal(err)
	}
	return m
}

// readAll opens the archive and reads every section. It returns the first problem.
func readAll(dir string) error {
	r, err := Open(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	var first error
	if p := r.Problems(); len(p) > 0 {
		first = p[0]
	}
	r.m.eachSection(func(s *Section) {
		if _, err := r.Read(*s, nil, "a section"); err != nil && first == nil {
			first = err
		}
	})
	return first
}

func TestRoundTrip(t *testing.T) {
	for _, verified := range []bool{true, false} {
		dir := t.TempDir()
		want := sample(t, dir, verified)
		if err := readAll(dir); err != nil {
			t.Fatal(err)
		}
		r, err := Open(dir)
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

// TestDamage flips every bit and cuts every length of both files, and swaps each with
// that of another archive.
func TestDamage(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	sample(t, dir, true)
	w, err := Create(other, "x", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Add([]byte("shared")); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(&Manifest{Shared: []Section{{Len: 6, Hash: xxh3.HashString("shared")}}}); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{BulkSuffix, MetaSuffix} {
		path := filepath.Join(dir, "x"+suffix)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		expect := func(what string, bad []byte) {
			t.Helper()
			if err := os.WriteFile(path, bad, 0o666); err != nil {
				t.Fatal(err)
			}
			err := readAll(dir)
			if !errors.Is(err, parse.ErrCorrupt) {
				t.Fatalf("%s, %s: error %v", suffix, what, err)
			}
			if !strings.Contains(err.Error(), "x"+BulkSuffix) && !strings.Contains(err.Error(), "x"+MetaSuffix) {
				t.Fatalf("%s, %s: %q names no file", suffix, what, err)
			}
		}
		for i := range good {
			bad := bytes.Clone(good)
			bad[i] ^= 1 << (i % 8)
			expect("flipped bit", bad)
			if i%7 == 0 {
				expect("cut", good[:i])
			}
		}
		expect("trailing byte", append(bytes.Clone(good), 0))
		foreign, err := os.ReadFile(filepath.Join(other, "x"+suffix))
		if err != nil {
			t.Fatal(err)
		}
		expect("swapped", foreign)
		if err := os.WriteFile(path, good, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "x"+BulkSuffix)); err != nil {
		t.Fatal(err)
	}
	if err := readAll(dir); !errors.Is(err, parse.ErrCorrupt) {
		t.Errorf("missing bulk file: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "x"+MetaSuffix)); err != nil {
		t.Fatal(err)
	}
	if err := readAll(dir); !errors.Is(err, commit.ErrNotArchive) {
		t.Errorf("no manifest: %v", err)
	}
}

// sections returns what the sections of the archive hold.
func sections(t *testing.T, r *Reader) [][]byte {
	t.Helper()
	var all [][]byte
	r.m.eachSection(func(s *Section) {
		b, err := r.Read(*s, nil, "a section")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	})
	return all
}

// TestEitherManifest damages one copy of the manifest after the other, and the header: the
// archive can be read all the same, and the damage is reported.
func TestEitherManifest(t *testing.T) {
	dir := t.TempDir()
	man := sample(t, dir, true)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := sections(t, r)
	r.Close()
	bulk, meta := filepath.Join(dir, "x"+BulkSuffix), filepath.Join(dir, "x"+MetaSuffix)
	good := map[string][]byte{}
	for _, path := range []string{bulk, meta} {
		if good[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(what, path string, bad []byte) {
		t.Helper()
		if bad == nil {
			os.Remove(path)
		} else if err := os.WriteFile(path, bad, 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := Open(dir)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		defer r.Close()
		if len(r.Problems()) == 0 {
			t.Errorf("%s: no problem reported", what)
		}
		for _, p := range r.Problems() {
			if !errors.Is(p, parse.ErrCorrupt) || !strings.HasPrefix(p.Error(), path+": ") {
				t.Errorf("%s: problem %v", what, p)
			}
		}
		if !reflect.DeepEqual(sections(t, r), want) {
			t.Errorf("%s: other sections", what)
		}
		if err := os.WriteFile(path, good[path], 0o666); err != nil {
			t.Fatal(err)
		}
	}
	flipped := func(path string, i int) []byte {
		bad := bytes.Clone(good[path])
		bad[i] ^= 1
		return bad
	}
	for i := range good[meta] {
		expect("a flipped bit of .cmeta", meta, flipped(meta, i))
		expect("a cut .cmeta", meta, good[meta][:i])
	}
	expect("no .cmeta", meta, nil)
	for i := int(man.BulkLen); i < len(good[bulk]); i++ {
		expect("a flipped bit of the copy", bulk, flipped(bulk, i))
		expect("a cut copy", bulk, good[bulk][:i])
	}
	for i := range bulkHeader {
		expect("a flipped bit of the header", bulk, flipped(bulk, i))
	}
	expect("bytes after the end", bulk, append(bytes.Clone(good[bulk]), 1, 2, 3))

	// Both at once is the end of it.
	os.WriteFile(meta, flipped(meta, 30), 0o666)
	os.WriteFile(bulk, good[bulk][:len(good[bulk])-1], 0o666)
	if _, err := Open(dir); !errors.Is(err, parse.ErrCorrupt) {
		t.Errorf("both copies damaged: %v", err)
	}
}

// TestRestoreMeta writes a lost .cmeta file again.
func TestRestoreMeta(t *testing.T) {
	dir := t.TempDir()
	sample(t, dir, true)
	path := filepath.Join(dir, "x"+MetaSuffix)
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(path)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if !r.MetaMissing() || len(r.Paths()) != 1 {
		t.Errorf("missing %v, files %v", r.MetaMissing(), r.Paths())
	}
	if err := r.RestoreMeta(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("other bytes (%v)", err)
	}
	if err := readAll(dir); err != nil {
		t.Error(err)
	}
}

// seal gives a changed manifest a checksum that matches.
func seal(b []byte) []byte {
	body := b[:len(b)-16]
	sum := xxh3.Hash128(body).Bytes()
	return append(bytes.Clone(body), sum[:]...)
}

func TestUnknownVersion(t *testing.T) {
	dir := t.TempDir()
	b := sample(t, dir, true).marshal()
	for _, v := range []byte{MinVersion - 1, Version + 1} {
		b[len(metaMagic)] = v
		if _, err := parseManifest("x.cmeta", seal(b)); !errors.Is(err, parse.ErrVersion) || errors.Is(err, parse.ErrCorrupt) {
			t.Errorf("version %d: error %v", v, err)
		}
	}
}

func TestInconsistentManifest(t *testing.T) {
	base := func() *Manifest { return sample(t, t.TempDir(), true) }
	cases := map[string]func(*Manifest){
		"section beyond the end": func(m *Manifest) { m.Slices[1].Seqs.Len += 5 },
		"huge section":           func(m *Manifest) { m.Slices[0].Seqs.Len = 1<<63 - 1; m.Slices[1].Seqs.Len = 1<<63 - 1 },
		"section short":          func(m *Manifest) { m.Slices[1].Seqs.Len -= 5 },
		"too few records":        func(m *Manifest) { m.Slices[1].Records-- },
		"too many records":       func(m *Manifest) { m.Slices[1].Records++ },
		"no records":             func(m *Manifest) { m.Slices[1].Records = 0 },
		"impossible names":       func(m *Manifest) { m.Slices[0].First.NamesLen = 1 << 40 },
		"impossible bases": func(m *Manifest) {
			m.Slices[2].First.Bases, m.Inputs[2].Bases = 1<<45, 1<<45
		},
		"bases":                     func(m *Manifest) { m.Slices[0].First.Bases++ },
		"text":                      func(m *Manifest) { m.Slices[0].First.TextLen-- },
		"block text":                func(m *Manifest) { m.Inputs[0].Blocks[0].Len++ },
		"block text short":          func(m *Manifest) { m.Inputs[0].Blocks[0].Len-- },
		"mate of itself":            func(m *Manifest) { m.Inputs[2].Mate = 2 },
		"mate beyond":               func(m *Manifest) { m.Inputs[2].Mate = 9 },
		"two first mates":           func(m *Manifest) { m.Inputs[1].First = true },
		"unequal mates":             func(m *Manifest) { m.Inputs[1].Records = 31 },
		"slice of an unknown input": func(m *Manifest) { m.Slices[2].First.Input = 4 },
		"slice of second mates":     func(m *Manifest) { m.Slices[2].First.Input = 1 },
		"words in an old version":   func(m *Manifest) { m.NameRanges = true },
	}
	for name, change := range cases {
		m := base()
		change(m)
		if _, err := parseManifest("x.cmeta", m.marshal()); !errors.Is(err, parse.ErrCorrupt) {
			t.Errorf("%s: error %v", name, err)
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
	if _, err := Open(dir); !errors.Is(err, commit.ErrSeveral) || !strings.Contains(err.Error(), "x, y") {
		t.Errorf("error %v", err)
	}
	if err := readAll(filepath.Join(dir, "x")); err != nil {
		t.Errorf("by name: %v", err)
	}
}

func TestAbort(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir, "x", true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Add([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if _, err := w.Add([]byte("abc")); err == nil {
		t.Error("Add after Abort succeeded")
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
}

// TestReplace repacks over an archive: only where that was asked for.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	sample(t, dir, true)
	if _, err := Create(dir, "x", false); !errors.Is(err, commit.ErrExists) {
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

// FuzzManifest feeds manifests with a right checksum to the parser; what it accepts must
// come back the same when written again.
func FuzzManifest(f *testing.F) {
	for _, verified := range []bool{true, false} {
		b := sample(f, f.TempDir(), verified).marshal()
		f.Add(b[:len(b)-16])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		b = append(b, make([]byte, 16)...)
		m, err := parseManifest("x.cmeta", seal(b))
		if err != nil {
			if !errors.Is(err, parse.ErrCorrupt) && !errors.Is(err, parse.ErrVersion) {
				t.Fatalf("error of no kind: %v", err)
			}
			return
		}
		again, err := parseManifest("x.cmeta", m.marshal())
		if err != nil {
			t.Fatalf("written again: %v", err)
		}
		if !reflect.DeepEqual(m, again) {
			t.Fatal("written again, it differs")
		}
	})
}

// FuzzBulk puts arbitrary bytes in place of the bulk file.
func FuzzBulk(f *testing.F) {
	dir := f.TempDir()
	sample(f, dir, true)
	path := filepath.Join(dir, "x"+BulkSuffix)
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:bulkHeader])
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		err := readAll(dir)
		if err != nil && !errors.Is(err, parse.ErrCorrupt) && !errors.Is(err, parse.ErrVersion) {
			t.Fatal(err)
		}
		if (err != nil) == bytes.Equal(b, good) {
			t.Fatalf("error %v, bytes equal %v", err, bytes.Equal(b, good))
		}
	})
}

// TestWords: what slices say of the words of their names comes back, and words that cannot be are refused.
func TestWords(t *testing.T) {
	m := sample(t, t.TempDir(), true)
	m.NameRanges, m.version = true, Version
	long := strings.Repeat("x", MaxWord-1)
	words := []Words{{OrderedWords, "r1", "r10/2"}, {NumberWords, "r1:0:" + long[5:], "r7:9:" + long[5:]}, {},
		{OrderedWords, "r7:9:", long + "y"}}
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
	for name, w := range map[string]Words{"unknown kind": {wordsKinds, "a", "b"}, "too long": {OrderedWords, long, long + "yz"}} {
		m.Slices[0].Words = w
		if _, err := parseManifest("x.cmeta", m.marshal()); !errors.Is(err, parse.ErrCorrupt) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
