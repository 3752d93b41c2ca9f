package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"orcomgo/bins/commit"
	"orcomgo/compress"
	"orcomgo/internal/testrun"
)

// damage is a way to spoil one file of an archive. It returns nil if it can't.
type damage struct {
	name  string
	times int
	do    func(r *rand.Rand, file []byte, other []byte) []byte
}

var damages = []damage{
	{"a flipped bit", 400, func(r *rand.Rand, b, _ []byte) []byte {
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		return b
	}},
	{"a truncation", 60, func(r *rand.Rand, b, _ []byte) []byte { return b[:r.IntN(len(b))] }},
	{"bytes after the end", 10, func(r *rand.Rand, b, _ []byte) []byte { return append(b, make([]byte, 1+r.IntN(9))...) }},
	{"a changed byte", 60, func(r *rand.Rand, b, _ []byte) []byte {
		b[r.IntN(len(b))] += byte(1 + r.IntN(255))
		return b
	}},
	{"two stretches swapped", 60, func(r *rand.Rand, b, _ []byte) []byte {
		n := 1 + r.IntN(min(64, len(b)/2))
		i := r.IntN(len(b) - 2*n + 1)
		j := i + n + r.IntN(len(b)-i-2*n+1)
		if bytes.Equal(b[i:i+n], b[j:j+n]) {
			return nil
		}
		x := slices.Clone(b[i : i+n])
		copy(b[i:], b[j:j+n])
		copy(b[j:], x)
		return b
	}},
	{"a stretch of zeros", 40, func(r *rand.Rand, b, _ []byte) []byte {
		i := r.IntN(len(b))
		stretch := b[i:min(len(b), i+1+r.IntN(512))]
		if len(bytes.Trim(stretch, "\x00")) == 0 {
			return nil
		}
		clear(stretch)
		return b
	}},
	{"a hole", 40, func(r *rand.Rand, b, _ []byte) []byte {
		i := r.IntN(len(b))
		return append(b[:i], b[min(len(b), i+1+r.IntN(64)):]...)
	}},
	{"the same file of another archive", 1, func(_ *rand.Rand, _, other []byte) []byte { return slices.Clone(other) }},
}

// Whatever happens to one of the four files, unpack and verify report it, and every file
// that is restored is right.
func TestDamageIsReported(t *testing.T) {
	dir := t.TempDir()
	// Ns, lower case, names, lengths, wrapped lines: every column has something in it
	odd := filepath.Join(dir, "odd.fastq")
	text := "@wrapped\nACGTNACG\nTTacgRA\n+wrapped\nIIII#III\nIIIIIII\n@a\nACGTTGCAATTGGCC\n+\nIIIIIIIIIIII###\n@a\nT\n+\n,"
	if err := os.WriteFile(odd, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	r1, r2 := simulated(t, dir, 60)
	make := func(name string, pack bool, args ...string) map[string][]byte {
		out := filepath.Join(dir, name)
		mustRun(t, append(append([]string{"bin", "--quiet", "--block-size", "4KB"}, args...), out)...)
		if pack {
			mustRun(t, "pack", "--quiet", "--parity", "none", out)
		}
		return contents(t, out)
	}
	for _, c := range []struct {
		name         string
		weight       float64 // packed archives take longer to check
		files, other map[string][]byte
	}{
		{"bins", 0.5, make("bins", false, "-1", r1, "-2", r2, odd), make("bins2", false, "-1", r2, "-2", r1, odd)},
		{"packed", 0.15, make("packed", true, "-1", r1, "-2", r2, odd), make("packed2", true, "-1", r2, "-2", r1, odd)},
		{"set of reads", 0.15, make("set", true, "--reads-only", "--order", "any", r1), make("set2", true, "--reads-only", "--order", "any", r2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if len(c.files) != 2 {
				t.Fatalf("an archive of %d files", len(c.files))
			}
			t.Parallel()
			d := damaged{t: t, whole: c.files, other: others(c.other), archive: filepath.Join(dir, c.name, "damaged"),
				out: filepath.Join(dir, c.name, "out")}
			d.sound()
			r := rand.New(rand.NewPCG(7, uint64(len(c.name))))
			for name := range c.files {
				for _, how := range damages {
					weight := c.weight
					if !testrun.Long() {
						weight /= 8
					}
					for range int(math.Ceil(float64(how.times) * weight)) {
						d.try(name, how, r)
					}
				}
			}
			t.Logf("%d damages", d.tried)
		})
	}
}

// damaged tries damages on an archive.
type damaged struct {
	t            *testing.T
	whole        map[string][]byte
	other        map[string][]byte // by extension
	restored     map[string][]byte // what the sound archive gives
	archive, out string
	tried        int
}

// others indexes the files of an archive by extension.
func others(files map[string][]byte) map[string][]byte {
	m := map[string][]byte{}
	for name, b := range files {
		m[filepath.Ext(name)] = b
	}
	return m
}

func (d *damaged) write(spoilt string, b []byte) {
	if err := os.MkdirAll(d.archive, 0o777); err != nil {
		d.t.Fatal(err)
	}
	for name, whole := range d.whole {
		if name == spoilt {
			whole = b
		}
		if err := os.WriteFile(filepath.Join(d.archive, name), whole, 0o666); err != nil {
			d.t.Fatal(err)
		}
	}
}

// check runs verify and unpack and returns what they report: their errors, or in its notes
// what unpack found wrong though it did not matter.
func (d *damaged) check() (verify, unpack error) {
	var status []compress.FileStatus
	e, verify := commit.One(d.archive)
	if verify == nil {
		status, verify = compress.Verify(context.Background(), e, compress.VerifyOptions{Threads: 1})
	}
	if verify == nil {
		for _, s := range status {
			if !s.OK {
				verify = fmt.Errorf("%s is not OK", s.Name)
			}
		}
	}
	s, unpack := compress.Unpack(context.Background(), d.archive, compress.UnpackOptions{Threads: 1, OutDir: d.out})
	if unpack == nil && len(s.Notes) > 0 {
		unpack = errors.New(s.Notes[0])
	}
	return verify, unpack
}

// sound makes sure that the archive is accepted as it is.
func (d *damaged) sound() {
	d.write("", nil)
	if verify, unpack := d.check(); verify != nil || unpack != nil {
		d.t.Fatalf("the sound archive: verify %v, unpack %v", verify, unpack)
	}
	d.restored = contents(d.t, d.out)
	d.clear()
}

func (d *damaged) clear() {
	for _, dir := range []string{d.archive, d.out} {
		if err := os.RemoveAll(dir); err != nil {
			d.t.Fatal(err)
		}
	}
}

func (d *damaged) try(name string, how damage, r *rand.Rand) {
	spoilt := how.do(r, slices.Clone(d.whole[name]), d.other[filepath.Ext(name)])
	if spoilt == nil || bytes.Equal(spoilt, d.whole[name]) {
		return
	}
	d.tried++
	d.write(name, spoilt)
	verify, unpack := d.check()
	if verify == nil {
		d.t.Errorf("%s in %s: verify says nothing, unpack %v", how.name, name, unpack)
	}
	if unpack == nil { // what it needs is whole, or was mended
		if restored := contents(d.t, d.out); len(restored) != len(d.restored) {
			d.t.Errorf("%s in %s: unpack restored %d files of %d and says nothing", how.name, name, len(restored), len(d.restored))
		}
	}
	if _, err := os.Stat(d.out); err == nil {
		for file, b := range contents(d.t, d.out) {
			if !bytes.Equal(b, d.restored[file]) {
				d.t.Errorf("%s in %s: unpack left %s with other content", how.name, name, file)
			}
		}
	}
	d.clear()
}
