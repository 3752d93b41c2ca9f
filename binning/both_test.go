package binning

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/internal/testrun"
)

// standIn is a device for tests, on the CPU: its texts are not in memory of the host, and inflate BGZF.
type standIn struct {
	farMembers
	inflated         int
	blocks           atomic.Int64
	finished, closed atomic.Bool
	fails            int64 // which block fails, from 1 on; 0 for none
}

func (d *standIn) Assign(ctx context.Context, t *Text, b *bins.Block) error {
	if d.finished.Load() || d.closed.Load() {
		panic("a block comes after Finish or Close")
	}
	if d.blocks.Add(1) == d.fails {
		return &DeviceError{errTest}
	}
	return d.farMembers.Assign(ctx, t, b)
}

func (d *standIn) DeviceBlocks() int { return int(d.blocks.Load()) }

func (d *standIn) Finish() error {
	d.finished.Store(true)
	return nil
}

func (d *standIn) Close() error {
	d.closed.Store(true)
	return d.farMembers.Close()
}

// start returns the device, with an assigner of its own in it.
func (d *standIn) start(r *Resources) (Assigner, error) {
	d.farMembers = farMembers{farAssigner{NewCPU(*r)}, &d.inflated}
	return d, nil
}

// mixed is an assigner of NewBoth whose device starts after a number of blocks.
type mixed struct {
	*both
	mu    sync.Mutex
	left  int           // blocks that are still to be binned on the CPU before the device starts
	begin chan struct{} // closed when it may start
}

// newMixed returns a function that makes a mixed.
func newMixed(start func(*Resources) (Assigner, error), blocks int, made **mixed) func(*Resources) (Assigner, error) {
	return func(r *Resources) (Assigner, error) {
		m := &mixed{left: blocks, begin: make(chan struct{})}
		if blocks == 0 {
			close(m.begin)
		}
		m.both = NewBoth(r, Device{
			Probe: func() error {
				<-m.begin
				return nil
			},
			Start: start,
		}).(*both)
		if blocks == 0 {
			<-m.started
		}
		*made = m
		return m, nil
	}
}

// Assign is that of both, but after the given number of blocks on the CPU it waits until the device has started.
func (m *mixed) Assign(ctx context.Context, t *Text, b *bins.Block) error {
	err := m.both.Assign(ctx, t, b)
	if t.Buffer != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left--; m.left == 0 {
		close(m.begin)
		<-m.started
	}
	return err
}

// neverStarts is a Device that waits for the end of the test.
func neverStarts(t *testing.T) Device {
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	return Device{Probe: func() error {
		<-end
		return errTest
	}}
}

// newBoth returns a function that makes the assigner of NewBoth, and that waits for the start of the device if that is wanted.
func newBoth(d Device, wait bool) func(*Resources) (Assigner, error) {
	return func(r *Resources) (Assigner, error) {
		b := NewBoth(r, d)
		if wait {
			<-b.(*both).started
		}
		return b, nil
	}
}

// TestBothSameBytes: the archive does not depend on which blocks are binned on the CPU and which on a device.
func TestBothSameBytes(t *testing.T) {
	reads, size := testrun.Pick(400, 1500, 3000), testrun.Pick[uint64](12_000, 45_000, 60_000)
	fixed, varied := simulate(1, reads, 80, 80, "1"), simulate(2, reads/2, 0, 150, "1")
	fasta := []byte(">a b\nACGT\nACGTACGTNNACGTA\n>b\n\n>c\nAC")
	for _, tt := range []struct {
		name   string
		inputs []testInput
	}{
		{"plain", []testInput{{"a.fastq", fixed}}},
		{"two", []testInput{{"a.fastq", varied}, {"b.fastq", fixed}}},
		{"bgzip", []testInput{{"a.fastq.gz", bgzipped(fixed)}, {"c.fasta", fasta}, {"b.fastq.gz", bgzipped(varied)}}},
		{"gzip", []testInput{{"a.fastq.gz", gzipped(fixed, 2)}}},
	} {
		for _, o := range []record.Options{{BlockSize: size}, {BlockSize: size, ReadsOnly: true, OrderAny: true}} {
			if testrun.Race && tt.name != "bgzip" {
				continue
			}
			dir, err := binTexts(t, Config{Threads: 2, Options: o}, tt.inputs...)
			if err != nil {
				t.Fatal(err)
			}
			want := files(t, dir)
			for _, blocks := range []int{0, 1, 3, 1000} {
				for _, streams := range []int{1, 4} {
					if testrun.Short() && streams == 1 && blocks != 1 {
						continue
					}
					var d standIn
					var m *mixed
					c := Config{Threads: 2, Streams: streams, Options: o, NewAssigner: newMixed(d.start, blocks, &m)}
					dir, err := binTexts(t, c, tt.inputs...)
					what := fmt.Sprintf("%s, %d blocks on the CPU, %d streams", tt.name, blocks, streams)
					if err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					if !sameFiles(files(t, dir), want) {
						t.Errorf("%s: the archive differs", what)
					}
					if n := d.DeviceBlocks(); n == 0 && blocks < 1000 || n != 0 && blocks == 1000 || m.left > 0 && blocks < 1000 {
						t.Errorf("%s: %d blocks on the device, %d too few on the CPU", what, n, m.left)
					}
					if blocks == 1000 {
						close(m.begin)
						<-m.started
					}
					if d.farMembers.Assigner != nil && !d.closed.Load() {
						t.Errorf("%s: the device is still open", what)
					}
				}
			}
		}
	}
}

// TestBothSummary: a run says how many blocks were binned where.
func TestBothSummary(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.fastq")
	if err := os.WriteFile(path, simulate(1, 3000, 80, 80, "1"), 0o666); err != nil {
		t.Fatal(err)
	}
	var d standIn
	var m *mixed
	s, err := Run(t.Context(), Config{Inputs: []InputSpec{{Path: path, Mate: -1}}, OutDir: filepath.Join(dir, "out"),
		Options: record.Options{BlockSize: 60_000}, Streams: 4, NewAssigner: newMixed(d.start, 2, &m)})
	if err != nil || s.DeviceBlocks != s.Blocks-2 || s.DeviceBlocks != d.DeviceBlocks() || s.DeviceFailed || s.Blocks < 5 {
		t.Errorf("%d blocks, %d on the device, failed: %t, %v", s.Blocks, s.DeviceBlocks, s.DeviceFailed, err)
	}
}

// TestBothWithout: a device that fails to start is an error if it is required, else the CPU bins all blocks.
func TestBothWithout(t *testing.T) {
	text := testInput{"a.fastq", simulate(1, 1000, 80, 80, "1")}
	options := record.Options{BlockSize: 20_000}
	dir, err := binTexts(t, Config{Options: options}, text)
	if err != nil {
		t.Fatal(err)
	}
	want := files(t, dir)
	works := func() error { return nil }
	fails := func() error { return errTest }
	poor := fmt.Errorf("device 1: %w", errDeviceMemory)
	starts := func(err error) func(*Resources) (Assigner, error) {
		return func(*Resources) (Assigner, error) { return nil, err }
	}
	never, settled := neverStarts(t), 0
	never.Settle = func() { settled++ }
	for _, tt := range []struct {
		name   string
		device Device
		err    error
		note   string
	}{
		{"no device", Device{Probe: fails}, nil, ""},
		{"no start", Device{Probe: works, Start: starts(errTest)}, nil, errTest.Error()},
		{"little memory", Device{Probe: works, Start: starts(poor)}, nil, poor.Error()},
		{"slow", never, nil, ""},
		{"no device, required", Device{Probe: fails, Required: true}, errTest, ""},
		{"no start, required", Device{Probe: works, Start: starts(errTest), Required: true}, errTest, ""},
		{"little memory, required", Device{Probe: works, Start: starts(poor), Required: true}, nil, poor.Error()},
	} {
		var notes notes
		c := Config{Options: options, Streams: 3, Note: notes.add, NewAssigner: newBoth(tt.device, tt.name != "slow")}
		dir, err := binTexts(t, c, text)
		if fmt.Sprint(err) != fmt.Sprint(tt.err) {
			t.Errorf("%s: error %v, want %v", tt.name, err, tt.err)
		}
		if err == nil && !sameFiles(files(t, dir), want) {
			t.Errorf("%s: the archive differs", tt.name)
		}
		if said := notes.all(); tt.note == "" && said != "" || !strings.Contains(said, tt.note) {
			t.Errorf("%s: noted %q, want %q", tt.name, said, tt.note)
		}
	}
	if settled != 1 {
		t.Errorf("a run that ended before its device had started waited for it %d times", settled)
	}
	// The blocks may all be binned before it turns out that there is no device.
	probing := make(chan struct{})
	probe := sync.OnceFunc(func() { close(probing) }) // two streams may report the end
	c := Config{Options: options, NewAssigner: newBoth(Device{Required: true, Probe: func() error {
		<-probing
		return errTest
	}}, false), Progress: func(_ string, done, total uint64) {
		if done == total {
			probe()
		}
	}}
	if _, err := binTexts(t, c, text); err == nil || err.Error() != errTest.Error() {
		t.Errorf("a required device is missing, which is known late: error %v", err)
	}
}

// notes collects what a run notes.
type notes struct {
	mu    sync.Mutex
	lines []string
}

func (n *notes) add(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, line)
}

func (n *notes) all() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.lines, "\n")
}

// TestDeviceFails: after a failure of the device the run begins again on the CPU if it can.
func TestDeviceFails(t *testing.T) {
	text := simulate(1, 1000, 80, 80, "1")
	options := record.Options{BlockSize: 20_000}
	dir, err := binTexts(t, Config{Options: options}, testInput{"a.fastq", text})
	if err != nil {
		t.Fatal(err)
	}
	want := files(t, dir)
	for _, block := range []int64{1, 3} {
		d := standIn{fails: block}
		var m *mixed
		var notes notes
		c := Config{Options: options, Streams: 4, Note: notes.add, NewAssigner: newMixed(d.start, 2, &m)}
		dir, err := binTexts(t, c, testInput{"a.fastq", text})
		if err != nil || !sameFiles(files(t, dir), want) {
			t.Errorf("block %d fails: %v, or the archive differs", block, err)
		}
		if said := notes.all(); said != "the GPU failed, and the run begins again on the CPU: "+errTest.Error() {
			t.Errorf("block %d fails: noted %q", block, said)
		}
		if !d.closed.Load() {
			t.Errorf("block %d fails: the device is still open", block)
		}
		out := filepath.Join(t.TempDir(), "out")
		c.Inputs, c.OutDir, c.Stdin = []InputSpec{{Path: "-", Mate: -1}}, out, bytes.NewReader(text)
		d = standIn{fails: block}
		if _, err := Run(t.Context(), c); err == nil || !errors.Is(err, errTest) {
			t.Errorf("block %d of standard input fails: %v", block, err)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("block %d of standard input fails: there is an archive", block)
		}
	}
}

// TestDeviceTextFails does so for each call of the device's texts.
func TestDeviceTextFails(t *testing.T) {
	step := testrun.Pick(181, 61, 23)
	for _, path := range writeFailingInputs(t) {
		want := runFar(t, path, 600_000, nil)
		for good := 0; ; good += step {
			used := 0
			f := &faults{good: good, device: true}
			got := runFar(t, path, 600_000, newBoth(Device{Probe: func() error { return nil }, Start: func(r *Resources) (Assigner, error) {
				return failingAssigner{farMembers{farAssigner{NewCPU(*r)}, &used}, f}, nil
			}}, true))
			sameFar(t, fmt.Sprintf("%s, failure after %d calls", filepath.Base(path), good), want, got)
			if f.texts != 0 || f.regions != 0 {
				t.Fatalf("%s, failure after %d calls: %d texts and %d sets of regions are in use", path, good, f.texts, f.regions)
			}
			if f.calls <= good {
				break
			}
		}
	}
}
