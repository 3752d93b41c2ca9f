package tree

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/bins/vfs"
	"orcomgo/compress"
	"orcomgo/compress/general"
	"orcomgo/internal/testvector"
)

// contents are what the files of a test have, by their paths.
type contents map[string]string

func (c contents) open(e *Entry) (io.ReadCloser, error) {
	text, ok := c[e.Path]
	if !ok {
		return nil, errors.New(e.Path + ": it was removed")
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

// listingOf makes a listing of the entries of a vector. The sizes of files are those of their contents.
func listingOf(t testing.TB, archives, entries []string) (*Listing, contents) {
	t.Helper()
	l := &Listing{Tool: "t", Mode: 0o755, Time: time.Unix(5, 0), Archives: []Archive{}, LeftOut: []string{}, Entries: []Entry{}}
	for _, s := range archives {
		name, id, _ := strings.Cut(s, "=")
		a := Archive{Name: name}
		if _, err := hex.Decode(a.ID[:], []byte(id)); err != nil {
			t.Fatal(err)
		}
		l.Archives = append(l.Archives, a)
	}
	files := contents{}
	for _, s := range entries {
		k := Kind(slices.IndexFunc([]Kind{0, 1, 2, 3, 4, 5}, func(k Kind) bool { return strings.HasPrefix(s, k.String()+" ") }))
		var mode uint32
		var owner vfs.Owner
		var seconds, nanos int64
		var path string
		head, rest, _ := strings.Cut(s[len(k.String())+1:], "=")
		first, times, _ := strings.Cut(head, " ")
		fmt.Sscanf(first, "%o/%d/%d", &mode, &owner.User, &owner.Group)
		if _, err := fmt.Sscanf(times, "%d.%d", &seconds, &nanos); err != nil {
			t.Fatal(s, err)
		}
		path = strings.SplitN(head, " ", 3)[2]
		e := Entry{Path: path, Kind: k, Mode: mode, Owner: owner, Time: time.Unix(seconds, nanos)}
		switch k {
		case File:
			files[path], e.Size = rest, int64(len(rest))
		case Link:
			e.Target = rest
		case HardLink:
			e.First, _ = strconv.Atoi(rest)
			e.Time = time.Time{}
		case Reads:
			fmt.Sscan(rest, &e.Archive, &e.Input, &e.Size)
		}
		l.Entries = append(l.Entries, e)
	}
	return l, files
}

// write returns the side archive of a listing.
func write(t testing.TB, l *Listing, files contents) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(context.Background(), &b, l, files.open, Options{Threads: 2}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// opened writes bytes to a file and opens it.
func opened(t testing.TB, b []byte) (*Reader, error) {
	t.Helper()
	dir := t.TempDir()
	at := commit.Tree{Dir: dir, Name: "run"}
	if err := os.WriteFile(at.Path(), b, 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := Open(at, Options{Threads: 2})
	if err == nil {
		t.Cleanup(func() { r.Close() })
	}
	return r, err
}

// TestVectors writes the side archives of testdata/vectors/tree.txt and reads them.
func TestVectors(t *testing.T) {
	testvector.Run(t, "../../testdata/vectors/tree.txt", func(t *testing.T, v *testvector.Vector) {
		l, files := listingOf(t, v.Strings(t, "archives"), v.Strings(t, "entries"))
		r, err := opened(t, v.Bytes(t, "bytes", write(t, l, files)))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(r.Listing, l) {
			t.Errorf("%+v, want %+v", r.Listing, l)
		}
		for i := range r.Entries {
			if e := &r.Entries[i]; e.Kind == File {
				var b bytes.Buffer
				if err := r.WriteFile(t.Context(), &b, i); err != nil || b.String() != files[e.Path] {
					t.Errorf("%s: %q, %v", e.Path, b.String(), err)
				}
			}
		}
	})
}

// small is a side archive of a few entries.
func small(t testing.TB) (*Listing, contents) {
	return listingOf(t, []string{"x=000102030405060708090a0b0c0d0e0f"},
		[]string{"directory 755 1.0 a", "file 644 2.0 a/f=GATTACA", "reads 644 3.0 a/r=0 0 9", "link 0 4.0 l=a", "hard link 0 0.0 m=1"})
}

// TestDamage: each byte that is changed or missing is noticed.
func TestDamage(t *testing.T) {
	l, files := small(t)
	b := write(t, l, files)
	for i := range b {
		damaged := bytes.Clone(b)
		damaged[i] ^= 1 << (i % 8)
		for _, bad := range [][]byte{b[:i], damaged} {
			r, err := opened(t, bad)
			if err == nil {
				var list []error
				if list, err = r.check(t.Context(), false); err == nil {
					err = errors.Join(append(list, r.Damage())...)
				}
				r.Close()
			}
			if !errors.Is(err, parse.ErrCorrupt) && !errors.Is(err, parse.ErrVersion) {
				t.Fatalf("byte %d of %d: %v", i, len(b), err)
			}
		}
	}
}

// reseal replaces the listing of a side archive.
func reseal(t testing.TB, b, listing []byte) []byte {
	t.Helper()
	at := len(b) - footerSize
	coded := b[at-int(binary.LittleEndian.Uint32(b[at+8:])) : at]
	text, err := general.Decode(coded, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	_, index, reason := parseListing(text, math.MaxInt)
	if reason != "" {
		t.Fatal(reason)
	}
	return appendEnd(bytes.Clone(b[:at-len(coded)]), append(listing, index...))
}

// TestForged: listings that could write elsewhere, or that make no sense, are refused.
func TestForged(t *testing.T) {
	l, files := small(t)
	b := write(t, l, files)
	for name, forge := range map[string]func(l *Listing){
		"is not the name of a file":    func(l *Listing) { l.Entries[0].Path = ".." },
		"\"\" is not the name":         func(l *Listing) { l.Entries[3].Path = "" },
		"3 where at most 1":            func(l *Listing) { l.Entries[1].Path = "a/../../f" },
		"2 where at most 0":            func(l *Listing) { l.Entries[4].Path = "l/x/y" },
		"1 where at most 0":            func(l *Listing) { l.Entries[0].Kind = Link; l.Entries[0].Target = "/etc" },
		"is there twice":               func(l *Listing) { l.Entries[2].Path = "a/f" },
		"a file is of archive 1 of 1":  func(l *Listing) { l.Entries[2].Archive = 1 },
		"a link leads nowhere":         func(l *Listing) { l.Entries[3].Target = "" },
		"a hard link is one of a link": func(l *Listing) { l.Entries[4].First = 3 },
		"a hard link is one of a hard": func(l *Listing) { l.Entries[4].First = 4 },
		"5 where at most 4":            func(l *Listing) { l.Entries[4].First = 5 },
		"the index of its files can't": func(l *Listing) { l.Entries[3].Kind = File },
		"the index of its files can":   func(l *Listing) { l.Entries[1].Kind = FIFO; l.Entries[4].First = 2 },
		"a time is out of range":       func(l *Listing) { l.Time = time.Unix(1<<50, 0) },
		"32768 where at most 4095":     func(l *Listing) { l.Mode = 1 << 15 },
		"a name has no end":            func(l *Listing) { l.Entries[0].Path = strings.Repeat("x", maxPathLen+1) },
		"the path of an entry is too":  func(l *Listing) { l.Entries[1].Path = "a/" + strings.Repeat("x", maxPathLen-1) },
		"is not the name of an arch":   func(l *Listing) { l.Archives[0].Name = "../x" },
	} {
		forged, _ := small(t)
		forge(forged)
		r, err := opened(t, reseal(t, b, appendListing(nil, forged)))
		if err == nil {
			err = r.Damage()
		}
		if !errors.Is(err, parse.ErrCorrupt) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Directories one in another, whose paths together would take gigabytes.
	deep := &Listing{Entries: slices.Repeat([]Entry{{Kind: Directory}}, 100_000)}
	for i := range deep.Entries {
		deep.Entries[i].Path = strings.Repeat("/", i%2000) + strconv.Itoa(i)
	}
	if _, _, reason := parseListing(appendListing(nil, deep), math.MaxInt); !strings.Contains(reason, "is too long") {
		t.Errorf("deep directories: %q", reason)
	}
	if _, err := opened(t, reseal(t, b, append(appendListing(nil, l), 0))); err == nil || !strings.Contains(err.Error(), "the index of its") {
		t.Error(err)
	}
	l.Entries[0].Path = "a/b"
	if err := Write(t.Context(), io.Discard, l, files.open, Options{Threads: 1}); err == nil {
		t.Error("a listing was written that can't be read")
	}
}

// TestWriteErrors: an error of a file is named once, and ends writing; so does cancellation.
func TestWriteErrors(t *testing.T) {
	l, files := small(t)
	if err := Write(t.Context(), io.Discard, l, contents{}.open, Options{Threads: 1}); err == nil || err.Error() != "a/f: it was removed" {
		t.Error(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := Write(stopped, io.Discard, l, files.open, Options{Threads: 1}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	l.Entries[1].Size--
	if err := Write(t.Context(), io.Discard, l, files.open, Options{Threads: 1}); err == nil || !strings.Contains(err.Error(), "was changed") {
		t.Error(err)
	}
}

func TestCompare(t *testing.T) {
	l, files := small(t)
	r, err := opened(t, write(t, l, files))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(l *Listing, files contents)
		want   Difference
	}{
		"nothing":                  {func(l *Listing, files contents) {}, Same},
		"time of a directory":      {func(l *Listing, files contents) { l.Entries[0].Time, l.Time = time.Unix(9, 0), time.Unix(9, 0) }, Same},
		"time":                     {func(l *Listing, files contents) { l.Entries[1].Time = time.Unix(9, 0) }, More},
		"mode":                     {func(l *Listing, files contents) { l.Entries[2].Mode = 0 }, More},
		"one more":                 {func(l *Listing, files contents) { l.Entries = append(l.Entries, Entry{Path: "n", Kind: FIFO}) }, More},
		"another archive of reads": {func(l *Listing, files contents) { l.Archives[0].ID[0]++ }, More},
		"a hard link is a file": {func(l *Listing, files contents) {
			l.Entries[4] = Entry{Path: "m", Kind: File, Size: 7, Time: time.Unix(2, 0)}
			files["m"] = files["a/f"]
		}, More},
		"a hard link is another file": {func(l *Listing, files contents) {
			l.Entries[4] = Entry{Path: "m", Kind: File, Size: 7, Time: time.Unix(2, 0)}
			files["m"] = "GATTACC"
		}, Lost},
		"removed":                   {func(l *Listing, files contents) { l.Entries = l.Entries[:4] }, Lost},
		"content":                   {func(l *Listing, files contents) { l.Entries[1].Time = time.Unix(9, 0); files["a/f"] = "GATTACC" }, Lost},
		"content, but not the time": {func(l *Listing, files contents) { files["a/f"] = "GATTACC" }, Lost},
		"size":                      {func(l *Listing, files contents) { l.Entries[1].Size = 8 }, Lost},
		"target":                    {func(l *Listing, files contents) { l.Entries[3].Target = "b" }, Lost},
		"kind":                      {func(l *Listing, files contents) { l.Entries[2].Kind = FIFO }, Lost},
	} {
		now, files := small(t)
		c.change(now, files)
		if d, what, err := r.Compare(t.Context(), now, files.open); d != c.want || err != nil || (d == Lost) != (what != "") {
			t.Errorf("%s: %v, %q, %v", name, d, what, err)
		}
	}
	now, _ := small(t)
	now.Entries[1].Time = time.Unix(9, 0)
	if _, _, err := r.Compare(t.Context(), now, contents{}.open); err == nil {
		t.Error("a file that can't be opened is the same")
	}
}

// FuzzReader reads side archives.
func FuzzReader(f *testing.F) {
	l, files := small(f)
	f.Add(write(f, l, files))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := opened(t, b); err == nil {
			r.check(t.Context(), true)
		}
	})
}

// FuzzListing parses listings whose checksums need not be right. What is accepted is written as it was, and stays below the directory.
func FuzzListing(f *testing.F) {
	l, _ := small(f)
	f.Add(appendListing(nil, l))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, _, reason := parseListing(text, math.MaxInt)
		if reason != "" {
			return
		}
		for i := range l.Entries {
			if !filepath.IsLocal(l.Entries[i].Path) {
				t.Fatalf("an entry is at %q", l.Entries[i].Path)
			}
		}
		again, rest, reason := parseListing(appendListing(nil, l), math.MaxInt)
		if reason != "" || len(rest) > 0 || !reflect.DeepEqual(again, l) {
			t.Fatalf("written again, it is %+v, not %+v: %s", again, l, reason)
		}
	})
}

// TestHoles: whatever pieces a file is written in, it has the same bytes, and runs of zeros take no space.
func TestHoles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var want []byte
		for range 1 + r.IntN(6) {
			want = append(want, make([]byte, r.IntN(5*holeSize))...)
			n := r.IntN(12 << 10)
			want = append(want, bytes.Repeat([]byte{1}, n)...)
		}
		want = append(want, make([]byte, r.IntN(2)*r.IntN(3*holeSize))...)
		path := filepath.Join(t.TempDir(), "f")
		f, err := commit.NewTemp(path)
		if err != nil {
			t.Fatal(err)
		}
		w := &holeWriter{f: f, written: func(int) {}}
		for rest := want; len(rest) > 0; {
			n := min(1+r.IntN(8*holeSize), len(rest))
			if k, err := w.Write(rest[:n]); err != nil || k != n {
				t.Fatal(k, err)
			}
			rest = rest[n:]
		}
		if err := errors.Join(w.finish(), f.Install(path, false)); err != nil {
			t.Fatal(err)
		}
		f.Discard()
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, want %d other ones: %v", len(got), len(want), err)
		}
	}
}

// TestLongHole: a hole of a gigabyte is written at once.
func TestLongHole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f, err := commit.NewTemp(path)
	if err != nil {
		t.Fatal(err)
	}
	w := &holeWriter{f: f, written: func(int) {}}
	block := make([]byte, 8<<20)
	for range 128 {
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.finish(), f.Install(path, false)); err != nil {
		t.Fatal(err)
	}
	f.Discard()
	info, err := os.Stat(path)
	if err != nil || info.Size() != 1<<30 {
		t.Fatalf("%v, %v", info, err)
	}
}

// TestMemory: a listing that takes too much memory is refused.
func TestMemory(t *testing.T) {
	l, files := small(t)
	b := write(t, l, files)
	many := &Listing{Entries: make([]Entry, 100_000)}
	for i := range many.Entries {
		many.Entries[i] = Entry{Path: strconv.Itoa(i), Kind: FIFO}
	}
	path := filepath.Join(t.TempDir(), "many.ctree")
	if err := os.WriteFile(path, reseal(t, b, appendListing(nil, many)), 0o666); err != nil {
		t.Fatal(err)
	}
	for memory, want := range map[uint64]string{1 << 20: "its listing takes more than --memory",
		16 << 20: "100000 entries take more than --memory"} {
		_, err := Open(commit.Tree{Dir: filepath.Dir(path), Name: "many"}, Options{Threads: 1, Memory: memory})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("within %d bytes: %v", memory, err)
		}
	}
}

// TestCase: where case does not count, one of two names that differ by it alone is left out, and said to be.
func TestCase(t *testing.T) {
	l, files := listingOf(t, nil, []string{"directory 755 1.0 a", "file 644 2.0 a/f=one", "file 644 2.0 a/F=two"})
	r, err := opened(t, write(t, l, files))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	vfs.Fault = func(call, _ string) error {
		if call == "foldcase" {
			return errors.New("it does")
		}
		return nil
	}
	defer func() { vfs.Fault = nil }()
	dir := t.TempDir()
	sum, err := r.Restore(t.Context(), RestoreOptions{Dir: dir, Threads: 1, Force: true})
	var damaged *compress.DamagedError
	if !errors.As(err, &damaged) || len(sum.Files) != 2 || sum.Files[1].OK || !strings.Contains(sum.Files[1].Problem, "differs only by case") {
		t.Fatalf("%+v, %v", sum, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a", "f")); err != nil || string(text) != "one" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a", "F")); err == nil {
		t.Error("the other one is there, too")
	}
}
