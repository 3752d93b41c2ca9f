package seqs

import rc "orcomgo/compress/rangecoder"

// adaptation is how the probabilities of sections of positions, slices and lengths learn: docs/FORMAT.md, "Adaptive elements".
var adaptation = rc.NewAdaptation(16, 12)

func encodeTo(buf []byte) *rc.Coder   { return rc.EncodeTo(buf, adaptation) }
func decodeFrom(src []byte) *rc.Coder { return rc.DecodeFrom(src, adaptation) }

// Limits of the counts of probabilities: how many updates they remember.
const (
	longMemory  = rc.MaxCount // for statistics that hardly change
	shortMemory = 255
)
