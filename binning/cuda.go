//go:build cuda

package binning

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/cudakern"
	"orcomgo/digest"
)

// minGPUBlock is the least block size, in bytes, to which NewCUDA goes down where memory is short.
const minGPUBlock = 1 << 20

// NewCUDA returns the assigner that works on the first GPU: the text of a block is
// assembled there, on one CUDA stream for each of the run's streams, and its columns are copied
// back. Where the GPU has too little memory it lowers r.Streams, then r.BlockSize unless r.BlocksFixed
// is set, and calls r.Note. Blocks that the kernels don't support (FASTA, wrapped FASTQ, malformed records) are
// binned on the CPU.
func NewCUDA(r *Resources) (Assigner, error) {
	c := &cuda{cpu: NewCPU(*r), note: r.Note, outputs: map[*bins.Block]*cudaColumns{}}
	err := c.open(r)
	if err == nil {
		err = c.makeLanes(r)
	}
	if err != nil {
		c.closeDevice()
		return nil, err
	}
	return c, nil
}

// How many pinned pieces there are, through which text goes to the device, and how many bytes a piece has. A piece is in use until it
// has been copied to the device. A few large copies are faster than many small ones, since each call of the driver takes time, and
// goroutines wait for each other there. Members of BGZF are copied from regions, and the text of other gzip comes more slowly, one
// fillPiece at a time.
const (
	ringPieces    = 16
	ringPieceSize = 4 * fillPiece // fillPiece if all inputs are gzip
)

// cuda is an Assigner.
type cuda struct {
	device *cudakern.Device
	ring   *cudakern.Ring
	// pieceSize is how many bytes a piece of the ring has.
	pieceSize int

	cpu   Assigner
	texts hostTexts // for blocks that are binned on the CPU
	note  func(string)
	lanes chan *cudakern.Lane
	// Regions that no input uses: pinned ones, and those that were not needed so far. There are as many as lanes, since an
	// input that is read has a lane.
	regions, newRegions chan *regions

	mu         sync.Mutex
	outputs    map[*bins.Block]*cudaColumns
	blocks     int       // that were binned on the device
	noteMemory sync.Once // calls note at the first block that does not fit
	stopping   sync.WaitGroup
	stopped    error // of Finish
}

// cudaColumns is the memory for a block's columns.
type cudaColumns struct {
	out    cudakern.Output
	pinned bool // the block's slices point into it
}

// open opens the GPU, and makes memory for a ring of pieces meanwhile.
func (c *cuda) open(r *Resources) (err error) {
	c.pieceSize = fillPiece
	if !r.AllGzip {
		c.pieceSize = ringPieceSize
	}
	var memory *cudakern.HostMemory
	var opened errgroup.Group
	opened.Go(func() (err error) {
		memory, err = cudakern.NewHostMemory(ringPieces * c.pieceSize)
		return err
	})
	opened.Go(func() (err error) {
		c.device, err = cudakern.Open(0)
		return err
	})
	if err := opened.Wait(); err != nil {
		if memory != nil {
			memory.Free()
		}
		return err
	}
	c.ring, err = cudakern.NewRing(c.device, memory, c.pieceSize)
	return err
}

func (c *cuda) Admit(context.Context) error { return nil }

func (c *cuda) Written(*bins.Block) {}

// closeDevice ends all work on the device, unless it was stopped, and frees memory.
func (c *cuda) closeDevice() error {
	if c.device == nil {
		return nil
	}
	return c.device.Close()
}

// makeLanes makes a lane for each stream, or as many as there is memory for.
func (c *cuda) makeLanes(r *Resources) error {
	name, streams, block := c.device.Description().Name, r.Streams, r.BlockSize
	var lanes []*cudakern.Lane
	for len(lanes) < streams {
		l, err := c.device.NewLane(int(min(block+memberSlack, cudakern.MaxText)), &bin8)
		if errors.Is(err, cudakern.ErrMemory) {
			if len(lanes) > 0 {
				streams = len(lanes)
				break
			}
			if r.BlocksFixed {
				return fmt.Errorf("%s: %w for blocks of %d MB (%w)", name, errDeviceMemory, block/1e6, err)
			}
			if block/2 < minGPUBlock {
				return fmt.Errorf("%s: %w", name, err)
			}
			block /= 2
			continue
		}
		if err != nil {
			return err
		}
		lanes = append(lanes, l)
	}
	if streams != r.Streams || block != r.BlockSize {
		r.Note(fmt.Sprintf("%s has too little free memory for %d streams of %d MB blocks: using %d of %d MB",
			name, r.Streams, r.BlockSize/1e6, streams, block/1e6))
	}
	r.Streams, r.BlockSize = streams, block
	c.lanes = make(chan *cudakern.Lane, len(lanes))
	c.regions, c.newRegions = make(chan *regions, len(lanes)), make(chan *regions, len(lanes))
	for _, l := range lanes {
		c.lanes <- l
		c.newRegions <- new(regions)
	}
	return nil
}

// notePoor says that there is too little memory for a block, once.
func (c *cuda) notePoor(err error) {
	c.noteMemory.Do(func() {
		c.note(fmt.Sprintf("a block did not fit on the GPU and was binned on the CPU (%v)", err))
	})
}

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
	text, onDevice := t.Buffer.(*deviceText)
	end, tail := t.Len, []byte(nil)
	if onDevice {
		var err error
		if t.Last {
			w := &textWindow{text: text, n: t.Len}
			if end = w.blankTail(); w.err != nil {
				return w.err
			}
			if tail, err = text.Read(end, t.Len); err != nil {
				return err
			}
		}
		taken, err := c.onDevice(t, text, end, tail, b, cols)
		if taken || err != nil {
			return err
		}
	}
	if cols.pinned {
		cols.pinned = false
		b.Lengths.Each, b.Order, b.Place, b.Packed, b.Names, b.Quals = nil, nil, nil, nil, nil, nil
	}
	if !onDevice {
		return c.cpu.Assign(ctx, t, b)
	}
	host := c.texts.get(t.Len)
	defer host.Free()
	near := *t
	near.Data, near.Buffer = host.Host(t.Len), nil
	if err := text.lane.ReadText(near.Data, 0); err != nil {
		return deviceError(err)
	}
	copy(near.Data[end:], tail) // the kernels overwrite what follows the records
	return c.cpu.Assign(ctx, &near, b)
}

// onDevice bins the block on the GPU. It returns false if the block has to be binned on the CPU. The
// records are the first end bytes of the text; tail is the rest.
func (c *cuda) onDevice(t *Text, text *deviceText, end int, tail []byte, b *bins.Block, cols *cudaColumns) (bool, error) {
	if end == 0 {
		return false, nil
	}
	want := cudakern.Columns{Names: t.Keep.Names, Quals: t.Keep.Quals, Map: t.Keep.Bin8, Coded: !t.Keep.Uncoded, RawNames: t.Keep.PlainNames}
	r, err := text.lane.Bin(end, t.Len, want, &cols.out)
	if errors.Is(err, cudakern.ErrMemory) {
		c.notePoor(err)
		return false, nil
	}
	if err != nil {
		return false, deviceError(fmt.Errorf("%s, block that begins with record %d: %w", t.File, t.FirstRecord+1, err))
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
	b.CodedNames, b.CodedQuals = (*bins.Coded)(r.CodedNames), (*bins.Coded)(r.CodedQuals)
	b.Forms = record.Forms{}
	if t.Keep.Forms {
		b.Forms = formsOfResult(r, string(tail))
	}
	b.TextHash = digest.TextHashOfSums(r.TextSums)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blocks++
	return true, nil
}

// deviceError returns an error of the device as a DeviceError, others as they are.
func deviceError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &DeviceError{err}
}

func (c *cuda) DeviceBlocks() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.blocks
}

// Finish implements finisher: it frees the device while the last blocks are written, since that takes 0.1 s.
func (c *cuda) Finish() error {
	c.stopping.Go(func() { c.stopped = c.device.Stop() })
	return nil
}

func (c *cuda) Close() error {
	c.stopping.Wait()
	return errors.Join(c.stopped, c.cpu.Close(), c.closeDevice())
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
	return formsOfCodes(nil, codes, &counts, tail, r.NoNewline, nil) // no record has text of another kind after '+'
}
