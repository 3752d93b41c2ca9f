//go:build cuda

package main

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
	// gpuStreams is how many blocks are in flight without --streams. More are not
	// faster (docs/PERFORMANCE.md).
	gpuStreams = 4
	// How many connections the context has for bin: with few it is made and left sooner, and the kernels of a block of text take little
	// time. Members of BGZF are inflated on many streams, of which some should run side by side (docs/PERFORMANCE.md).
	plainConnections = 1
	bgzfConnections  = 2
)

func init() {
	gpu = &gpuBuild{
		probe: describeGPU,
		assigner: func(c *binning.Config, required bool) {
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
	gpu.binOnly = func(inputs []binning.InputSpec) {
		n := plainConnections
		if slices.ContainsFunc(inputs, func(in binning.InputSpec) bool { _, bgzf := gpuBytes(in.Path); return bgzf }) {
			n = bgzfConnections
		}
		cudakern.SetConnections(n)
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
