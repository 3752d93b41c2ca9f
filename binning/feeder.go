package binning

import "context"

// window is how many inputs, or pairs of them, supply blocks in turn. The order of blocks in the
// archive depends on it, so it must not depend on threads or streams.
const window = 8

// feeder chooses the input that supplies the next block. Inputs take turns, so that they are
// read and inflated concurrently. Of a pair it is the one of which fewer records have been
// read, so that few names wait for their mates.
type feeder struct {
	units    [][]*input // single inputs and pairs, in order
	nextUnit int
}

func newFeeder(inputs []*input) *feeder {
	f := new(feeder)
	for i, in := range inputs {
		switch m := in.spec.Mate; {
		case m < 0:
			f.units = append(f.units, []*input{in})
		case m > i:
			pair := []*input{in, inputs[m]}
			if !in.spec.First {
				pair[0], pair[1] = pair[1], pair[0]
			}
			f.units = append(f.units, pair)
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
