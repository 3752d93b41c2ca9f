package compress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"orcomgo/binning"
	"orcomgo/bins"
	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/bins/vfs"
	"orcomgo/internal/testrun"
)

// binUnnamed bins inputs for an archive in out, in memory up to so many bytes.
func binUnnamed(t testing.TB, ins []input, o record.Options, out string, force bool, hold uint64) (*bins.Reader, error) {
	t.Helper()
	dir := t.TempDir()
	c := binning.Config{OutDir: out, Options: o, Threads: 2, Streams: 1, Hold: hold, Force: force}
	if o.BlockSize == 0 {
		c.Options.BlockSize = 1 << 20
	}
	for _, in := range ins {
		path := filepath.Join(dir, in.name)
		if err := os.WriteFile(path, []byte(in.text), 0o666); err != nil {
			t.Fatal(err)
		}
		c.Inputs = append(c.Inputs, binning.InputSpec{Path: path, Mate: in.mate, First: in.first})
	}
	r, s, err := binning.RunUnnamed(context.Background(), c)
	if err == nil && (s.BinBytes == 0 || s.Records == 0) {
		t.Errorf("summary %+v", s)
	}
	return r, err
}

// TestPackUnnamed: bins without a name are packed to the bytes that bins with one are, whether they are in memory or not, with any
// options and in little memory, too.
func TestPackUnnamed(t *testing.T) {
	smallSlices(t)
	pairs := 500
	if testrun.Short() {
		pairs = 150
	}
	r1, r2 := simulated(31, pairs, true)
	for i, c := range []struct {
		o      record.Options
		memory uint64
	}{
		{record.Options{}, 0},
		{record.Options{OrderAny: true, ReadsOnly: true}, 0},
		{record.Options{OrderAny: true, Quality: record.QualityBin8}, 1 << 30},
		{record.Options{OrderAny: true, ReadsOnly: true}, 300 << 10},
	} {
		if testrun.Short() && i > 0 {
			break
		}
		c.o.BlockSize = 64 << 10
		po := PackOptions{Threads: 2, Memory: c.memory}
		dir := binTo(t, pair(r1, r2), c.o)
		packTo(t, dir, po)
		want := filesIn(t, dir)
		for _, hold := range []uint64{0, 1 << 30} {
			out := filepath.Join(t.TempDir(), "made", "out")
			r, err := binUnnamed(t, pair(r1, r2), c.o, out, false, hold)
			if err != nil {
				t.Fatal(err)
			}
			if (r.Held() > 0) != (hold > 0) {
				t.Errorf("%d bytes in memory", r.Held())
			}
			s, err := PackUnnamed(context.Background(), r, limited(po))
			if err != nil {
				t.Fatal(err)
			}
			if !s.Verified || s.AlreadyPacked {
				t.Errorf("summary %+v", s)
			}
			if stays := hold > 0 && c.memory != 300<<10; (r.Held() > 0) != stays {
				t.Errorf("memory %d: %d bytes of bins were in memory until the end", c.memory, r.Held())
			}
			if runtime.GOOS == "linux" && i == 0 && hold == 0 {
				if err := r.ReadColumns(0, bins.WantQuals, new(bins.Block)); !IsDamage(err) {
					t.Errorf("qualities that are packed take room still: %v", err)
				}
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			got := filesIn(t, out)
			sameFiles(t, got, want)
			if len(got) != 2 {
				t.Errorf("%d files", len(got))
			}
		}
	}
}

// TestFilesReadAgain: the checksums of a file that is read again are those of the text that comes back; with another text by then, it is
// refused.
func TestFilesReadAgain(t *testing.T) {
	smallSlices(t)
	r1, r2 := simulated(31, 150, true)
	texts := []string{r1, r2}
	c := binning.Config{Options: record.Options{BlockSize: 64 << 10}, Threads: 2, Streams: 1, Hold: 1 << 30, Record: binning.RecordCompressed}
	for i, text := range texts {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("r_%d.fastq", i+1))
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		c.Inputs = append(c.Inputs, binning.InputSpec{Path: path, Mate: 1 - i, First: i == 0})
	}
	var opened atomic.Int32
	packed := func(open func(input int) (io.ReadCloser, error)) (string, error) {
		c.OutDir = t.TempDir()
		r, _, err := binning.RunUnnamed(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		_, err = PackUnnamed(t.Context(), r, limited(PackOptions{Threads: 2, Open: open}))
		return c.OutDir, err
	}
	textsBut := func(last int) func(input int) (io.ReadCloser, error) {
		return func(input int) (io.ReadCloser, error) {
			opened.Add(int32(input))
			return io.NopCloser(strings.NewReader(texts[input][:len(texts[input])-last*input])), nil
		}
	}
	byText, err := packed(nil)
	if err != nil {
		t.Fatal(err)
	}
	byFile, err := packed(textsBut(0))
	if err != nil {
		t.Fatal(err)
	}
	sameFiles(t, filesIn(t, byFile), filesIn(t, byText))
	if opened.Load() != 1 {
		t.Error("the files were not read")
	}
	if dir, err := packed(textsBut(1)); err == nil || !strings.Contains(err.Error(), "was changed") || len(filesIn(t, dir)) > 0 {
		t.Errorf("a file that was changed: %v, %v", err, filesIn(t, dir))
	}
}

// An unnamedCase is what PackUnnamed finds under the name of its archive.
type unnamedCase struct {
	name string
	old  map[string]string // files
	text map[string]string // what they hold; nil for nothing
}

func unnamedCases(t *testing.T) (cases []unnamedCase, ins []input) {
	t1, _ := simulated(41, 30, true)
	t2, t3 := simulated(42, 40, true)
	older, old := single("a.fastq", t2), single("a.fastq", t3)
	binned := binTo(t, old, record.Options{})
	bins := filesIn(t, binned)
	packTo(t, binned, PackOptions{})
	packed := filesIn(t, binned)
	other := binTo(t, older, record.Options{})
	packTo(t, other, PackOptions{})
	otherPacked := filesIn(t, other)
	merge := func(a, b map[string]string) map[string]string {
		m := maps.Clone(a)
		maps.Copy(m, b)
		return m
	}
	lost := maps.Clone(packed)
	delete(lost, "a.cmeta")
	return []unnamedCase{
		{"nothing", nil, nil},
		{"packed", packed, texts(old)},
		{"packed, its .cmeta lost", lost, texts(old)},
		{"bins", bins, texts(old)},
		{"bins that were kept", merge(bins, packed), texts(old)},
		{"bins and a packed archive of other reads", merge(bins, otherPacked), texts(old)},
	}, single("a.fastq", t1)
}

// TestPackUnnamedEveryMoment: before each call of the file system, what is in the directory is the old archive or the new one, whole;
// so that is what a kill leaves. The same with files that have random names before their last ones.
func TestPackUnnamedEveryMoment(t *testing.T) {
	testrun.NoRace(t)
	cases, ins := unnamedCases(t)
	for _, named := range []bool{false, true} {
		for _, c := range cases {
			t.Run(fmt.Sprintf("%s/named=%v", c.name, named), func(t *testing.T) {
				out := t.TempDir()
				for name, text := range c.old {
					if err := os.WriteFile(filepath.Join(out, name), []byte(text), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				var moments []map[string]string
				look := func() {
					now := filesIn(t, out)
					maps.DeleteFunc(now, func(name, _ string) bool { return strings.HasPrefix(name, ".orcomgo-") })
					if n := len(moments); n == 0 || !maps.Equal(moments[n-1], now) {
						moments = append(moments, now)
					}
				}
				vfs.Fault = func(call, path string) error {
					look()
					if named && call == "tmpfile" {
						return syscall.EOPNOTSUPP
					}
					return nil
				}
				defer func() { vfs.Fault = nil }()
				r, err := binUnnamed(t, ins, record.Options{}, out, true, 0)
				if err != nil {
					t.Fatal(err)
				}
				if _, err = PackUnnamed(context.Background(), r, limited(PackOptions{Threads: 2, Force: true})); err != nil {
					t.Fatal(err)
				}
				r.Close()
				vfs.Fault = nil
				look()
				isNew := false
				for i, files := range moments {
					dir := t.TempDir()
					for name, text := range files {
						if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
							t.Fatal(err)
						}
					}
					back := map[string]string{}
					_, err := Unpack(context.Background(), dir, UnpackOptions{OutDir: filepath.Join(dir, "back")})
					if err == nil {
						back = filesIn(t, filepath.Join(dir, "back"))
					} else if !errors.Is(err, commit.ErrNotArchive) {
						t.Fatalf("moment %d: %v", i, err)
					}
					switch {
					case maps.Equal(back, texts(ins)):
						isNew = true
					case isNew || !maps.Equal(back, c.text):
						t.Fatalf("moment %d: another archive (%d files, %v)", i, len(back), err)
					}
				}
				if last := moments[len(moments)-1]; !isNew || len(last) != 2 || last["a.cdna"] == "" || last["a.cmeta"] == "" {
					t.Errorf("in the end there are %d files", len(last))
				}
			})
		}
	}
}

// TestPackUnnamedRefuses: without Force nothing is replaced, whether it was there before or came meanwhile.
func TestPackUnnamedRefuses(t *testing.T) {
	testrun.NoRace(t)
	cases, ins := unnamedCases(t)
	for _, c := range cases[1:] {
		put := func(out string) {
			for name, text := range c.old {
				if err := os.WriteFile(filepath.Join(out, name), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
		before, meanwhile := t.TempDir(), t.TempDir()
		put(before)
		if _, err := binUnnamed(t, ins, record.Options{}, before, false, 1<<30); !errors.Is(err, commit.ErrExists) {
			t.Errorf("%s: %v", c.name, err)
		}
		r, err := binUnnamed(t, ins, record.Options{}, meanwhile, false, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		// It comes after the last look that is not under the lock of the directory.
		vfs.Fault = func(call, path string) error {
			if call == "fsync" {
				put(meanwhile)
			}
			return nil
		}
		_, err = PackUnnamed(context.Background(), r, limited(PackOptions{}))
		vfs.Fault = nil
		if !errors.Is(err, commit.ErrExists) {
			t.Errorf("%s, meanwhile: %v", c.name, err)
		}
		r.Close()
		for _, out := range []string{before, meanwhile} {
			if got := filesIn(t, out); !maps.Equal(got, c.old) {
				t.Errorf("%s: it changed: %d files", c.name, len(got))
			}
		}
	}
}

// TestPackUnnamedFails: where what was written does not read back, the error says so and nothing is left, nor the directory.
func TestPackUnnamedFails(t *testing.T) {
	_, ins := unnamedCases(t)
	out := filepath.Join(t.TempDir(), "made", "out")
	r, err := binUnnamed(t, ins, record.Options{}, out, false, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	vfs.Fault = func(call, path string) error {
		if call == "pread" {
			return syscall.EIO
		}
		return nil
	}
	_, err = PackUnnamed(context.Background(), r, limited(PackOptions{Threads: 2}))
	vfs.Fault = nil
	const want = "verification failed, nothing was written; the inputs are as they were"
	if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), want) {
		t.Errorf("PackUnnamed: %v", err)
	}
	r.Close()
	if _, err := os.Stat(filepath.Dir(out)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is there: %v", err)
	}
}
