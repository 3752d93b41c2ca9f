package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"orcomgo/binning"
	"orcomgo/binning/inflate"
	"orcomgo/bins"
	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/compress"
)

// Two programs are built from this source. orcomgo runs anywhere; orcomgo-cuda, built with the
// tag cuda, can't be loaded without the library of the CUDA driver. So orcomgo finds out whether
// it can, which takes a few milliseconds, and if so replaces itself by it. Where the driver turns
// out not to work, orcomgo-cuda does on the CPU what orcomgo would do.
const (
	cudaProgram = "orcomgo-cuda"
	loadTimeout = 20 * time.Second
	// minGPUBytes is from how many bytes of FASTQ on, for each thread that the CPU could use,
	// --device auto chooses a GPU, whose start takes time. A byte of BGZF counts as bgzfWeight bytes,
	// since the GPU inflates it, too: docs/PERFORMANCE.md, "GPU binning", has the
	// measurement.
	minGPUBytes = 110_000_000
	bgzfWeight  = 3
	// minGPUBases is from how many bases on, for each thread, pack, unpack and verify --device auto choose a GPU.
	minGPUBases = 60_000_000
	// minGPUMemory is the least --memory with which auto chooses a GPU. Its driver and the pinned
	// buffers take a few hundred megabytes of the host, whatever the size of the blocks.
	minGPUMemory = 1 << 30
)

// gpuBuild is what a build with the tag cuda adds.
type gpuBuild struct {
	// probe returns a line that names the device, or why there is none.
	probe func() (string, error)
	// assigner makes binning use the GPU from when it has started. With required it is an error if there is none.
	assigner func(c *binning.Config, required bool)
	// binOnly prepares the driver, which has not started yet, for a process that does nothing but bin such inputs.
	binOnly func(inputs []binning.InputSpec)
}

// gpu is set by an init function of builds with the tag cuda.
var gpu *gpuBuild

// requiredGPU is the error of --device gpu where no GPU can be used.
func requiredGPU(err error) error { return fmt.Errorf("--device gpu: %w", err) }

// useDevice decides where binning runs: it sets c.NewAssigner for a GPU, or replaces the process
// by orcomgo-cuda, or leaves c unchanged for the CPU. It does not wait for the GPU's driver.
func useDevice(ctx context.Context, device string, c *binning.Config) error {
	want, err := wantGPU(ctx, device, func() bool { return largeEnoughForGPU(c.Inputs, c.Threads) })
	if want {
		gpu.assigner(c, device == "gpu")
	}
	return err
}

// wantGPU decides whether this process should use a GPU if there is one: with the device auto if large returns true. It replaces
// the process by orcomgo-cuda if that is needed.
func wantGPU(ctx context.Context, device string, large func() bool) (want bool, err error) {
	if device == "cpu" || device == "auto" && !large() {
		return false, nil
	}
	if gpu != nil {
		return true, nil
	}
	err = execCUDAProgram(ctx) // which returns only on failure
	if device == "gpu" {
		return false, requiredGPU(err)
	}
	return false, nil
}

// usableGPU reports whether there is a GPU that can be used; with the device gpu it is an error if there is none. It waits until the
// driver has started, which takes 0.1 to 0.2 s. It is for builds with a GPU only: after wantGPU.
func usableGPU(device string) (bool, error) {
	_, err := gpu.probe()
	if err != nil && device == "gpu" {
		return false, requiredGPU(err)
	}
	return err == nil, nil
}

// gpuNote returns a function that shows why a GPU is not used any more. It shows nothing where none could be used: then auto is the CPU,
// and gpu fails.
func gpuNote(device string, bar *progress) func(line string) {
	return func(line string) {
		if usable, _ := usableGPU(device); usable {
			bar.note(line)
		}
	}
}

// useGPU is wantGPU, but returns false, or with the device gpu an error, if there is no usable GPU.
func useGPU(ctx context.Context, device string, large func() bool) (use bool, err error) {
	if want, err := wantGPU(ctx, device, large); !want {
		return false, err
	}
	return usableGPU(device)
}

// enoughForGPU returns a function for wantGPU and useGPU: large, but false where little memory is allowed.
func (r *resources) enoughForGPU(large func() bool) func() bool {
	return func() bool { return r.limit() >= minGPUMemory && large() }
}

// decodesOnGPU decides whether a GPU decodes the qualities of archives, one after the other. Where that pays it does not wait for the
// driver. Without a usable GPU, auto then has the CPU decode them, and with gpu the context that it returns ends. done is to be called
// with the error of the work, or before output is written. It returns the error to report: that there is no GPU, or the one it was given.
func (r *resources) decodesOnGPU(ctx context.Context, device string, found []commit.Entry) (
	_ context.Context, onGPU bool, done func(error) error, err error) {
	done = func(err error) error { return err }
	if _, err := choice("device", device, "auto", "cpu", "gpu"); err != nil {
		return ctx, false, done, err
	}
	pays := r.enoughForGPU(func() bool {
		return slices.ContainsFunc(found, func(e commit.Entry) bool {
			info, err := compress.Info(e)
			return err == nil && info.Stage == "packed" && info.Quality != "drop" && info.Bases >= minGPUBases*uint64(max(r.threads, 1))
		})
	})
	onGPU, err = wantGPU(ctx, device, pays)
	switch {
	case err != nil || device != "gpu":
	case pays():
		ctx, done = requireGPU(ctx)
	default:
		onGPU, err = usableGPU(device)
	}
	return ctx, onGPU, done, err
}

// requireGPU returns a context that ends if it turns out that there is no usable GPU, and the done of decodesOnGPU.
func requireGPU(parent context.Context) (_ context.Context, done func(error) error) {
	ctx, cancel := context.WithCancel(parent)
	known := make(chan struct{}) // whether there is one
	var missing error
	go func() {
		defer close(known)
		if _, missing = usableGPU("gpu"); missing != nil {
			cancel()
		}
	}()
	return ctx, func(err error) error {
		select {
		case <-known:
			return cmp.Or(missing, err)
		case <-parent.Done():
			return err
		}
	}
}

// checkedWriter calls check before each write, and writes nothing once that returns an error.
type checkedWriter struct {
	io.Writer
	check func(error) error
}

func (w checkedWriter) Write(p []byte) (int, error) {
	if err := w.check(nil); err != nil {
		return 0, err
	}
	return w.Writer.Write(p)
}

// binnedBases returns how many bases the bins at path hold, and 0 if there are none that can be read.
func binnedBases(path string) (bases uint64) {
	r, err := bins.Open(path)
	if err != nil {
		return 0
	}
	defer r.Close()
	for i := range r.Meta().Blocks {
		bases += r.Meta().Blocks[i].Bases
	}
	return bases
}

// largeEnoughForGPU reports whether the inputs are large enough for a GPU when the CPU has so many
// threads (0: all). Only FASTQ counts that is plain or BGZF: inflating anything else on the CPU takes
// longer than binning, FASTA is binned on the CPU, and of standard input the size isn't known.
func largeEnoughForGPU(inputs []binning.InputSpec, threads int) bool {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	var total int64
	for _, in := range inputs {
		if in.Path != "-" {
			n, _ := gpuBytes(in.Path)
			total += n
		}
	}
	return total >= minGPUBytes*int64(threads)
}

// gpuBytes returns how many bytes of FASTQ a file counts as: those of a regular file that begins as
// FASTQ does, and bgzfWeight times those of one that begins as BGZF does, for which it returns bgzf.
func gpuBytes(path string) (n int64, bgzf bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	head := make([]byte, 64<<10)
	size, _ := io.ReadFull(f, head)
	switch {
	case size == 0:
		return 0, false
	case head[0] == record.FASTQ.Format().Mark:
		return info.Size(), false
	case len(inflate.FindMembers(head[:size], 1<<20, nil).Members) > 0:
		return bgzfWeight * info.Size(), true
	}
	return 0, false
}

// execCUDAProgram replaces the process by the orcomgo-cuda beside it, with the same arguments, if
// that can be loaded. It returns only on failure.
func execCUDAProgram(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if resolved, err := filepath.EvalSymlinks(self); err == nil {
		self = resolved
	}
	program := filepath.Join(filepath.Dir(self), cudaProgram)
	if err := loads(ctx, program); err != nil {
		return err
	}
	return execProgram(program, os.Environ())
}

// loads returns nil if the program can be loaded, with the libraries that it needs, and is of the same source as this one, else why not.
func loads(ctx context.Context, program string) error {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "version", "--json")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		var got programInfo
		want := programVersion()
		want.CUDA = true
		if json.Unmarshal(out, &got) != nil || got != want {
			return fmt.Errorf("%s is not of the same source (its commit is %s, expected %s)", program, cmp.Or(got.Commit, "unknown"), want.Commit)
		}
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("this build has no GPU support, and there is no %s beside it", cudaProgram)
	case ctx.Err() != nil:
		return fmt.Errorf("%s could not be loaded within %s", cudaProgram, loadTimeout)
	case errors.As(err, &exit):
		first, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte("\n"))
		return fmt.Errorf("no usable GPU: %s", first)
	}
	return err
}
