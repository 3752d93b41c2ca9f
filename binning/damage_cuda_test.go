//go:build cuda

package binning

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orcomgo/bins/record"
	"orcomgo/internal/tasks"
	"orcomgo/internal/testrun"
)

// sharedAssigner is an Assigner of several runs, none of which stops the device or closes it.
type sharedAssigner struct{ *cuda }

func (sharedAssigner) Finish() error { return nil }

func (sharedAssigner) Close() error { return nil }

// TestCUDADamage: damaged gzip gives the same on the GPU as on the CPU, an error or the right archive,
// and takes no longer than ten times as long as what is sound. ORCOMGO_LONG is for 10,000 files.
func TestCUDADamage(t *testing.T) {
	files, streams := 300, 8
	if testrun.Long() {
		files, streams = 10_000, 16
	}
	const block = 400_000
	res := &Resources{Threads: 16, Streams: streams, BlockSize: block, Keep: Keep{Names: true, Quals: true, Forms: true},
		Run: tasks.NewPool(16).Run, Note: func(string) {}}
	a, err := NewCUDA(res)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	text := simulate(1, 5000, 100, 150, "a")
	other := simulate(2, 4500, 100, 150, "b")
	kinds := [][]byte{bgzipped(text), bgzipped(text), bgzipped(text), gzipped(text, 1), gzipped(text, 9)}
	others := [][]byte{bgzipped(other), gzipped(other, 1), gzipped(other, 9)}
	dir := t.TempDir()
	bin := func(dir, path string, gpu bool) (map[string][]byte, time.Duration) {
		c := Config{Inputs: []InputSpec{{Path: path, Mate: -1}}, OutDir: dir, Options: record.Options{BlockSize: block}, Threads: 2, Streams: 1}
		if gpu {
			c.NewAssigner = func(r *Resources) (Assigner, error) { return sharedAssigner{a.(*cuda)}, nil }
		}
		got := map[string][]byte{}
		begin := time.Now()
		_, err := Run(context.Background(), c)
		took := time.Since(begin)
		if err != nil {
			got["error"] = []byte(err.Error())
		}
		for _, name := range []string{"in.bdna", "in.bmeta"} {
			if b, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
				got[name] = b
			}
		}
		os.RemoveAll(dir)
		return got, took
	}
	// What is sound, several at a time as below, so that the times compare.
	var sound [2]atomic.Int64
	work := func(from, to int, f func(rng *rand.Rand, dir string, i int)) {
		var next atomic.Int64
		next.Store(int64(from))
		var wg sync.WaitGroup
		for k := range streams {
			wg.Go(func() {
				own := filepath.Join(dir, fmt.Sprint(k))
				if err := os.MkdirAll(own, 0o777); err != nil {
					t.Error(err)
					return
				}
				for i := int(next.Add(1)) - 1; i < to; i = int(next.Add(1)) - 1 {
					f(rand.New(rand.NewPCG(5, uint64(i))), own, i)
				}
			})
		}
		wg.Wait()
	}
	write := func(dir string, b []byte) string {
		path := filepath.Join(dir, "in.fastq.gz")
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Error(err)
		}
		return path
	}
	work(0, 4*len(kinds)*streams, func(_ *rand.Rand, dir string, i int) {
		path := write(dir, kinds[i%len(kinds)])
		for gpu := range sound {
			got, took := bin(filepath.Join(dir, "out"), path, gpu == 1)
			if got["error"] != nil {
				t.Errorf("sound: %s", got["error"])
			}
			for at := sound[gpu].Load(); int64(took) > at && !sound[gpu].CompareAndSwap(at, int64(took)); at = sound[gpu].Load() {
			}
		}
	})
	var errors, right, slow atomic.Int64
	work(0, files, func(rng *rand.Rand, dir string, i int) {
		kind := kinds[i%len(kinds)]
		b := bytes.Clone(kind)
		at := rng.IntN(len(b))
		switch rng.IntN(6) {
		case 0: // flipped
			b[at] ^= 1 << rng.IntN(8)
		case 1: // several bytes
			for range 1 + rng.IntN(20) {
				b[rng.IntN(len(b))] = byte(rng.Uint32())
			}
		case 2: // cut
			b = b[:at]
		case 3: // spliced
			o := others[rng.IntN(len(others))]
			b = append(b[:at], o[rng.IntN(len(o)):]...)
		case 4: // a part is missing
			b = append(b[:at], b[min(len(b), at+1+rng.IntN(100_000)):]...)
		case 5: // two parts change places
			n := 1 + rng.IntN(len(b)/3)
			x := rng.IntN(len(b) - 2*n)
			y := x + n + rng.IntN(len(b)-x-2*n+1)
			part := bytes.Clone(b[x : x+n])
			copy(b[x:], b[y:y+n])
			copy(b[y:], part)
		}
		path := write(dir, b)
		want, cpu := bin(filepath.Join(dir, "out"), path, false)
		got, gpu := bin(filepath.Join(dir, "out"), path, true)
		sameFar(t, fmt.Sprintf("file %d", i), want, got)
		if cpu > 10*time.Duration(sound[0].Load()) || gpu > 10*time.Duration(sound[1].Load()) {
			slow.Add(1)
			t.Errorf("file %d took %v and %v on the GPU; what is sound at most %v and %v", i, cpu, gpu,
				time.Duration(sound[0].Load()), time.Duration(sound[1].Load()))
		}
		if want["error"] != nil {
			errors.Add(1)
		} else {
			right.Add(1)
		}
	})
	t.Logf("%d errors, %d archives, %d slow; sound took at most %v, on the GPU %v; %d blocks on the GPU",
		errors.Load(), right.Load(),
		slow.Load(), time.Duration(sound[0].Load()), time.Duration(sound[1].Load()), a.DeviceBlocks())
}
