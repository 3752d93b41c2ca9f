package seqs

import rc "orcomgo/compress/rangecoder"

func encodeTo(buf []byte) *rc.Coder   { return rc.EncodeTo(buf) }
func decodeFrom(src []byte) *rc.Coder { return rc.DecodeFrom(src) }

// Limits of the counts of probabilities: how many updates they remember.
const (
	longMemory  = rc.MaxCount // for statistics that hardly change
	shortMemory = 255
)
