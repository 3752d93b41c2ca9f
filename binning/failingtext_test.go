package binning

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"orcomgo/binning/inflate"
	"orcomgo/internal/testrun"

	"orcomgo/bins"
)

var errFault = errors.New("the device is gone")

// failingAssigner is a farMembers whose texts fail from some call on, as those of a GPU do after a fault.
type failingAssigner struct {
	farMembers
	f *faults
}

// faults counts the calls of all texts of a run, and what was not given back.
type faults struct {
	good int // calls that do not fail
	// leave: after the good calls, only Regions and Inflate fail, because members can't be inflated there.
	leave bool
	// device: they fail by a DeviceError.
	device bool

	mu             sync.Mutex
	calls, leaves  int
	texts, regions int // in use
}

func (f *faults) call() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls++; f.calls > f.good && !f.leave {
		if f.device {
			return &DeviceError{errFault}
		}
		return errFault
	}
	return nil
}

// member is call for Regions and Inflate.
func (f *faults) member() error {
	if err := f.call(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leave && f.calls > f.good {
		f.leaves++
		return errLeaveBGZF
	}
	return nil
}

func (f *faults) use(texts, regions int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.texts, f.regions = f.texts+texts, f.regions+regions
}

type failingText struct {
	*farMemberText
	f *faults
}

func (a failingAssigner) Text(ctx context.Context, n int) (TextBuffer, error) {
	if err := a.f.call(); err != nil {
		return nil, err
	}
	t, err := a.farMembers.Text(ctx, n)
	if err != nil {
		return nil, err
	}
	a.f.use(1, 0)
	return &failingText{t.(*farMemberText), a.f}, nil
}

func (a failingAssigner) Assign(ctx context.Context, t *Text, b *bins.Block) error {
	if err := a.f.call(); err != nil {
		return err
	}
	inner := *t
	if t.Buffer != nil {
		inner.Buffer = t.Buffer.(*failingText).farMemberText
	}
	return a.farMembers.Assign(ctx, &inner, b)
}

func (t *failingText) Grow(n, keep int) error {
	if err := t.f.call(); err != nil {
		return err
	}
	return t.farMemberText.Grow(n, keep)
}

func (t *failingText) Fill(at, n int, f func(p []byte) (int, error)) (int, error) {
	if err := t.f.call(); err != nil {
		return 0, err
	}
	return t.farMemberText.Fill(at, n, f)
}

func (t *failingText) Read(from, to int) ([]byte, error) {
	if err := t.f.call(); err != nil {
		return nil, err
	}
	return t.farMemberText.Read(from, to)
}

func (t *failingText) CountLines(from, to int) ([]int, error) {
	if err := t.f.call(); err != nil {
		return nil, err
	}
	return t.farMemberText.CountLines(from, to)
}

func (t *failingText) Regions() ([][]byte, func(), error) {
	if err := t.f.member(); err != nil {
		return nil, nil, err
	}
	t.f.use(0, 1)
	regions, release, err := t.farMemberText.Regions()
	return regions, func() {
		release()
		t.f.use(0, -1)
	}, err
}

func (t *failingText) Inflate(region int, members []inflate.Member, at int) error {
	if err := t.f.member(); err != nil {
		return err
	}
	return t.farMemberText.Inflate(region, members, at)
}

func (t *failingText) Inflated(region int) (int, []int, error) {
	right, lines, err := t.farMemberText.Inflated(region) // which ends the use of the region, whatever comes of it
	if e := t.f.call(); e != nil {
		return 0, nil, e
	}
	return right, lines, err
}

func (t *failingText) Free() { t.f.use(-1, 0) }

// writeFailingInputs writes the same FASTQ as a plain file, gzip, BGZF and zstd, and returns the paths.
func writeFailingInputs(t *testing.T) []string {
	t.Helper()
	// The first megabyte is never inflated elsewhere; the long record makes a block grow.
	text := simulate(4, 6_000, 90, 110, "a")
	text = append(text, "@long\n"+strings.Repeat("A", 400_000)+"\n+\n"+strings.Repeat("I", 400_000)+"\n"...)
	text = append(text, simulate(5, 1_000, 90, 110, "b")...)
	dir := t.TempDir()
	var paths []string
	for name, b := range map[string][]byte{"plain": text, "gz": gzipped(text, 1), "bgz": bgzipped(text), "zst": zstdCompressed(text)} {
		if testrun.Race && name != "bgz" {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// TestFailingText: a run whose text fails at any of its calls ends with the error, leaves no archive, and
// gives back all memory.
func TestFailingText(t *testing.T) {
	testrun.NoRace(t)
	for _, path := range writeFailingInputs(t) {
		for good, step := 0, 1; ; good += step {
			used := 0
			f := &faults{good: good}
			got := runFar(t, path, 600_000, func(r *Resources) (Assigner, error) {
				return failingAssigner{farMembers{farAssigner{NewCPU(*r)}, &used}, f}, nil
			})
			if f.texts != 0 || f.regions != 0 {
				t.Fatalf("%s, fault after %d calls: %d texts and %d sets of regions are in use", path, good, f.texts, f.regions)
			}
			if f.calls <= good {
				if got["error"] != nil || len(got) != 3 || good < 30 {
					t.Errorf("%s: after %d calls without a fault: %d results, error %s", path, good, len(got), got["error"])
				}
				break
			}
			if !bytes.Contains(got["error"], []byte(errFault.Error())) || len(got) != 1 {
				t.Errorf("%s, fault after %d calls: %d results, error %s", path, good, len(got), got["error"])
			}
			if good >= 20 {
				step = testrun.Pick(59, 19, 5)
			}
		}
	}
}

// TestLeaveBGZF: if the GPU can inflate no more members, the archive is the same.
func TestLeaveBGZF(t *testing.T) {
	testrun.NoRace(t)
	for _, path := range writeFailingInputs(t) {
		if filepath.Base(path) != "bgz" {
			continue
		}
		want := runFar(t, path, 600_000, newByReader)
		step := testrun.Pick(13, 13, 3)
		for good := 0; ; good += step {
			used := 0
			f := &faults{good: good, leave: true}
			got := runFar(t, path, 600_000, func(r *Resources) (Assigner, error) {
				return failingAssigner{farMembers{farAssigner{NewCPU(*r)}, &used}, f}, nil
			})
			sameFar(t, "left BGZF", want, got)
			if f.texts != 0 || f.regions != 0 {
				t.Fatalf("left BGZF after %d calls: %d texts and %d sets of regions are in use", good, f.texts, f.regions)
			}
			if f.leaves == 0 {
				if good < 30 {
					t.Errorf("only %d calls", good)
				}
				break
			}
			if f.leaves != 1 {
				t.Errorf("after %d calls members were refused %d times, want once", good, f.leaves)
			}
		}
	}
}

// TestBlankTail: blank lines at the end are found a window at a time as they are in the whole text.
func TestBlankTail(t *testing.T) {
	testrun.NoRace(t)
	for _, line := range []string{"", "@a\nACGT\n+\nIIII\n", "@a\nACGT\n+\nIIII", "IIII\r\n", "\r", "x\r"} {
		for _, blank := range []string{"\n", "\r\n", "\r\n\n"} {
			for _, size := range []int{0, len(blank), 100, windowSize, 8 * windowSize} {
				for _, more := range []int{-2, -1, 0, 1, 2} {
					n := max(0, size/len(blank)+more)
					text := []byte(line + strings.Repeat(blank, n))
					w := &textWindow{text: &hostText{buf: text}, n: len(text)}
					if got, want := w.blankTail(), blankTail(text); got != want || w.err != nil {
						t.Errorf("%q and %d times %q: %d, want %d, error %v", line, n, blank, got, want, w.err)
					}
				}
			}
		}
	}
}
