package overlap

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"
)

// fakeDevice is a device that computes on the CPU, and fails at one of its calls. It counts the calls.
type fakeDevice struct {
	failing string // the call that fails
	failAt  int    // and at which time
	err     error  // with what, unless it is nil

	mu     sync.Mutex
	calls  map[string]int
	placed int
	rd     *Reads

	bytes uint64 // memory; 0 for very much
	seq   *sequence
	w     *window
}

var errFake = errors.New("this device fails")

func (f *fakeDevice) call(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[name]++
	if f.failing == name && f.calls[name] == f.failAt {
		if f.err != nil {
			return f.err
		}
		return errFake
	}
	return nil
}

func (f *fakeDevice) loadReads(rd *Reads) error {
	f.rd = rd
	return f.call("loadReads")
}

func (f *fakeDevice) buildIndex(seq *sequence, w *window) error {
	f.seq, f.w = seq, w
	return f.call("buildIndex")
}

func (f *fakeDevice) place(w *window, retry retryRule, in *placements, poor []uint64, out *placements, progress func(int)) error {
	if w != f.w {
		return errors.New("the device has another index")
	}
	copy(out.pos, in.pos)
	copy(out.reversedBits, in.reversedBits)
	copy(out.mismatches, in.mismatches)
	b := builder{config: Config{Threads: 1}, seq: *f.seq, placements: out, poor: Subset{words: poor}}
	b.placeAll(f.rd, w, retry, progress)
	for i, pos := range out.pos {
		if pos != in.pos[i] {
			f.placed++
		}
	}
	return f.call("place")
}

func (f *fakeDevice) partners(j *joiner, by sampler) ([]link, []uint32, int, error) {
	if err := f.call("partners"); err != nil {
		return nil, nil, 0, err
	}
	x := joiner{set: j.set, readBases: j.readBases, threads: 1, settled: j.settled}
	x.set.left = slices.Clone(x.set.left)
	x.groups.fill(&x.set, by, 1, x.settled)
	return x.partners(&x.groups), x.set.left, x.compared, nil
}

func (f *fakeDevice) endJoining() error { return f.call("endJoining") }

func (f *fakeDevice) memory() uint64 {
	if f.bytes > 0 {
		return f.bytes
	}
	return 1 << 40
}

func (f *fakeDevice) vote(seq *sequence, pl *placements, voted []byte, poor []uint64, mismatches []uint8) error {
	f.w = nil
	b := builder{config: Config{Threads: 1}, seq: sequence{slices.Clone(seq.packed), seq.n}, workBytes: math.MaxUint64, voted: true,
		allReads: f.rd, records: &records{count: len(pl.pos)}, placements: &placements{pl.pos, pl.reversedBits, slices.Clone(pl.mismatches)}}
	vote := b.vote
	if poor != nil {
		vote = b.voteAndSelectPoor
	}
	if err := vote(context.Background()); err != nil {
		return err
	}
	copy(voted, b.seq.packed)
	copy(poor, b.poor.words)
	if poor != nil {
		copy(mismatches, b.placements.mismatches)
	}
	return f.call("vote")
}

func (f *fakeDevice) close() error { return f.call("close") }

// TestDevice: a layout is the same with a device as without, also if the device fails at any of its calls. That is noted once.
func TestDevice(t *testing.T) {
	r := rand.New(rand.NewSource(71))
	_, ds := hardReads(r)
	archive := archiveOf(t, 20_000, lettersOf(ds))
	for _, memory := range []Config{{Whole: true, Threads: 2}, {Memory: littleMemory, Threads: 2}} {
		want := layOut(t, archive, memory)
		type failure struct {
			failing string
			failAt  int
		}
		for _, c := range []failure{{"", 0}, {"open", 1}, {"loadReads", 1}, {"buildIndex", 1}, {"buildIndex", 2}, {"place", 1}, {"place", 2},
			{"close", 1},
			{"partners", 1}, {"partners", 3}, {"endJoining", 1}, {"vote", 1}} {
			if !memory.Whole && slices.Contains([]string{"loadReads", "buildIndex", "place", "vote"}, c.failing) {
				continue // which are not called
			}
			f := &fakeDevice{failing: c.failing, failAt: c.failAt, calls: map[string]int{}}
			var notes []string
			config := memory
			config.GPU, config.Note, config.deviceAlways = true, func(line string) { notes = append(notes, line) }, true
			config.testDevice = func() (device, error) {
				if c.failing == "open" {
					return nil, errFake
				}
				return f, nil
			}
			got := layOut(t, archive, config)
			name := c.failing
			if !sameLayout(got, want) {
				t.Errorf("whole %t, %q fails: another layout", memory.Whole, name)
			}
			switch {
			case name == "" && len(notes) > 0 || name != "" && (len(notes) != 1 || !strings.Contains(notes[0], errFake.Error())):
				t.Errorf("whole %t, %q fails: the notes are %q", memory.Whole, name, notes)
			case name == "" && (f.calls["partners"] < 3 || memory.Whole && (f.placed < 1400 || f.calls["loadReads"] != 1 ||
				f.calls["buildIndex"] < 2 || f.calls["vote"] < 1)):
				t.Errorf("whole %t: the device placed %d reads by %v", memory.Whole, f.placed, f.calls)
			case f.calls["close"] != 1 && name != "open":
				t.Errorf("whole %t, %q fails: the device was closed %d times", memory.Whole, name, f.calls["close"])
			}
		}
	}
	// A run that does not ask for a device.
	layOut(t, archive, Config{Whole: true, Threads: 1, testDevice: func() (device, error) {
		t.Error("a device was opened")
		return nil, errFake
	}})
}

// TestDeviceOfLittleMemory: if the device has too little memory for a step, the CPU does that step, which is noted once, and the device
// does the others.
func TestDeviceOfLittleMemory(t *testing.T) {
	_, ds := hardReads(rand.New(rand.NewSource(77)))
	archive := archiveOf(t, 20_000, lettersOf(ds))
	want := layOut(t, archive, Config{Whole: true, Threads: 2})
	for _, c := range []struct {
		failing      string
		goOn, atOnce string // calls that are still made, and one that is made only once
		note         string
	}{
		{"loadReads", "partners", "loadReads", "the CPU places reads"},
		{"buildIndex", "partners", "buildIndex", "the CPU places reads"},
		{"place", "partners", "place", "the CPU places reads"},
		{"partners", "place", "partners", "the CPU joins contigs"},
		{"vote", "place", "vote", "the CPU counts votes"},
		{"", "partners", "", "the CPU places reads"}, // half of the memory is less than the reads take
	} {
		f := &fakeDevice{failing: c.failing, failAt: 1, err: fmt.Errorf("%w: 9 GB", errDeviceMemory), calls: map[string]int{}}
		if c.failing == "" {
			f.bytes = 100_000
		}
		var notes []string
		got := layOut(t, archive, Config{Whole: true, Threads: 2, GPU: true, Note: func(line string) { notes = append(notes, line) },
			testDevice: func() (device, error) { return f, nil }, deviceAlways: true})
		if !sameLayout(got, want) {
			t.Errorf("too little memory for %q: another layout", c.failing)
		}
		if len(notes) != 1 || !strings.Contains(notes[0], c.note) || f.bytes == 0 && !strings.Contains(notes[0], "9 GB") {
			t.Errorf("too little memory for %q: the notes are %q", c.failing, notes)
		}
		if c.atOnce != "" && f.calls[c.atOnce] != 1 || f.bytes > 0 && f.calls["loadReads"] > 0 || f.calls[c.goOn] == 0 || f.calls["close"] != 1 {
			t.Errorf("too little memory for %q: the calls are %v", c.failing, f.calls)
		}
	}
}
