package binning

import (
	"sync/atomic"
	"time"
)

// Stages tells how long each stage of a run was busy, over all blocks. Stages of several
// blocks overlap; the run takes at least as long as the busiest of those that one block
// does at a time: Read (of one input) and Write.
type Stages struct {
	Start  time.Duration // making the assigner and opening the inputs
	Read   time.Duration // reading, inflating and cutting
	Hash   time.Duration // checksums of the text
	Assign time.Duration // from text to columns
	Encode time.Duration
	Write  time.Duration
	Commit time.Duration
}

// clock adds up the time of a stage from any goroutine.
type clock struct{ ns atomic.Int64 }

// start begins; the function it returns ends.
func (c *clock) start() (stop func()) {
	begin := time.Now()
	return func() { c.ns.Add(int64(time.Since(begin))) }
}

func (c *clock) total() time.Duration { return time.Duration(c.ns.Load()) }

// clocks are those of a run.
type clocks struct{ start, read, hash, assign, encode, write, commit clock }

func (c *clocks) stages() Stages {
	return Stages{c.start.total(), c.read.total(), c.hash.total(), c.assign.total(), c.encode.total(), c.write.total(), c.commit.total()}
}
