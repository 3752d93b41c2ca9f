package binning

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"orcomgo/binning/inflate"
	"orcomgo/internal/testrun"

	"orcomgo/bins"
	"orcomgo/bins/record"
)

// farAssigner is an assigner whose texts are not in memory of the host, as those of a GPU.
type farAssigner struct{ Assigner }

type farText struct {
	hostText
	end textCopy
}

func (farAssigner) Text(_ context.Context, n int) (TextBuffer, error) {
	return &farText{hostText: hostText{pool: new(hostTexts), buf: make([]byte, n)}}, nil
}

func (t *farText) Host(int) []byte { return nil }

// Fill and Read copy, and Read overwrites what it returned before.
func (t *farText) Fill(at, n int, f func(p []byte) (int, error)) (int, error) {
	if n > t.FillSize() || at+n > len(t.buf) {
		return 0, fmt.Errorf("%d bytes at %d of %d", n, at, len(t.buf))
	}
	p := make([]byte, n)
	k, err := f(p)
	copy(t.buf[at:], p[:k])
	t.end.keep(p[:k], at)
	return k, err
}

// FillSize implements TextBuffer.
func (t *farText) FillSize() int { return 3 * fillPiece }

func (t *farText) Grow(n, keep int) error {
	if n > len(t.buf) {
		t.end.cut(keep)
	}
	return t.hostText.Grow(n, keep)
}

func (t *farText) Read(from, to int) ([]byte, error) {
	if to-from > windowSize {
		return nil, errors.New("more than a window is read")
	}
	p := bytes.Clone(t.buf[from:to])
	if copied := make([]byte, to-from); t.end.read(copied, from) && !bytes.Equal(copied, p) {
		return nil, fmt.Errorf("the copy of bytes %d to %d is wrong", from, to)
	}
	return p, nil
}

func (a farAssigner) Assign(ctx context.Context, t *Text, b *bins.Block) error {
	near := *t
	if t.Buffer != nil {
		near.Data, near.Buffer = t.Buffer.(*farText).buf[:t.Len], nil
	}
	return a.Assigner.Assign(ctx, &near, b)
}

// farMembers is a farAssigner whose texts inflate BGZF by themselves. It refuses, as a GPU may, some
// members that are right.
type farMembers struct {
	farAssigner
	used *int // members inflated
}

type farMemberText struct {
	farText
	assigner farMembers
	batches  [3]farBatch
}

type farBatch struct {
	region  []byte
	members []inflate.Member
	at      int
}

func (a farMembers) Text(_ context.Context, n int) (TextBuffer, error) {
	return &farMemberText{farText: farText{hostText: hostText{pool: new(hostTexts), buf: make([]byte, n)}}, assigner: a}, nil
}

func (a farMembers) Assign(ctx context.Context, t *Text, b *bins.Block) error {
	near := *t
	if t.Buffer != nil {
		near.Data, near.Buffer = t.Buffer.(*farMemberText).buf[:t.Len], nil
	}
	return a.Assigner.Assign(ctx, &near, b)
}

func (t *farMemberText) Inflates() bool { return true }

func (t *farMemberText) Regions() (regions [][]byte, release func(), err error) {
	for i := range t.batches {
		t.batches[i] = farBatch{region: make([]byte, 100_000+i)}
		regions = append(regions, t.batches[i].region)
	}
	return regions, func() {
		for i := range t.batches {
			if t.batches[i].members != nil {
				panic("a region is in use")
			}
		}
	}, nil
}

func (t *farMemberText) Inflate(region int, members []inflate.Member, at int) error {
	b := &t.batches[region]
	if b.members != nil {
		return errors.New("the region is in use")
	}
	b.members, b.at = members, at
	return nil
}

func (t *farMemberText) Inflated(region int) (right int, lines []int, err error) {
	b := &t.batches[region]
	members := b.members
	b.members = nil
	for i, m := range members {
		z := flate.NewReader(bytes.NewReader(b.region[m.From:][:m.Size]))
		text, err := io.ReadAll(z)
		if b.at+int(m.Length) > len(t.buf) {
			return 0, nil, errors.New("no room for a member")
		}
		if err != nil || len(text) != int(m.Length) || crc32.ChecksumIEEE(text) != m.CRC || m.CRC%64 == 7 {
			return i, nil, nil
		}
		copy(t.buf[b.at:], text)
		b.at += len(text)
		*t.assigner.used++
	}
	return len(members), nil, nil
}

// byReader is the usual assigner, but its texts don't inflate members of BGZF: a Reader of gzip does.
type byReader struct{ Assigner }

func newByReader(r *Resources) (Assigner, error) { return byReader{NewCPU(*r)}, nil }

// runFar bins a file with an assigner, nil for the usual one, and returns the archive's files and the error.
func runFar(t *testing.T, in string, size uint64, assigner func(*Resources) (Assigner, error)) map[string][]byte {
	t.Helper()
	out := t.TempDir()
	c := Config{Inputs: []InputSpec{{Path: in, Mate: -1}}, OutDir: out, Options: record.Options{BlockSize: size}, NewAssigner: assigner}
	got := map[string][]byte{}
	s, err := Run(context.Background(), c)
	if err != nil {
		got["error"] = bytes.ReplaceAll([]byte(err.Error()), []byte(filepath.Dir(in)), nil)
	} else {
		got["bytes read"] = fmt.Appendf(nil, "%d", s.SourceBytes)
	}
	files, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(out, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[f.Name()] = b
	}
	return got
}

// sameFar compares what two assigners made.
func sameFar(t *testing.T, what string, want, got map[string][]byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d results, want %d: %.300s", what, len(got), len(want), got["error"])
	}
	for file := range want {
		if !bytes.Equal(got[file], want[file]) {
			t.Errorf("%s: %s differs: %.300q, want %.300q", what, file, got[file], want[file])
		}
	}
}

// TestFarText: what becomes of a text does not depend on the memory that it is in.
func TestFarText(t *testing.T) {
	testrun.NoRace(t)
	rng := rand.New(rand.NewPCG(7, 7))
	long := simulate(3, testrun.Pick(300, 60, 300), 3000, 19_000, "long")
	for range 3 {
		n := 150_000 + rng.IntN(200_000)
		long = fmt.Appendf(long, "@x\n%s\n+\n%s\n", bytes.Repeat([]byte("A"), n), bytes.Repeat([]byte("I"), n))
	}
	texts := map[string][]byte{
		"short":  simulate(1, testrun.Pick(20_000, 9_000, 20_000), 100, 100, "short"),
		"mixed":  simulate(2, 3_000, 0, 300, "mixed"),
		"long":   long,
		"blanks": append(bytes.Clone(long), bytes.Repeat([]byte("\r\n\n"), windowSize)...),
		"noend":  bytes.TrimSuffix(simulate(4, 2_000, 1, 2_000, "noend"), []byte("\n")),
		"tiny":   bytes.Repeat([]byte("@\n\n+\n\n"), testrun.Pick(300_000, 50_000, 300_000)),
		"fasta":  []byte(">a b\nACGT\nACGTACGTNNACGTA\n>b\n\n>c\nAC"),
		"bad":    append(bytes.Clone(long), "@a\nACGT\n+\nIII\n"...),
		"empty":  {},
	}
	far := func(r *Resources) (Assigner, error) { return farAssigner{NewCPU(*r)}, nil }
	inflated := 0
	members := func(r *Resources) (Assigner, error) {
		return farMembers{farAssigner{NewCPU(*r)}, &inflated}, nil
	}
	if testrun.Short() { // under the race detector
		for _, name := range []string{"long", "blanks", "bad", "tiny"} {
			delete(texts, name)
		}
	}
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, text := range texts {
		plain, packed := write(name, text), write(name+".gz", bgzipped(text))
		for _, size := range []uint64{30_000, 300_000, uint64(2<<20 + rng.IntN(1<<20))} {
			// Each text in blocks of two sizes, in long tests of all three.
			if size != 300_000 && (testrun.Short() || !testrun.Long() && (size < 300_000) == (len(text) > 2<<20)) {
				continue
			}
			what := fmt.Sprintf("%s, blocks of %d", name, size)
			sameFar(t, what, runFar(t, plain, size, nil), runFar(t, plain, size, far))
			if size == 300_000 && (name == "mixed" || name == "noend") {
				for ext, b := range map[string][]byte{".gzip.gz": gzipped(text, 3), ".zst": zstdCompressed(text)} {
					path := write(name+ext, b)
					sameFar(t, what+ext, runFar(t, path, size, nil), runFar(t, path, size, far))
				}
			}
			want := runFar(t, packed, size, newByReader)
			sameFar(t, what+", BGZF, elsewhere", want, runFar(t, packed, size, members))
			sameFar(t, what+", BGZF, in place", want, runFar(t, packed, size, nil))
		}
	}
	if inflated == 0 {
		t.Error("no member was inflated elsewhere")
	}
}

// wrongSizes returns files of BGZF in which a member gives a wrong size of itself, which gzip ignores.
func wrongSizes(sound []byte) map[string][]byte {
	var at []int // of members
	for k := 0; k < len(sound); k += int(binary.LittleEndian.Uint16(sound[k+16:])) + 1 {
		at = append(at, k)
	}
	files := make(map[string][]byte)
	for k, i := range []int{0, 1, len(at) / 2, len(at) - 2, len(at) - 1} {
		if k%2 == 1 && !testrun.Long() {
			continue
		}
		size := binary.LittleEndian.Uint16(sound[at[i]+16:])
		for _, wrong := range []uint16{size - 1, size + 1, size - 2, size / 2, 3, 1<<16 - 1} {
			b := bytes.Clone(sound)
			binary.LittleEndian.PutUint16(b[at[i]+16:], wrong)
			files[fmt.Sprintf("member %d of size %d says %d", i, size, wrong)] = b
		}
	}
	all := bytes.Clone(sound)
	for _, k := range at {
		all[k+16], all[k+17] = 0, 0
	}
	files["all sizes 0"] = all
	return files
}

// TestFarDamage: with BGZF that is inflated elsewhere, damage gives the same errors, and what is odd but
// sound the same archives.
func TestFarDamage(t *testing.T) {
	testrun.NoRace(t)
	rng := rand.New(rand.NewPCG(8, 8))
	records := testrun.Pick(5_000, 5_000, 10_000)
	text := simulate(1, records, 100, 150, "a") // more than a megabyte: the first one is never inflated elsewhere
	sound := bgzipped(text)
	end := sound[len(sound)-28:] // the empty member
	variants := map[string][]byte{
		"no end":         sound[:len(sound)-28],
		"two ends":       append(bytes.Clone(sound), end...),
		"many ends":      append(bytes.Clone(sound), bytes.Repeat(end, 400)...),
		"zeros":          append(bytes.Clone(sound), make([]byte, 5000)...),
		"garbage":        append(bytes.Clone(sound), "garbage"...),
		"end and more":   append(bytes.Clone(sound), bgzipped(simulate(2, 5000, 50, 50, "b"))...),
		"another gzip":   append(bytes.Clone(sound), gzipped(simulate(2, 5000, 50, 50, "b"), 1)...),
		"gzip and BGZF":  append(gzipped(simulate(2, 9000, 150, 150, "b"), 1), sound...),
		"cut":            sound[:len(sound)-1000],
		"cut in the end": sound[:len(sound)-5],
	}
	damages, least := testrun.Pick(4, 4, 48), testrun.Pick(20, 60, 600)
	for i := range damages {
		b := bytes.Clone(sound)
		at := len(b)/3 + rng.IntN(len(b)-len(b)/3)
		switch i % 4 {
		case 0:
			b[at] ^= 1 << rng.IntN(8)
		case 1:
			b = b[:at]
		case 2:
			b = append(b[:at:at], b[min(len(b), at+1+rng.IntN(100)):]...)
		case 3:
			b = append(b[:at:at], append([]byte("xyz"), b[at:]...)...)
		}
		variants[fmt.Sprintf("damage %d at %d", i, at)] = b
	}
	sizes := wrongSizes(sound)
	maps.Copy(variants, sizes)
	inflated := 0
	members := func(r *Resources) (Assigner, error) {
		return farMembers{farAssigner{NewCPU(*r)}, &inflated}, nil
	}
	dir := t.TempDir()
	for name, b := range variants {
		path := filepath.Join(dir, "in.fastq.gz")
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		want := runFar(t, path, 700_000, newByReader)
		sameFar(t, name+", elsewhere", want, runFar(t, path, 700_000, members))
		sameFar(t, name+", in place", want, runFar(t, path, 700_000, nil))
		if _, ok := sizes[name]; ok && want["error"] != nil {
			t.Errorf("%s: %s", name, want["error"])
		}
	}

	// A block that ends exactly where the text does, before something that is no BGZF.
	whole := uint64(len(text))
	for _, name := range []string{"no end", "zeros", "garbage", "another gzip"} {
		path := filepath.Join(dir, "in.fastq.gz")
		if err := os.WriteFile(path, variants[name], 0o666); err != nil {
			t.Fatal(err)
		}
		want := runFar(t, path, whole, newByReader)
		sameFar(t, name+", one block, elsewhere", want, runFar(t, path, whole, members))
		sameFar(t, name+", one block, in place", want, runFar(t, path, whole, nil))
	}
	if inflated < least {
		t.Errorf("only %d members were inflated elsewhere", inflated)
	}
}
