//go:build cuda

package main

// #cgo LDFLAGS: -lcuda
import "C" // init_cuda.c is linked

import (
	"context"
	"fmt"
	"slices"

	"orcomgo/binning"
	"orcomgo/cudakern"

	"github.com/spf13/pflag"
)

const (
	probeCommand = "probe"
	// gpuStreams is how many blocks are in flight without --streams, on however many GPUs. More are not
	// faster (docs/PERFORMANCE.md).
	gpuStreams = 4
	// plainConnections is how many connections the context has if no input is BGZF. The kernels of a block take little time then, and
	// with few connections the GPU starts and ends sooner (docs/PERFORMANCE.md). Members of BGZF are inflated on many streams.
	plainConnections = 1
)

func init() {
	gpu = &gpuBuild{
		probe: describeGPU,
		assigner: func(c *binning.Config, required bool) {
			if !slices.ContainsFunc(c.Inputs, func(in binning.InputSpec) bool { _, bgzf := gpuBytes(in.Path); return bgzf }) {
				cudakern.SetConnections(plainConnections)
			}
			c.NewAssigner = func(r *binning.Resources) (binning.Assigner, error) {
				return binning.NewBoth(r, binning.Device{
					Required: required,
					Probe: func() error {
						_, err := describeGPU()
						if err != nil && required {
							err = requiredGPU(err)
						}
						return err
					},
					Start:  binning.NewCUDA,
					Settle: cudakern.WaitLoaded,
				}), nil
			}
			if c.Streams == 0 {
				c.Streams = gpuStreams
			}
		},
	}
	commands = append(commands, &command{
		name:  probeCommand,
		group: selfGroup,
		about: "print the name of the GPU",
		bare:  true,
		help: `probe prints the GPU that bin would use. If there is none it fails and says why.
`,
		flags: func(*pflag.FlagSet) action {
			return func(_ context.Context, s *streams, args []string) error {
				if len(args) > 0 {
					return usagef("probe takes no arguments")
				}
				line, err := describeGPU()
				if err == nil {
					fmt.Fprintln(s.out, line)
				}
				return err
			}
		},
	})
}

// describeGPU returns a line that names the GPU.
func describeGPU() (string, error) {
	d, err := cudakern.Probe(0)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, compute capability %d.%d, %d MB, driver for CUDA %d.%d", d.Name, d.Major, d.Minor, d.Memory>>20,
		d.Driver/1000, d.Driver%1000/10), nil
}
