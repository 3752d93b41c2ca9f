//go:build cuda

package binning

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"orcomgo/bins/record"

	"orcomgo/bins"
	"orcomgo/cudakern"

	"gorgonia.org/cu"
)

// faultyAssigner is a GPU whose third block meets a bad address.
type faultyAssigner struct {
	*cuda
	blocks int
}

func (f *faultyAssigner) Assign(ctx context.Context, t *Text, b *bins.Block) error {
	if f.blocks++; f.blocks == 3 {
		place := reflect.ValueOf(t.Buffer.(*deviceText).lane).Elem().FieldByName("place").FieldByName("ptr")
		*(*uint64)(unsafe.Pointer(place.UnsafeAddr())) = 256
	}
	return f.cuda.Assign(ctx, t, b)
}

// TestCUDAFault: after an error of the device in mid-run, which names the kernel and the block, the run begins again on the CPU. A
// fault takes CUDA from the whole process, so another one has it.
func TestCUDAFault(t *testing.T) {
	if os.Getenv("ORCOMGO_FAULT") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCUDAFault$", "-test.v")
		cmd.Env = append(os.Environ(), "ORCOMGO_FAULT=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "reads.fastq")
	text := cudaText(rand.New(rand.NewPCG(4, 4)), 40000, 100, 0, 1, "\n", func(int) bool { return false })
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	c := Config{OutDir: filepath.Join(dir, "out"), Options: record.Options{BlockSize: 1 << 20}, Threads: 2, Streams: 1,
		Inputs: []InputSpec{{Path: path, Mate: -1}}}
	c.NewAssigner = func(r *Resources) (Assigner, error) {
		a, err := NewCUDA(r)
		if err != nil {
			return nil, err
		}
		return &faultyAssigner{cuda: a.(*cuda)}, nil
	}
	var said notes
	c.Note = said.add
	s, err := Run(t.Context(), c)
	note := said.all()
	if err != nil || !s.DeviceFailed || !strings.Contains(note, "reads.fastq, block that begins with record ") ||
		!strings.Contains(note, ": kernel signature: CUDA error IllegalAddress") {
		t.Errorf("noted %q, error %v", note, err)
	}
	want := archive(t, c.Options, 1, false, path)
	got, err := os.ReadFile(filepath.Join(c.OutDir, "reads.bmeta"))
	if err != nil || string(got) != string(want[".bmeta"]) {
		t.Errorf("another archive than the CPU's: %v", err)
	}
}

// TestCUDAMemory: with little device memory there are fewer streams, then smaller blocks, and
// the user is told; the archive is that of the CPU with the same block size.
func TestCUDAMemory(t *testing.T) {
	if _, err := cudakern.Probe(0); err != nil { // starts the driver
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	otherContext, err := cu.Device(0).MakeContext(cu.SchedAuto)
	if err != nil {
		t.Fatal(err)
	}
	defer otherContext.Destroy()
	path := filepath.Join(t.TempDir(), "reads.fastq")
	text := cudaText(rand.New(rand.NewPCG(4, 4)), 40000, 100, 0, 1, "\n", func(int) bool { return false })
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, leave := range []int64{2500 << 20, 1000 << 20, 700 << 20, 100 << 20} {
		if err := cu.SetCurrentContext(otherContext); err != nil {
			t.Fatal(err)
		}
		free, _, err := cu.MemInfo()
		if err != nil {
			t.Fatal(err)
		}
		allocated, err := cu.MemAlloc(free - leave)
		if err != nil {
			t.Fatal(err)
		}
		var notes []string
		var used Resources
		c := Config{OutDir: filepath.Join(t.TempDir(), "out"), Options: record.Options{BlockSize: 256 << 20}, Threads: 2, Streams: 8,
			Inputs: []InputSpec{{Path: path, Mate: -1}}, Note: func(line string) { notes = append(notes, line) }}
		c.NewAssigner = func(r *Resources) (Assigner, error) {
			a, err := NewCUDA(r)
			used = *r
			return a, err
		}
		done := make(chan error)
		go func() { // another thread, without that context
			_, err := Run(context.Background(), c)
			done <- err
		}()
		err = <-done
		said := fmt.Sprintf("%d MB left: %d streams of %d MB; %q; %v", leave>>20, used.Streams, used.BlockSize>>20, notes, err)
		t.Log(said)
		switch {
		case err != nil && (!errors.Is(err, cudakern.ErrMemory) || leave > 200<<20):
			t.Error(said)
		case err == nil && used.Streams == 8 && used.BlockSize == 256<<20:
			t.Errorf("all fits? %s", said)
		case err == nil && !strings.Contains(strings.Join(notes, "\n"), "too little free memory for 8 streams of 268 MB blocks"):
			t.Errorf("not said: %s", said)
		case err == nil:
			want := archive(t, record.Options{BlockSize: used.BlockSize}, 1, false, path)
			got, err := os.ReadFile(filepath.Join(c.OutDir, "reads.bmeta"))
			if err != nil || string(got) != string(want[".bmeta"]) {
				t.Errorf("another archive than the CPU's: %v", err)
			}
		}
		if err := cu.SetCurrentContext(otherContext); err != nil {
			t.Fatal(err)
		}
		if err := cu.MemFree(allocated); err != nil {
			t.Fatal(err)
		}
	}
}
