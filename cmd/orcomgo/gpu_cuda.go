//go:build cuda

package main

import (
	"context"
	"fmt"

	"orcomgo/binning"
	"orcomgo/cudakern"

	"github.com/spf13/pflag"
)

// gpuStreams is how many blocks are in flight without --streams. More are not faster
// (docs/PERFORMANCE.md).
const gpuStreams = 4

func init() {
	gpu = &gpuBuild{
		probe: describeGPU,
		assigner: func(c *binning.Config) {
			c.NewAssigner = binning.NewCUDA
			if c.Streams == 0 {
				c.Streams = gpuStreams
			}
		},
	}
	commands = append(commands, &command{
		name:  probeCommand,
		about: "print the name of the GPU",
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
