package archive

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/compress/parity"
	"orcomgo/internal/testrun"
)

// TestDamage flips every bit and cuts every length of both files, and swaps each with
// that of another archive.
func TestDamage(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	sample(t, dir, true)
	w, err := Create(other, "x", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	var m Manifest
	if err := w.AddShared(&m, []byte("shared")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.End(&m), w.Commit(&m, ParityOptions{})); err != nil {
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
		for i := 0; i < len(good); i += everyByte() {
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
	r.m.eachSection(func(_ label, s *Section) {
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
	r, err := openPath(dir)
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
		r, err := openPath(dir)
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
	for i := 0; i < len(good[meta]); i += everyByte() {
		expect("a flipped bit of .cmeta", meta, flipped(meta, i))
		expect("a cut .cmeta", meta, good[meta][:i])
	}
	expect("no .cmeta", meta, nil)
	for i := int(man.BulkLen); i < len(good[bulk]); i += everyByte() {
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
	if _, err := openPath(dir); !errors.Is(err, parse.ErrCorrupt) {
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
	r, err := openPath(dir)
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

// TestRepairParity damages the parity within an archive, its header included, and nothing else: it is made again.
func TestRepairParity(t *testing.T) {
	dir := t.TempDir()
	p := sample(t, dir, true).Parity
	path := filepath.Join(dir, "x"+BulkSuffix)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := p.Off - labelLen; i < p.Off+p.Len; i += uint64(everyByte()) {
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		if i%5 == 0 {
			clear(bad[i:min(i+300, p.Off+p.Len)])
		}
		if err := os.WriteFile(path, bad, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := readAll(dir); !errors.Is(err, parse.ErrCorrupt) {
			t.Fatalf("byte %d: error %v", i, err)
		}
		list, err := RepairArchive(commit.Entry{Dir: dir, Name: "x", Has: [2]bool{commit.Packed: true}}, parity.RepairOptions{Threads: 1})
		if err != nil || len(list) != 1 || !list[0].OK {
			t.Fatalf("byte %d: %+v, %v", i, list, err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, good) {
			t.Fatalf("byte %d: other bytes (%v)", i, err)
		}
	}
}

// TestFindSections removes as many bytes from a section as the next one takes: what follows the latter begins where the former would end,
// and the latter is found all the same.
func TestFindSections(t *testing.T) {
	dir := t.TempDir()
	m := sample(t, dir, true)
	good, err := os.ReadFile(filepath.Join(dir, "x"+BulkSuffix))
	if err != nil {
		t.Fatal(err)
	}
	var all []Section
	m.eachSection(func(_ label, s *Section) { all = append(all, *s) })
	all = slices.DeleteFunc(all, func(s Section) bool { return s.Len == 0 })
	slices.SortFunc(all, func(a, b Section) int { return cmp.Compare(a.Off, b.Off) })
	tried := 0
	for i := range len(all) - 1 {
		s, n := all[i], all[i+1].Len+labelLen
		if s.Len < n {
			continue
		}
		tried++
		short := append(good[:s.Off:s.Off], good[s.Off+n:]...)
		found, err := findSections(bulk{bytes.NewReader(short), "x", uint64(len(short))})
		if err != nil || len(found) != len(all) || found[i+1].Off != all[i+1].Off-n {
			t.Errorf("of %d sections, %d are found: %v", len(all), len(found), err)
		}
	}
	if tried == 0 {
		t.Error("no section is longer than the next one")
	}
}

// everyByte returns by how many bytes tests go on that damage one byte after another.
func everyByte() int { return testrun.Pick(31, 5, 1) }

// seal gives a changed manifest a checksum that matches.
func seal(b []byte) []byte {
	body := b[:len(b)-16]
	sum := xxh3.Hash128(body).Bytes()
	return append(bytes.Clone(body), sum[:]...)
}

// TestNoMemoryForWhatIsNotThere: memory is asked for only if the file has so many bytes, whatever the manifest says.
func TestNoMemoryForWhatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	sample(t, dir, true)
	r, err := openPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.Manifest().BulkLen = math.MaxInt64
	for _, n := range []uint64{1 << 30, 1 << 60} {
		asked := false
		_, err := r.Read(Section{Off: labelLen, Len: n}, func(int) []byte {
			asked = true
			return nil
		}, "a section")
		if asked || !errors.Is(err, parse.ErrCorrupt) {
			t.Errorf("%d bytes: %v, memory was asked for: %v", n, err, asked)
		}
	}
}

func TestUnknownVersion(t *testing.T) {
	dir := t.TempDir()
	b := sample(t, dir, true).marshal()
	for _, v := range []byte{Version - 1, Version + 1} {
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
		"repeats without a section": func(m *Manifest) { m.Repeats, m.Shared = true, m.Shared[:1] },
	}
	for name, change := range cases {
		m := base()
		change(m)
		if _, err := parseManifest("x.cmeta", m.marshal()); !errors.Is(err, parse.ErrCorrupt) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestOtherFormsOfManifests: a manifest with the same content in other bytes, such as a number of more bytes, is not accepted.
func TestOtherFormsOfManifests(t *testing.T) {
	good := sample(t, t.TempDir(), true).marshal()
	for i := len(metaMagic) + 1; i < len(good)-16; i++ {
		for _, b := range []byte{0, 0x80} {
			other := seal(slices.Insert(bytes.Clone(good), i, b))
			if m, err := parseManifest("x.cmeta", other); err == nil && !bytes.Equal(m.marshal(), other) {
				t.Errorf("a byte %#x before byte %d", b, i)
			}
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
		if r, err := OpenScan(commit.Entry{Dir: dir, Name: "x"}); err == nil {
			r.m.eachSection(func(_ label, s *Section) { r.Read(*s, nil, "a section") })
			r.Close()
		} else if !errors.Is(err, parse.ErrCorrupt) {
			t.Fatal(err)
		}
	})
}
