//go:build cuda

package cudakern

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"gorgonia.org/cu"

	"orcomgo/internal/testrun"
)

// inflateOnLane inflates members and returns the lane's text, of which every byte that was not
// written is blank, and what each member has come to.
func inflateOnLane(l *Lane, data []byte, members []Member, length int) (text []byte, status []InflateStatus, err error) {
	const blank = 0xa5
	f, err := l.Inflater(len(data) % Inflaters)
	if err != nil {
		return nil, nil, err
	}
	if err := f.RoomForCompressed(len(data)); err != nil {
		return nil, nil, err
	}
	b, err := l.dev.Pin(len(data) + length)
	if err != nil {
		return nil, nil, err
	}
	defer l.dev.Unpin(b)
	half := copy(b, data) / 2
	if err := f.UploadCompressed(b[half:len(data)], half); err != nil {
		return nil, nil, err
	}
	if err := f.UploadCompressed(b[:half], 0); err != nil {
		return nil, nil, err
	}
	leave, err := l.dev.enter()
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	if err := l.GrowText(length, 0); err != nil {
		return nil, nil, err
	}
	if err := l.do(func() {
		l.set(l.text.at(), blank, l.text.size, "the text")
		l.wait()
	}); err != nil {
		return nil, nil, err
	}
	if err := f.Inflate(members, length); err != nil {
		return nil, nil, err
	}
	if err := f.do(f.wait); err != nil {
		return nil, nil, err
	}
	first, outcomes := f.outcomes()
	status = append(status, outcomes...)
	bad, why, err := f.Inflated()
	if err != nil {
		return nil, nil, err
	}
	want := -1
	for i, s := range status {
		if s != InflateRight && want < 0 {
			want = i
		}
	}
	if bad != want || bad >= 0 && (why != status[bad] || int(first) != bad) {
		return nil, nil, fmt.Errorf("the first bad member is %d (%v), want %d", bad, why, want)
	}
	text = b[len(data):][:length]
	if err := l.ReadText(text, 0); err != nil {
		return nil, nil, err
	}
	text = bytes.Clone(text)
	covered := make([]bool, length)
	for _, m := range members {
		for i := range m.Length {
			covered[m.To+i] = true
		}
	}
	for i, c := range text {
		if !covered[i] && c != blank {
			return nil, nil, fmt.Errorf("byte %d between the members' texts was written", i)
		}
	}
	return text, status, nil
}

// checkInflate inflates cases and compares with what compress/flate makes of them.
func checkInflate(t *testing.T, l *Lane, cases []inflateCase, gap int) {
	t.Helper()
	data, members, length := layOut(cases, gap)
	text, status, err := inflateOnLane(l, data, members, length)
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for i, c := range cases {
		got := text[members[i].To:][:members[i].Length]
		if (status[i] == InflateRight) != c.right || c.right && !bytes.Equal(got, c.text) {
			t.Errorf("%s: %d bytes of data, %d of text: %v, want right %v; the same text: %v", c.name, len(c.data), c.length, status[i], c.right,
				bytes.Equal(got, c.text))
			if wrong++; wrong > 20 {
				t.FailNow()
			}
		}
	}
}

// TestInflate: streams of all kinds, in one launch and alone.
func TestInflate(t *testing.T) {
	d := open(t)
	l := lane(t, d, 1<<12)
	sizes := []int{1 << 16, 3000, 65280, 40}
	if underSanitizer() {
		sizes = []int{40000, 3000, 40}
	}
	if underRacecheck() {
		sizes = []int{3000, 40} // TestInflateDamaged has larger ones
	}
	for seed, most := range sizes {
		cases := validCases(rand.New(rand.NewPCG(uint64(seed), 31)), most)
		checkInflate(t, l, cases, seed)
		for i := range 3 {
			checkInflate(t, l, cases[i:i+1], i)
		}
	}
	checkInflate(t, l, nil, 0)
}

// TestInflateDamaged: what the device says is right must be right, and it misses nothing that
// compress/flate takes to the last byte.
func TestInflateDamaged(t *testing.T) {
	d := open(t)
	l := lane(t, d, 1<<12)
	sizes, many, few := []int{3000, 300, 1 << 16}, 4000, 600
	if underSanitizer() {
		sizes, many, few = []int{3000, 300, 40000}, 300, 40
	}
	for seed, most := range sizes {
		rng := rand.New(rand.NewPCG(uint64(seed), 32))
		var valid, cases []inflateCase
		for _, c := range validCases(rng, most) {
			if len(c.data) > 0 {
				valid = append(valid, c)
			}
		}
		n := many
		if most > 1<<12 {
			n = few
		}
		for range n {
			cases = append(cases, damage(rng, valid[rng.IntN(len(valid))], valid[rng.IntN(len(valid))]))
		}
		checkInflate(t, l, cases, seed)
	}
}

// TestInflateOutside: members that are not within the lane's memory are refused.
func TestInflateOutside(t *testing.T) {
	d := open(t)
	l := lane(t, d, 1<<16)
	f, err := l.Inflater(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.RoomForCompressed(1000); err != nil {
		t.Fatal(err)
	}
	room := uint32(f.room)
	for _, m := range []Member{
		{From: room - 9, Size: 10, Length: 10},
		{From: room + 1, Size: 0},
		{From: 1<<32 - 1, Size: 10},
		{Size: 10, To: 91, Length: 10},
		{Size: 10, To: 1<<32 - 1, Length: 10},
		{Size: MaxMember + 1},
		{Size: 10, Length: MaxMember + 1},
	} {
		if err := f.Inflate([]Member{{Size: 5}, m}, 100); err == nil {
			t.Errorf("%+v was taken", m)
		}
	}
	b, err := d.Pin(100)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{-1, int(room) - 99, 1 << 40} {
		if f.UploadCompressed(b[:100], at) == nil {
			t.Errorf("compressed bytes at %d were taken", at)
		}
	}
	if bad, _, err := f.Inflated(); bad != -1 || err != nil {
		t.Errorf("nothing was inflated: %d, %v", bad, err)
	}
}

// TestInflateLanes inflates on several lanes at once.
func TestInflateLanes(t *testing.T) {
	d := open(t)
	size, rounds := 1<<20, 3
	if underRacecheck() {
		size, rounds = 1<<15, 1
	}
	var wg sync.WaitGroup
	for i := range 4 {
		l := lane(t, d, 1<<20)
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 33))
			for range rounds {
				var cases []inflateCase
				for _, d := range []deflater{deflaters[rng.IntN(len(deflaters))], deflaters[rng.IntN(len(deflaters))]} {
					for _, c := range bgzfOf(runLikeText(rng, size, 2+rng.IntN(30)), d) {
						if len(c.data) <= MaxMember {
							cases = append(cases, c)
						}
					}
				}
				data, members, length := layOut(cases, i)
				text, status, err := inflateOnLane(l, data, members, length)
				if err != nil {
					t.Error(err)
					return
				}
				for k, c := range cases {
					if status[k] != InflateRight || !bytes.Equal(text[members[k].To:][:members[k].Length], c.text) {
						t.Errorf("lane %d, %s: %v", i, c.name, status[k])
					}
				}
			}
		})
	}
	wg.Wait()
}

// inflateKernel returns the number of the kernel that inflates.
func inflateKernel() kernel {
	for k := kernel(0); ; k++ {
		if k.String() == "inflate" {
			return k
		}
	}
}

// TestInflateRates prints, for docs/PERFORMANCE.md, how fast members are inflated on one lane and on
// four; run with -v.
func TestInflateRates(t *testing.T) {
	if testrun.Short() || os.Getenv("ORCOMGO_RATES") == "" {
		t.Skip("set ORCOMGO_RATES to measure")
	}
	d := open(t)
	leave, err := d.enter()
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := d.functions[inflateKernel()].MaxActiveBlocksPerMultiProcessor(threads, 0)
	leave()
	t.Logf("%d thread blocks of %d warps a multiprocessor, %v", blocks, warps, err)
	const most, rounds = 64 << 20, 8
	var lanes []*Lane
	for range 4 {
		lanes = append(lanes, lane(t, d, most))
	}
	for _, levels := range []int{4, 38} {
		one := runLikeText(rand.New(rand.NewPCG(34, uint64(levels))), 8<<20, levels)
		for _, name := range []string{"compress/flate level 1", "compress/flate level 6", "compress/flate level 9", "compress/flate level 0"} {
			var z deflater
			for _, d := range deflaters {
				if d.name == name {
					z = d
				}
			}
			part := bgzfOf(one, z)
			var cases []inflateCase
			for range most / len(one) {
				cases = append(cases, part...)
			}
			data, members, length := layOut(cases, 0)
			b, err := d.Pin(len(data))
			if err != nil {
				t.Fatal(err)
			}
			copy(b, data)
			run := func(l *Lane, times int) error {
				f, err := l.Inflater(0)
				if err != nil {
					return err
				}
				for range times {
					if err := f.Inflate(members, length); err != nil {
						return err
					}
					if bad, why, err := f.Inflated(); bad >= 0 || err != nil {
						return fmt.Errorf("member %d: %v, %v", bad, why, err)
					}
				}
				return nil
			}
			for _, l := range lanes {
				f, err := l.Inflater(0)
				if err != nil {
					t.Fatal(err)
				}
				if err := f.RoomForCompressed(len(data)); err != nil {
					t.Fatal(err)
				}
				if err := f.UploadCompressed(b[:len(data)], 0); err != nil {
					t.Fatal(err)
				}
				if err := run(l, 1); err != nil { // what is slow the first time
					t.Fatal(err)
				}
			}
			for _, c := range []struct {
				lanes  int
				prefer cu.FuncCacheConfig
				note   string
			}{{1, cu.PreferNone, ""}, {2, cu.PreferNone, ""}, {4, cu.PreferNone, ""}, {4, cu.PreferShared, ", shared memory preferred to cache"}} {
				leave, err := d.enter()
				if err != nil {
					t.Fatal(err)
				}
				err = d.functions[inflateKernel()].SetCacheConfig(c.prefer)
				leave()
				if err != nil {
					t.Fatal(err)
				}
				begin := time.Now()
				var wg sync.WaitGroup
				for _, l := range lanes[:c.lanes] {
					wg.Go(func() {
						if err := run(l, rounds); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				t.Logf("%d levels of quality, %s (ratio %.2f), %d lanes%s: %.1f GB/s of text", levels, name, float64(length)/float64(len(data)),
					c.lanes, c.note, float64(c.lanes*rounds*length)/float64(time.Since(begin).Nanoseconds()))
			}
			if err := d.Unpin(b); err != nil {
				t.Fatal(err)
			}
		}
	}
}
