//go:build unix

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"orcomgo/cmd/simreads/sim"
	"orcomgo/internal/testrun"
)

// The memory that bin takes does not grow with its input.
func TestLongBinMemory(t *testing.T) {
	testrun.OnlyLong(t)
	g := sim.Invent(sim.GenomeConfig{Size: 12_000_000, Repeats: 0.1})
	peak := func(reads uint64) int64 {
		s, err := sim.New(sim.Config{Genome: g, Reads: reads, Quality: sim.Levels8})
		if err != nil {
			t.Fatal(err)
		}
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "out")
		cmd := exec.Command(self)
		cmd.Args = []string{"orcomgo", "bin", "-t", "2", "--block-size", "64MB", "-", out}
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if err := s.Write(context.Background(), in, nil, runtime.NumCPU(), nil); err != nil {
			t.Error(err)
		}
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		os.RemoveAll(out)
		most := int64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
		if runtime.GOOS == "linux" {
			most <<= 10
		}
		t.Logf("%d reads: peak memory %s", reads, bytesText(uint64(most)))
		return most
	}
	small, large := peak(1_200_000), peak(12_000_000) // 0.3 and 3 GB
	// both are many blocks, of which two are in flight
	if large > 1<<30 || large > small+small/5 {
		t.Errorf("peak memory %s for ten times the input of %s", bytesText(uint64(large)), bytesText(uint64(small)))
	}
}
