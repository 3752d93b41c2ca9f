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
	bytes    uint64 // memory; 0 for very much
	voting   builder
	votes    *voteWindow
	shared   *sharedMismatches
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
	copy(out.pos, in.pos)
	copy(out.reversedBits, in.reversedBits)
	copy(out.mismatches, in.mismatches)
	b := builder{config: Config{Threads: 1}, seq: *f.seq, placements: out, poor: bitset{words: poor}}
	b.placeAll(f.numbered(), w, retry, progress)
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

// fakeVoteWindow is a multiple of the positions of a byte.
const fakeVoteWindow = 1000

func (f *fakeDevice) beginVotes(seq *sequence, poor bool) (int, error) {
	f.w = nil
	f.voting = builder{config: Config{Threads: 1}, seq: sequence{slices.Clone(seq.packed), seq.n}, workBytes: math.MaxUint64}
	f.shared = nil
	if poor {
		f.shared = newSharedMismatches(nil, 0, seq.n)
	}
	return fakeVoteWindow, f.call("beginVotes")
}

func (f *fakeDevice) countVotes(pl *placements, lo, hi int, first bool) error {
	if lo%fakeVoteWindow != 0 || hi-lo > fakeVoteWindow || pl == nil && f.voting.placements == nil {
		return errors.New("these votes can't be counted")
	}
	if first {
		f.votes = newVoteWindow(lo, hi, 1000, math.MaxUint64, 1)
		f.votes.staleMismatches = true
	}
	if pl != nil {
		f.voting.placements = pl
	}
	f.votes.collect(f.numbered(), f.voting.placements, &f.voting.seq)
	return f.call("countVotes")
}

func (f *fakeDevice) decideVotes(lo, hi int) error {
	f.votes.decide(&f.voting.seq, f.shared)
	return f.call("decideVotes")
}

func (f *fakeDevice) selectPoor(pl *placements, poor []uint64, mismatches []uint8) error {
	if pl == nil {
		pl = f.voting.placements
	}
	b := f.voting
	b.allReads, b.placements = f.numbered(), &placements{pl.pos, pl.reversedBits, mismatches}
	copy(mismatches, pl.mismatches)
	clear(poor)
	b.poor = bitset{words: poor}
	if err := b.selectPoor(context.Background(), 0, b.seq.n, f.shared); err != nil {
		return err
	}
	return f.call("selectPoor")
}

func (f *fakeDevice) endVotes(voted []byte) error {
	if voted == nil {
		return f.call("endVotes")
	}
	copy(voted, f.voting.seq.packed)
	return f.call("voted")
}

// numbered returns the loaded reads, with their numbers as records unless places are by record.
func (f *fakeDevice) numbered() *Reads {
	rd := *f.rd
	if f.byRecord {
		return &rd
	}
	rd.exceptions = record.ExceptionList{}
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
	return &rd
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
		type failure struct {
			failing string
			failAt  int
		}
		for _, c := range []failure{{"", 0}, {"open", 1}, {"loadReads", 1}, {"buildIndex", 1}, {"buildIndex", 2}, {"place", 1}, {"place", 2},
			{"close", 1},
			{"partners", 1}, {"partners", 3}, {"endJoining", 1}, {"cover", 1}, {"beginVotes", 1}, {"countVotes", 2},
			{"decideVotes", 1}, {"selectPoor", 1}, {"selectPoor", 2}, {"voted", 1}} {
			if memory.Whole && c == (failure{"selectPoor", 2}) || !memory.Whole && c.failing == "cover" {
				continue // which are not called
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
				f.calls["partners"] < 3 || f.calls["voted"] < 1 || f.calls["selectPoor"] < 1):
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
		{"buildIndex", "partners", "buildIndex", "the CPU places reads"},
		{"place", "partners", "place", "the CPU places reads"},
		{"partners", "place", "partners", "the CPU joins contigs"},
		{"beginVotes", "place", "beginVotes", "the CPU counts votes"},
		{"countVotes", "place", "countVotes", "the CPU counts votes"},
		{"selectPoor", "place", "selectPoor", "the CPU counts votes"},
		{"cover", "voted", "cover", "the CPU counts votes"},
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

// TestDeviceInParts: reads that don't fit in half of the device's memory are loaded in parts; if the device fails at any of them, the CPU
// goes on with the others.
func TestDeviceInParts(t *testing.T) {
	defer func(open func() (device, error)) { openDevice = open }(openDevice)
	defer useDeviceAlways()()
	_, ds := hardReads(rand.New(rand.NewSource(79)))
	archive := archiveOf(t, 20_000, lettersOf(ds))
	for _, c := range []Config{{Whole: true, Threads: 2}, {Memory: littleMemory, Threads: 2}} {
		want := layOut(t, archive, c)
		for _, bytes := range []uint64{100_000, 30_000} {
			calls := map[string]int{}
			for failAt := 0; failAt <= min(calls["place"], 7); failAt++ {
				f := &fakeDevice{failing: "place", failAt: failAt, bytes: bytes, calls: map[string]int{}}
				if failAt > 0 && failAt%2 == 0 {
					f.failing, f.failAt = "selectPoor", failAt/2
				}
				openDevice = func() (device, error) { return f, nil }
				config := c
				config.GPU = true
				if got := layOut(
					t,
					archive,
					config,
				); !sameLayout(got, want) ||
					!slices.Equal(got.placements.mismatches, want.placements.mismatches) {
					t.Errorf("whole %t, %d bytes, fails at %d: another layout", c.Whole, bytes, failAt)
				}
				if failAt == 0 {
					calls = f.calls
				}
			}
			if calls["loadReads"] < 8 || calls["place"] < 4 || calls["selectPoor"] < 2 {
				t.Errorf("whole %t, %d bytes: the calls are %v", c.Whole, bytes, calls)
			}
		}
	}
}
