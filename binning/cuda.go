//go:build cuda

package binning

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"orcomgo/bins/record"

	"orcomgo/bins"
	"orcomgo/cudakern"
)

// minGPUBlock is the least block size, in bytes, to which NewCUDA goes down where memory is short.
const minGPUBlock = 1 << 20

// NewCUDA returns the assigner that works on the GPU: a block is copied to it as text and back
// as columns, on one CUDA stream for each of the run's streams. Where the device has too little
// memory it lowers r.Streams, then r.BlockSize, and calls r.Note. Blocks that the kernels don't
// support (FASTA, wrapped FASTQ, malformed records) are binned on the CPU.
func NewCUDA(r *Resources) (Assigner, error) {
	dev, err := cudakern.Open()
	if err != nil {
		return nil, err
	}
	c := &cuda{dev: dev, cpu: NewCPU(*r), note: r.Note, outputs: map[*bins.Block]*cudaColumns{}}
	if err := c.makeLanes(r); err != nil {
		dev.Close()
		return nil, err
	}
	return c, nil
}

// cuda is an Assigner.
type cuda struct {
	dev   *cudakern.Device
	cpu   Assigner
	note  func(string)
	lanes chan *cudakern.Lane

	mu          sync.Mutex
	freeBuffers [][]byte // pinned text buffers
	outputs     map[*bins.Block]*cudaColumns
	stats       CUDAStats
	noteMemory  sync.Once // calls note at the first block that does not fit
}

// cudaColumns is the memory for a block's columns.
type cudaColumns struct {
	out    cudakern.Output
	pinned bool // the block's slices point into it
}

// CUDAStats is what the GPU did in a run. The times of several streams overlap.
type CUDAStats struct {
	Device                         cudakern.Description
	Blocks, CPUBlocks              int
	UploadMS, KernelMS, DownloadMS float64 // by the streams' own clocks
	UploadBytes, DownloadBytes     uint64
	PinMS                          float64
	PinBytes                       uint64
}

// makeLanes makes a lane for each stream, or as many as there is memory for.
func (c *cuda) makeLanes(r *Resources) error {
	streams, block := r.Streams, r.BlockSize
	var lanes []*cudakern.Lane
	for {
		for len(lanes) < streams {
			l, err := c.dev.NewLane(int(min(block, cudakern.MaxText)), &bin8)
			if errors.Is(err, cudakern.ErrMemory) {
				if len(lanes) > 0 {
					streams = len(lanes)
					break
				}
				if block/2 < minGPUBlock {
					return fmt.Errorf("%s: %w", c.dev.Description().Name, err)
				}
				block /= 2
				continue
			}
			if err != nil {
				return err
			}
			lanes = append(lanes, l)
		}
		break
	}
	if streams != r.Streams || block != r.BlockSize {
		r.Note(fmt.Sprintf("%s has too little free memory for %d streams of %d MB blocks: using %d of %d MB",
			c.dev.Description().Name, r.Streams, r.BlockSize/1e6, streams, block/1e6))
	}
	r.Streams, r.BlockSize = streams, block
	c.lanes = make(chan *cudakern.Lane, len(lanes))
	for _, l := range lanes {
		c.lanes <- l
	}
	return nil
}

// Buffer returns pinned memory.
func (c *cuda) Buffer(n int) ([]byte, error) {
	c.mu.Lock()
	best := -1
	for i, b := range c.freeBuffers {
		if cap(b) >= n && (best < 0 || cap(b) < cap(c.freeBuffers[best])) {
			best = i
		}
	}
	var small []byte
	switch {
	case best >= 0:
		b := c.freeBuffers[best]
		c.freeBuffers = append(c.freeBuffers[:best], c.freeBuffers[best+1:]...)
		c.mu.Unlock()
		return b[:0], nil
	case len(c.freeBuffers) > 0:
		small = c.freeBuffers[len(c.freeBuffers)-1]
		c.freeBuffers = c.freeBuffers[:len(c.freeBuffers)-1]
	}
	c.mu.Unlock()
	if err := c.dev.Unpin(small); err != nil {
		return nil, err
	}
	b, err := c.dev.Pin(n)
	return b[:0], err
}

func (c *cuda) Free(buf []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.freeBuffers = append(c.freeBuffers, buf)
}

// Assign implements Assigner.
func (c *cuda) Assign(ctx context.Context, t *Text, b *bins.Block) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	cols := c.outputs[b]
	if cols == nil {
		cols = new(cudaColumns)
		c.outputs[b] = cols
	}
	c.mu.Unlock()
	if !t.Canonical && t.Kind == record.FASTQ && len(t.Data) > 0 && c.dev.Pinned(t.Data) {
		taken, err := c.onDevice(ctx, t, b, cols)
		if taken || err != nil {
			return err
		}
	}
	if cols.pinned {
		cols.pinned = false
		b.Lengths.Each, b.Order, b.Place, b.Packed, b.Names, b.Quals = nil, nil, nil, nil, nil, nil
	}
	c.mu.Lock()
	c.stats.CPUBlocks++
	c.mu.Unlock()
	return c.cpu.Assign(ctx, t, b)
}

// onDevice bins the block on the GPU, and reports whether the GPU supports it.
func (c *cuda) onDevice(ctx context.Context, t *Text, b *bins.Block, cols *cudaColumns) (bool, error) {
	end := len(t.Data)
	if t.Last {
		end = blankTail(t.Data)
	}
	if end == 0 {
		return false, nil
	}
	var l *cudakern.Lane
	select {
	case l = <-c.lanes:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	r, err := l.Bin(t.Data[:end], cudakern.Columns{Names: t.Keep.Names, Quals: t.Keep.Quals, Map: t.Keep.Bin8}, &cols.out)
	c.lanes <- l
	if errors.Is(err, cudakern.ErrMemory) {
		c.noteMemory.Do(func() {
			c.note(fmt.Sprintf("a block did not fit on the GPU and was binned on the CPU (%v)", err))
		})
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s, block that begins with record %d: %w", t.File, t.FirstRecord+1, err)
	}
	if r.Unsupported {
		return false, nil
	}
	cols.pinned = true
	b.Records = r.Records
	b.Lengths.Each, b.Lengths.Fixed = r.Lengths, 0
	if r.Lengths == nil {
		b.Lengths.Fixed = r.MinLen
	}
	b.Bins = binsOf(b.Bins[:0], r)
	b.Order, b.Place, b.Packed = r.Order, r.Place, r.Packed
	b.Exceptions.Reset()
	for _, e := range exceptionsOf(r.Exceptions) {
		b.Exceptions.Append(e)
	}
	b.Names, b.Quals = r.Names, r.Quals
	b.Forms = record.Forms{}
	if t.Keep.Forms {
		b.Forms = formsOfResult(r, string(t.Data[end:]))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &c.stats
	s.Blocks++
	s.UploadMS, s.KernelMS, s.DownloadMS = s.UploadMS+r.UploadMS, s.KernelMS+r.KernelMS, s.DownloadMS+r.DownloadMS
	s.UploadBytes, s.DownloadBytes = s.UploadBytes+r.UploadBytes, s.DownloadBytes+r.DownloadBytes
	return true, nil
}

// Stats returns what the GPU has done so far.
func (c *cuda) Stats() CUDAStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Device = c.dev.Description()
	s.PinMS, s.PinBytes = c.dev.PinTime()
	return s
}

// Close implements Assigner. It notes what the start of the GPU took.
func (c *cuda) Close() error {
	if s := c.Stats(); s.Blocks > 0 {
		c.note(fmt.Sprintf("%s: context %.2f s, kernels %.2f s, %d MB of host memory pinned in %.2f s; %d of %d blocks binned there",
			s.Device.Name, s.Device.ContextMS/1e3, s.Device.ModuleMS/1e3, s.PinBytes/1e6, s.PinMS/1e3, s.Blocks, s.Blocks+s.CPUBlocks))
	}
	return errors.Join(c.cpu.Close(), c.dev.Close())
}

// binsOf appends the bins of a result to dst.
func binsOf(dst []bins.Bin, r *cudakern.Result) []bins.Bin {
	for i, s := range r.Bins {
		next := cudakern.BinStart{First: uint32(r.Records), Bases: uint32(r.Bases)}
		if i+1 < len(r.Bins) {
			next = r.Bins[i+1]
		}
		dst = append(dst, bins.Bin{Signature: s.Signature, Reads: next.First - s.First, Bases: uint64(next.Bases - s.Bases)})
	}
	return dst
}

// The device writes exceptions in the memory layout of record.Exception: three numbers, the byte,
// and three bytes of padding.
var (
	_ [16 - unsafe.Sizeof(record.Exception{})]byte
	_ [unsafe.Sizeof(record.Exception{}) - unsafe.Sizeof(cudakern.Exception{})]byte
	_ [12 - unsafe.Offsetof(record.Exception{}.Byte)]byte
)

func exceptionsOf(e []cudakern.Exception) []record.Exception {
	return unsafe.Slice((*record.Exception)(unsafe.Pointer(unsafe.SliceData(e))), len(e))
}

// formsOfResult returns the forms of a block that the device has binned.
func formsOfResult(r *cudakern.Result, tail string) record.Forms {
	var counts [formCodes]int
	codes := r.Codes
	if codes == nil {
		codes = []byte{r.Code}
		counts[r.Code] = r.Records
	}
	for _, c := range r.Codes {
		counts[c]++
	}
	return formsOfCodes(codes, &counts, tail, r.NoNewline, nil) // no record has text of another kind after '+'
}
