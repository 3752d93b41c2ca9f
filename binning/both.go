package binning

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"

	"orcomgo/bins"
)

// Device is a device on which blocks can be binned, such as the GPUs of the machine.
type Device struct {
	// Probe finds out whether there is one that can be used. It may start a driver, and returns why there is none.
	Probe func() error
	// Start returns the device's assigner. It must not change the BlockSize of its argument; if there is too little memory for such
	// blocks its error wraps errDeviceMemory.
	Start func(*Resources) (Assigner, error)
	// Settle, if not nil, is called when the run ends before Start has returned. It waits for what later runs will find done.
	Settle func()
	// Required: a run fails if Probe or Start does. Otherwise it goes on without the device; that Start failed is noted.
	Required bool
}

// errDeviceMemory means that a device has too little memory for blocks of the run's size.
var errDeviceMemory = errors.New("too little free memory on the device")

// DeviceError is a failure of a device in the middle of a run. The CPU can bin the same inputs.
type DeviceError struct{ Err error }

func (e *DeviceError) Error() string { return e.Err.Error() }

func (e *DeviceError) Unwrap() error { return e.Err }

// NewBoth returns an assigner that starts the device, which takes some tenths of a second, and bins blocks on the CPU until it has
// started. From then on blocks are binned on the device, but for those that are not assembled there (FASTA, wrapped FASTQ).
//
// The CPU does not go on beside the device: reading text and writing bins bound the rate then, and the cores are needed for these.
func NewBoth(r *Resources, d Device) Assigner {
	blocks := blocksAtStart
	if r.Keep.Names || r.Keep.Quals {
		blocks = largeBlocksAtStart
	}
	b := &both{cpu: NewCPU(*r).(*cpu), device: d, note: r.Note, probed: make(chan struct{}), started: make(chan struct{}),
		admitted: make(chan struct{}, blocks), places: make(chan struct{}, mostHostTexts), onHost: map[*bins.Block]bool{}}
	for range mostHostTexts - hostTextsAtStart {
		b.places <- struct{}{}
	}
	fixed := *r
	fixed.BlocksFixed = true // blocks of that size are binned already
	go b.start(fixed)
	return b
}

const (
	// How many blocks may be in flight while the device starts, and how many of their texts in memory of the host. A block takes a third
	// of its text besides, or two thirds if names or qualities are kept, and soon more memory is pinned for the device. With 256 MB
	// blocks all that should stay within 1 GB. Further blocks would save no time: each step of a block is done by all threads, but for
	// writing it.
	blocksAtStart      = 2
	largeBlocksAtStart = 1
	hostTextsAtStart   = 1
	mostHostTexts      = 2 // once the device has failed to start: as many as NewCPU gets by default
)

// both is an Assigner.
type both struct {
	cpu    *cpu
	device Device
	note   func(string)
	probed chan struct{} // closed when probeErr is set
	// What Probe returned.
	probeErr error
	started  chan struct{} // closed when assigner and err are set
	assigner Assigner      // of the device; nil if it failed to start
	err      error
	admitted chan struct{} // has an element for each block in flight, while the device starts
	places   chan struct{} // has an element for each text in memory of the host

	mu    sync.Mutex
	ended bool // the device is not needed any more
	// freedTexts and freedColumns are set when freeHost has done so.
	freedTexts, freedColumns bool
	hostTexts                int                  // that are in use
	onHost                   map[*bins.Block]bool // blocks that were binned on the CPU and have not been written
	columns                  []bins.Block         // memory for such blocks
}

// start starts the device, unless the run has ended before.
func (b *both) start(r Resources) {
	b.probeErr = b.device.Probe()
	close(b.probed)
	var assigner Assigner
	err := b.probeErr
	if err == nil && !b.hasEnded() {
		if assigner, err = b.device.Start(&r); err != nil && b.failure(err) == nil && !b.hasEnded() {
			b.note("blocks are binned on the CPU: " + err.Error())
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended && assigner != nil {
		assigner.Close() // nobody else does
		assigner = nil
	}
	if assigner == nil {
		for range mostHostTexts - hostTextsAtStart {
			<-b.places
		}
	}
	b.assigner, b.err = assigner, err
	close(b.started)
}

func (b *both) hasEnded() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ended
}

// hasStarted reports whether the outcome of the start is known.
func (b *both) hasStarted() bool {
	select {
	case <-b.started:
		return true
	default:
		return false
	}
}

// failure returns err, or nil if the run goes on without the device.
func (b *both) failure(err error) error {
	if !b.device.Required || errors.Is(err, errDeviceMemory) {
		return nil
	}
	return err
}

func (b *both) Admit(ctx context.Context) error {
	if b.hasStarted() {
		return nil
	}
	select {
	case <-b.started:
		return nil
	case b.admitted <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *both) Text(ctx context.Context, n int) (TextBuffer, error) {
	started := b.started
	for {
		if started != nil && b.hasStarted() {
			if err := b.failure(b.err); err != nil {
				return nil, err
			}
			if b.assigner != nil {
				return b.assigner.Text(ctx, n)
			}
			started = nil
		}
		select {
		case <-started:
		case b.places <- struct{}{}:
			b.mu.Lock()
			b.hostTexts++
			b.mu.Unlock()
			return &hostPlace{b.cpu.texts.get(n), b}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// hostPlace is a TextBuffer in memory of the host, which has a place there.
type hostPlace struct {
	*hostText
	both *both
}

func (t *hostPlace) Free() {
	t.hostText.Free()
	t.both.mu.Lock()
	t.both.hostTexts--
	t.both.freeHost()
	t.both.mu.Unlock()
	<-t.both.places
}

func (b *both) Assign(ctx context.Context, t *Text, block *bins.Block) error {
	if t.Buffer != nil {
		return b.assigner.Assign(ctx, t, block)
	}
	b.mu.Lock()
	if !b.onHost[block] { // its slices may be the device's
		b.onHost[block] = true
		*block = bins.Block{}
		if n := len(b.columns); n > 0 {
			*block, b.columns = b.columns[n-1], b.columns[:n-1]
		}
	}
	b.mu.Unlock()
	return b.cpu.Assign(ctx, t, block)
}

// Written implements Assigner. Memory of blocks that were binned on the CPU is used for the next one, whichever stream that is in.
func (b *both) Written(block *bins.Block) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.onHost[block] {
		delete(b.onHost, block)
		b.columns = append(b.columns, *block)
		*block = bins.Block{}
	}
	b.freeHost()
	select {
	case <-b.admitted:
	default: // the device had started already
	}
}

// freeHost frees what was needed to bin blocks on the CPU, as soon as the device has started and the last of these blocks does not
// need it any more. b.mu is locked.
func (b *both) freeHost() {
	if !b.hasStarted() || b.assigner == nil || b.hostTexts > 0 {
		return
	}
	texts, columns := !b.freedTexts, !b.freedColumns && len(b.onHost) == 0
	if texts {
		b.freedTexts = true
		b.cpu.free()
	}
	if columns {
		b.freedColumns, b.columns = true, nil
	}
	if texts || columns {
		go debug.FreeOSMemory()
	}
}

func (b *both) Finish() error {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	if b.device.Required {
		<-b.probed
		if b.probeErr != nil {
			return b.probeErr
		}
	}
	if !b.hasStarted() {
		if b.device.Settle != nil {
			b.device.Settle()
		}
		return nil
	}
	if b.assigner != nil {
		return b.assigner.Finish()
	}
	return b.failure(b.err)
}

func (b *both) DeviceBlocks() int {
	if b.hasStarted() && b.assigner != nil {
		return b.assigner.DeviceBlocks()
	}
	return 0
}

func (b *both) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	err := b.cpu.Close()
	if b.hasStarted() && b.assigner != nil {
		err = errors.Join(err, b.assigner.Close())
	}
	return err
}
