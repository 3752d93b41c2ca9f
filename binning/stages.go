package binning

import (
	"sync/atomic"
	"time"
)

// Stages is how long each stage of a run was busy, summed over all blocks. Stages of several
// blocks overlap. The run takes at least as long as the longer of the two stages that one block
// at a time is in: Read (of one input) and Write.
type Stages struct {
	Start  time.Duration // making the assigner and opening the inputs
	Read   time.Duration // reading, inflating and cutting
	Assign time.Duration // from text to columns, and its checksum
	Encode time.Duration
	Write  time.Duration
	Commit time.Duration
}

// clock sums up the time of a stage over all goroutines.
type clock struct{ ns atomic.Int64 }

// start begins to measure; the function that it returns ends that.
func (c *clock) start() (stop func()) {
	begin := time.Now()
	return func() { c.ns.Add(int64(time.Since(begin))) }
}

func (c *clock) total() time.Duration { return time.Duration(c.ns.Load()) }

// clocks are those of a run.
type clocks struct{ start, read, assign, encode, write, commit clock }

func (c *clocks) stages() Stages {
	return Stages{c.start.total(), c.read.total(), c.assign.total(), c.encode.total(), c.write.total(), c.commit.total()}
}
