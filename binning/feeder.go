package binning

import (
	"context"
	"slices"
)

// window is how many inputs, or pairs of them, supply blocks in turn. The order of blocks in the
// archive depends on it, so it must not depend on threads or streams.
const window = 8

// feeder chooses the input that supplies the next block. Inputs take turns, so that they are
// read and inflated concurrently. Of a pair, or a larger group, it is the one of which fewer records have been
// read, so that few names wait for their mates.
type feeder struct {
	units    [][]*input // single inputs and groups, in order
	nextUnit int
}

func newFeeder(inputs []*input) *feeder {
	f := new(feeder)
	for i, in := range inputs {
		// The place of a unit is that of the first of its inputs.
		members := groupOf(inputs, inputs[in.spec.FirstOf(in.index)])
		if !slices.ContainsFunc(members, func(other *input) bool { return other.index < i }) {
			f.units = append(f.units, members)
		}
	}
	return f
}

// next returns the input whose block is next, nil if there is none. Where the choice depends on
// blocks that are being read, it waits for them.
func (f *feeder) next(ctx context.Context) *input {
	for len(f.units) > 0 {
		f.nextUnit %= min(window, len(f.units))
		if in := laggingInput(ctx, f.units[f.nextUnit]); in != nil {
			f.nextUnit++
			return in
		}
		if ctx.Err() != nil {
			return nil
		}
		f.units = append(f.units[:f.nextUnit], f.units[f.nextUnit+1:]...)
	}
	return nil
}

// laggingInput returns the input of a unit of which the fewest records were read, nil if all ended.
func laggingInput(ctx context.Context, unit []*input) *input {
	var best *input
	for _, in := range unit {
		if in.last != nil {
			select {
			case <-in.last.filled:
			case <-ctx.Done():
				return nil
			}
		}
		if !in.ended && (best == nil || in.records < best.records) {
			best = in
		}
	}
	return best
}
