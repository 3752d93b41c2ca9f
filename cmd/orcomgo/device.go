package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"orcomgo/binning"
	"orcomgo/binning/inflate"
	"orcomgo/bins"
	"orcomgo/bins/record"
)

// Two programs are built from this source. orcomgo runs anywhere; orcomgo-cuda, built with the
// tag cuda, can't start without the CUDA driver. So orcomgo finds out whether orcomgo-cuda can be
// loaded, which takes a few milliseconds, and if so replaces itself by it. Where the driver turns
// out not to work, which takes much longer to find out, orcomgo-cuda replaces itself by orcomgo
// again (init_cuda.c).
const (
	cudaProgram = "orcomgo-cuda"
	loadTimeout = 20 * time.Second
	// Variables of the environment that one of the two programs sets for the other.
	loadsVariable      = "ORCOMGO_CUDA_LOADS"  // if set, orcomgo-cuda exits as soon as it is loaded
	cpuProgramVariable = "ORCOMGO_CPU_PROGRAM" // the path of orcomgo
	noGPUVariable      = "ORCOMGO_NO_GPU"      // why no GPU can be used
	// minGPUBytes is from how many bytes of FASTQ on, for each thread that the CPU could use,
	// --device auto chooses a GPU, whose start takes time. A byte of BGZF counts as bgzfWeight bytes,
	// since the GPU inflates it, too: docs/PERFORMANCE.md, "Where --device auto switches", has the
	// measurement.
	minGPUBytes = 200_000_000
	bgzfWeight  = 6
	// minGPUBases is from how many bases on, for each thread, pack --device auto chooses a GPU.
	minGPUBases = 60_000_000
	// minGPUMemory is the least --memory with which auto chooses a GPU. Its driver and the pinned
	// buffers take a few hundred megabytes of the host, whatever the size of the blocks.
	minGPUMemory = 1 << 30
)

// gpuBuild is what a build with the tag cuda adds.
type gpuBuild struct {
	// probe returns a line that names the device, or why there is none.
	probe func() (string, error)
	// assigner is for binning.Config.NewAssigner.
	assigner func(c *binning.Config)
}

// gpu is set by an init function of builds with the tag cuda.
var gpu *gpuBuild

// useDevice decides where binning runs: it sets c.NewAssigner for a GPU, or replaces the process
// by orcomgo-cuda, or leaves c unchanged for the CPU.
func useDevice(ctx context.Context, device string, c *binning.Config) error {
	use, err := useGPU(ctx, device, func() bool { return largeEnoughForGPU(c.Inputs, c.Threads) })
	if use {
		gpu.assigner(c)
	}
	return err
}

// useGPU decides whether this process uses a GPU: with the device auto if large returns true and there
// is a usable one. It replaces the process by orcomgo-cuda if that is needed.
func useGPU(ctx context.Context, device string, large func() bool) (use bool, err error) {
	if device == "cpu" || device == "auto" && !large() {
		return false, nil
	}
	if gpu != nil {
		if _, err = gpu.probe(); err == nil {
			return true, nil
		}
	} else if err = execCUDAProgram(ctx); err == nil {
		return false, errors.New(cudaProgram + " was not started")
	}
	if device == "gpu" {
		return false, fmt.Errorf("--device gpu: %w", err)
	}
	return false, nil
}

// useGPU is the function useGPU, but auto is the CPU where little memory is allowed.
func (r *resources) useGPU(ctx context.Context, device string, large func() bool) (use bool, err error) {
	return useGPU(ctx, device, func() bool { return r.limit() >= minGPUMemory && large() })
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
			total += gpuBytes(in.Path)
		}
	}
	return total >= minGPUBytes*int64(threads)
}

// gpuBytes returns how many bytes of FASTQ a file counts as: those of a regular file that begins as
// FASTQ does, and bgzfWeight times those of one that begins as BGZF does.
func gpuBytes(path string) int64 {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	head := make([]byte, 64<<10)
	n, _ := io.ReadFull(f, head)
	switch {
	case n == 0:
		return 0
	case head[0] == record.FASTQ.Format().Mark:
		return info.Size()
	case len(inflate.FindMembers(head[:n], 1<<20, nil).Members) > 0:
		return bgzfWeight * info.Size()
	}
	return 0
}

// execCUDAProgram replaces the process by the orcomgo-cuda beside it, with the same arguments, if
// that can be loaded. It returns only on failure.
func execCUDAProgram(ctx context.Context) error {
	if why := os.Getenv(noGPUVariable); why != "" {
		return fmt.Errorf("no usable GPU: %s", why)
	}
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
	return execProgram(program, append(os.Environ(), cpuProgramVariable+"="+self))
}

// loads returns nil if the program can be loaded, with the libraries that it needs, else why not.
func loads(ctx context.Context, program string) error {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(os.Environ(), loadsVariable+"=1")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
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
