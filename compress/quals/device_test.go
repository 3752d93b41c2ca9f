package quals

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fakeGPU codes on the CPU, up to three columns at a time. It fails once it has coded so many batches, and never if that is 0.
type fakeGPU struct {
	failAfter       int64
	batches         atomic.Int64
	coders, columns atomic.Int64
	closed          atomic.Bool
	blocked         chan struct{} // if not nil, it codes nothing before this is closed
}

// never is a pool that has no idle place.
func never(f func(idle <-chan struct{})) { f(nil) }

func (f *fakeGPU) coder() (gpuCoder, error) {
	f.coders.Add(1)
	return fakeCoder{f}, nil
}

func (f *fakeGPU) close() error {
	f.closed.Store(true)
	return nil
}

type fakeCoder struct{ *fakeGPU }

func (f fakeCoder) close() error {
	f.coders.Add(-1)
	return nil
}

func (f fakeCoder) code(columns []*deviceColumn, copied func(n int)) (n int, err error) {
	if f.batches.Add(1) > f.failAfter && f.failAfter > 0 {
		return 0, errors.New("it is unplugged")
	}
	n = min(len(columns), 3)
	ins := make([]Input, n)
	for i, c := range columns[:n] {
		ins[i] = *c.in
		ins[i].Quals, ins[i].Progress = slices.Clone(c.in.Quals), nil // the device tells the progress
	}
	copied(n)
	if f.blocked != nil {
		<-f.blocked
	}
	for i, c := range columns[:n] {
		if c.encode != columns[0].encode {
			return 0, errors.New("columns to encode and to decode in one batch")
		}
		f.columns.Add(1)
		in := &ins[i]
		m := in.Primer.model.clone()
		if c.encode {
			c.coded = m.encode(nil, in)
		} else if c.quals, err = m.decode(c.coded, in, c.n, nil); err != nil {
			err = nil
			continue
		}
		c.right = true
	}
	return n, nil
}

// withFake has OpenDevice open a fake, and returns a device that can be used; notes gets what it says.
func withFake(t *testing.T, f *fakeGPU, wait func(f func(idle <-chan struct{})), notes *[]string) *Device {
	t.Helper()
	before := openGPU
	t.Cleanup(func() { openGPU = before })
	ready := make(chan struct{})
	openGPU = func() (gpu, error) {
		close(ready)
		return f, nil
	}
	var mu sync.Mutex
	d := OpenDevice(wait, func(line string) {
		mu.Lock()
		defer mu.Unlock()
		*notes = append(*notes, line)
	})
	<-ready
	for !d.usable.Load() {
	}
	return d
}

// TestDeviceBatches: columns that are coded at the same time come back right, by the device as long as it works, and then by the CPU.
func TestDeviceBatches(t *testing.T) {
	for _, failAfter := range []int64{0, 1, 5} {
		f, notes := &fakeGPU{failAfter: failAfter}, []string(nil)
		d := withFake(t, f, never, &notes)
		var all sync.WaitGroup
		for _, c := range primedColumns() {
			EncodeLeading(c.leading, 1<<30, func(p *Primer) { c.column.Primer = p })
			want := Encode(c.column)
			c.column.Device = d
			for range 8 {
				all.Go(func() {
					var told atomic.Int64
					in := c.column
					in.Progress = func(n int) { told.Add(int64(n)) }
					data := Encode(in)
					if !bytes.Equal(data, want) {
						t.Errorf("%s: another stream than without the device", c.name)
					}
					in.Quals = nil
					got, err := Decode(data, in)
					if err != nil || !bytes.Equal(got, c.column.Quals) {
						t.Errorf("%s: %d bytes come back, %v", c.name, len(got), err)
					}
					if n := len(c.column.Quals); told.Load() > int64(2*n) {
						t.Errorf("%s: progress of %d values, coded and decoded, is %d", c.name, n, told.Load())
					}
					if got, err := Decode(data[:len(data)-2], in); !errors.Is(err, ErrCorrupt) {
						t.Errorf("%s: a stream that is cut gives %d bytes, %v", c.name, len(got), err)
					}
				})
			}
		}
		all.Wait()
		d.Close()
		if f.columns.Load() == 0 || f.coders.Load() != 0 || !f.closed.Load() {
			t.Errorf("%d columns by the device, %d coders left, closed: %v", f.columns.Load(), f.coders.Load(), f.closed.Load())
		}
		if failed := failAfter > 0; failed != (len(notes) > 0) || failed && !strings.Contains(notes[0], "unplugged") {
			t.Errorf("failing after %d batches, it is noted: %q", failAfter, notes)
		}
	}
}

// TestIdleProcessor: columns for which a device takes longer than an idle processor are coded by that.
func TestIdleProcessor(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	c := primedColumns()[0]
	EncodeLeading(c.leading, 1<<30, func(p *Primer) { c.column.Primer = p })
	want := Encode(c.column)
	for _, idleAtOnce := range []bool{true, false} {
		f, notes := &fakeGPU{blocked: make(chan struct{})}, []string(nil)
		d := withFake(t, f, func(f func(idle <-chan struct{})) {
			if idleAtOnce {
				f(closed)
				return
			}
			idle := make(chan struct{})
			time.AfterFunc(20*time.Millisecond, func() { close(idle) })
			f(idle)
		}, &notes)
		in := c.column
		in.Device, in.Quals = d, slices.Clone(in.Quals)
		if got := Encode(in); !bytes.Equal(got, want) {
			t.Error("another stream than without the device")
		}
		clear(in.Quals) // the device has its own copy
		if got, err := Decode(want, in); err != nil || !bytes.Equal(got, c.column.Quals) {
			t.Errorf("%d bytes come back, %v", len(got), err)
		}
		close(f.blocked)
		d.Close()
		if idleAtOnce != (f.columns.Load() == 0) || len(notes) > 0 {
			t.Errorf("idle at once: %v, the device has coded %d columns, %q", idleAtOnce, f.columns.Load(), notes)
		}
	}
}

// TestNoDevice: a device that can't be opened, and none at all, leave everything to the CPU.
func TestNoDevice(t *testing.T) {
	before := openGPU
	defer func() { openGPU = before }()
	openGPU = func() (gpu, error) { return nil, errors.New("no device") }
	var note string
	d := OpenDevice(never, func(line string) { note = line })
	d.Close()
	if d.encode(&Input{}) != nil || !strings.Contains(note, "no device") {
		t.Errorf("it codes, or says %q", note)
	}
	openGPU = nil
	if d := OpenDevice(nil, nil); d != nil || d.encode(&Input{}) != nil {
		t.Error("there is a device without one")
	}
	d = nil
	d.Close()
}
