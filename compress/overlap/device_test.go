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

	"orcomgo/bins/record"
)

// fakeDevice is a device that searches on the CPU, and fails at one of its calls. It counts the calls.
type fakeDevice struct {
	failing string // the call that fails
	failAt  int    // and at which time
	err     error  // with what, unless it is nil

	mu     sync.Mutex
	calls  map[string]int
	placed int
	rd     *Reads

	byRecord bool
	seq      *sequence
	w        *window
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

func (f *fakeDevice) loadReads(rd *Reads, byRecord bool) error {
	f.rd, f.byRecord = rd, byRecord
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
	rd := *f.rd
	if !f.byRecord {
		rd.exceptions, rd.byIndex = record.ExceptionList{}, true
		rd.records = make([]uint32, rd.Count())
		for i := range rd.records {
			rd.records[i] = uint32(i)
			if rd.hasNonACGT(i) {
				f.rd.eachException(i, func(e record.Exception) {
					e.Read = uint32(i)
					rd.exceptions.Append(e)
				})
			}
		}
	}
	copy(out.pos, in.pos)
	copy(out.reversedBits, in.reversedBits)
	copy(out.mismatches, in.mismatches)
	b := builder{config: Config{Threads: 1}, seq: *f.seq, placements: out, poor: bitset{words: poor}}
	b.placeAll(&rd, w, retry, progress)
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

func (f *fakeDevice) vote(rd *Reads, seq *sequence, pl *placements, poor *bitset, mismatches []uint8) ([]byte, error) {
	if err := f.call("vote"); err != nil {
		return nil, err
	}
	if rd != f.rd || !f.byRecord {
		return nil, errors.New("the device has other reads")
	}
	b := builder{config: Config{Threads: 1}, records: &records{count: len(pl.pos)}, allReads: rd, workBytes: math.MaxUint64, voted: true}
	b.seq = sequence{slices.Clone(seq.packed), seq.n}
	b.placements = &placements{pl.pos, pl.reversedBits, slices.Clone(pl.mismatches)}
	if poor == nil {
		return b.seq.packed, b.vote(context.Background())
	}
	err := b.voteAndSelectPoor(context.Background())
	copy(poor.words, b.poor.words)
	copy(mismatches, b.placements.mismatches)
	return b.seq.packed, err
}

func (f *fakeDevice) cover(n int, in *placements, covered *bitset, pos []uint32) (bool, error) {
	if err := f.call("cover"); err != nil {
		return false, err
	}
	if !f.byRecord {
		return false, errors.New("the device has other reads")
	}
	for i, rec := range f.rd.records {
		if p := in.pos[rec]; p != Unplaced {
			covered.addRange(int(p), int(p)+f.rd.len(i))
		}
	}
	if covered.buildRanks() == n {
		return false, nil
	}
	for rec, p := range in.pos {
		if pos[rec] = p; p != Unplaced {
			pos[rec] = uint32(covered.rank(p))
		}
	}
	return true, nil
}

func (f *fakeDevice) close() error { return f.call("close") }

// useDeviceAlways has devices do steps that are too small to be worth it, until the function that it returns is called.
func useDeviceAlways() func() {
	joined, placed, voters := leastJoined, leastPlaced, leastVoters
	leastJoined, leastPlaced, leastVoters = 0, 0, 0
	return func() { leastJoined, leastPlaced, leastVoters = joined, placed, voters }
}

// TestDevice: a layout is the same with a device as without, also if the device fails at any of its calls. That is noted once.
func TestDevice(t *testing.T) {
	defer func(open func() (device, error)) { openDevice = open }(openDevice)
	defer useDeviceAlways()()
	r := rand.New(rand.NewSource(71))
	_, ds := hardReads(r)
	archive := archiveOf(t, 20_000, lettersOf(ds))
	for _, memory := range []Config{{Whole: true, Threads: 2}, {Memory: littleMemory, Threads: 2}} {
		openDevice = nil
		want := layOut(t, archive, memory)
		for _, c := range []struct {
			failing string
			failAt  int
		}{{"", 0}, {"open", 1}, {"loadReads", 1}, {"buildIndex", 1}, {"buildIndex", 2}, {"place", 1}, {"place", 2}, {"close", 1},
			{"partners", 1}, {"partners", 3}, {"endJoining", 1}, {"vote", 1}, {"cover", 1}} {
			if (c.failing == "vote" || c.failing == "cover") && !memory.Whole {
				continue
			}
			f := &fakeDevice{failing: c.failing, failAt: c.failAt, calls: map[string]int{}}
			openDevice = func() (device, error) {
				if c.failing == "open" {
					return nil, errFake
				}
				return f, nil
			}
			var notes []string
			config := memory
			config.GPU, config.Note = true, func(line string) { notes = append(notes, line) }
			got := layOut(t, archive, config)
			name := c.failing
			if !sameLayout(got, want) {
				t.Errorf("whole %t, %q fails: another layout", memory.Whole, name)
			}
			switch {
			case name == "" && len(notes) > 0 || name != "" && (len(notes) != 1 || !strings.Contains(notes[0], errFake.Error())):
				t.Errorf("whole %t, %q fails: the notes are %q", memory.Whole, name, notes)
			case name == "" && (f.placed < 1400 || memory.Whole && f.calls["loadReads"] != 1 || f.calls["buildIndex"] < 2 ||
				f.calls["partners"] < 3 || memory.Whole && f.calls["vote"] < 1):
				t.Errorf("whole %t: the device placed %d reads by %v", memory.Whole, f.placed, f.calls)
			case f.calls["close"] != 1 && name != "open":
				t.Errorf("whole %t, %q fails: the device was closed %d times", memory.Whole, name, f.calls["close"])
			}
		}
	}
	// A program without a device, and a run that does not ask for it.
	openDevice = func() (device, error) { t.Error("a device was opened"); return nil, errFake }
	layOut(t, archive, Config{Whole: true, Threads: 1})
	openDevice = nil
	layOut(t, archive, Config{Whole: true, Threads: 1, GPU: true})
}

// TestDeviceOfLittleMemory: if the device has too little memory for a step, the CPU does that step, which is noted once, and the device
// does the others.
func TestDeviceOfLittleMemory(t *testing.T) {
	defer func(open func() (device, error)) { openDevice = open }(openDevice)
	defer useDeviceAlways()()
	_, ds := hardReads(rand.New(rand.NewSource(77)))
	archive := archiveOf(t, 20_000, lettersOf(ds))
	want := layOut(t, archive, Config{Whole: true, Threads: 2})
	for _, c := range []struct {
		failing      string
		goOn, atOnce string // calls that are still made, and one that is made only once
		note         string
	}{
		{"loadReads", "partners", "loadReads", "the CPU places reads"},
		{"buildIndex", "vote", "buildIndex", "the CPU places reads"},
		{"place", "vote", "place", "the CPU places reads"},
		{"partners", "place", "partners", "the CPU joins contigs"},
		{"vote", "place", "vote", "the CPU counts votes"},
		{"cover", "vote", "cover", "the CPU counts votes"},
	} {
		f := &fakeDevice{failing: c.failing, failAt: 1, err: fmt.Errorf("%w: 9 GB", errDeviceMemory), calls: map[string]int{}}
		openDevice = func() (device, error) { return f, nil }
		var notes []string
		got := layOut(t, archive, Config{Whole: true, Threads: 2, GPU: true, Note: func(line string) { notes = append(notes, line) }})
		if !sameLayout(got, want) {
			t.Errorf("too little memory for %q: another layout", c.failing)
		}
		if len(notes) != 1 || !strings.Contains(notes[0], c.note) || !strings.Contains(notes[0], "9 GB") {
			t.Errorf("too little memory for %q: the notes are %q", c.failing, notes)
		}
		if f.calls[c.atOnce] != 1 || f.calls[c.goOn] == 0 || f.calls["close"] != 1 {
			t.Errorf("too little memory for %q: the calls are %v", c.failing, f.calls)
		}
	}
}
