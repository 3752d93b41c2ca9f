package quals

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// A Device is a GPU that codes columns which begin with a Primer, many side by side, with the bytes of Encode and Decode: those whose Input
// has it. It is opened while other work is done, and not used any more after its first error. A nil Device codes nothing.
type Device struct {
	wait    func(f func(idle <-chan struct{}))
	note    func(line string)
	columns [2]chan *deviceColumn // to decode, and to encode
	usable  atomic.Bool
	ended   chan struct{} // closed when it is not used any more
	end     func()
	noted   sync.Once
	workers sync.WaitGroup
}

// gpu is what codes columns.
type gpu interface {
	// coder returns what codes columns. Several may be used at the same time.
	coder() (gpuCoder, error)
	close() error
}

// gpuCoder is used by one goroutine at a time.
type gpuCoder interface {
	// code codes the first n columns, as many as there is memory for. All are to be encoded, or all to be decoded. As soon as it does not
	// read their memory any more, it calls copied, unless there was an error.
	code(columns []*deviceColumn, copied func(n int)) (n int, err error)
	close() error
}

// deviceColumn is a column that a device codes.
type deviceColumn struct {
	in     *Input
	encode bool
	n      int    // qualities
	quals  []byte // to be encoded, or set when it is decoded
	coded  []byte // without the strategy
	right  bool   // it has been coded; else the CPU codes it, or says what is wrong with it
	copied chan struct{}
	done   chan struct{}
}

const (
	// sideBySide is how many coders a device has for each direction: columns do not wait for all that came before them.
	sideBySide = 4
	// mostInBatch is how many columns a coder codes at once, so that others have some, too.
	mostInBatch = 256
)

// OpenDevice begins to open the device. It returns nil if the program has none. Goroutines wait for columns within wait, until idle is
// closed: then they code them. A device takes twenty times as long for a column as an idle core, and about as long for a thousand. note,
// which may be nil, is told why the device can't be used. Close must be called.
func OpenDevice(wait func(f func(idle <-chan struct{})), note func(line string)) *Device {
	if openGPU == nil {
		return nil
	}
	if note == nil {
		note = func(string) {}
	}
	d := &Device{wait: wait, note: note, columns: [2]chan *deviceColumn{make(chan *deviceColumn), make(chan *deviceColumn)},
		ended: make(chan struct{})}
	d.end = sync.OnceFunc(func() { close(d.ended) })
	d.workers.Go(func() {
		g, err := openGPU()
		if err != nil {
			d.giveUp(err)
			return
		}
		d.usable.Store(true)
		var coders sync.WaitGroup
		for i := range 2 * sideBySide {
			coders.Go(func() { d.work(g, d.columns[i%2]) })
		}
		coders.Wait()
		if err := g.close(); err != nil {
			d.giveUp(err)
		}
	})
	return d
}

// Close waits until what the device codes is coded, and frees it.
func (d *Device) Close() {
	if d != nil {
		d.usable.Store(false)
		d.end()
		d.workers.Wait()
	}
}

// giveUp has the device not used any more.
func (d *Device) giveUp(err error) {
	d.usable.Store(false)
	d.end()
	d.noted.Do(func() { d.note(fmt.Sprintf("the GPU is not used any more, the CPU codes qualities: %v", err)) })
}

// work codes columns, those that wait in one batch, until the device is not used any more.
func (d *Device) work(g gpu, columns <-chan *deviceColumn) {
	c, err := g.coder()
	if err != nil {
		d.giveUp(err)
		return
	}
	var batch []*deviceColumn
	for {
		if len(batch) == 0 {
			select {
			case column := <-columns:
				batch = append(batch, column)
			case <-d.ended:
				if err := c.close(); err != nil {
					d.giveUp(err)
				}
				return
			}
		}
		for more := true; more && len(batch) < mostInBatch; {
			select {
			case column := <-columns:
				batch = append(batch, column)
			default:
				more = false
			}
		}
		n, err := c.code(batch, func(n int) {
			for _, column := range batch[:n] {
				close(column.copied)
			}
		})
		if err != nil {
			d.giveUp(err)
		}
		if err != nil || n == 0 { // the device is too small for the first one
			n = len(batch)
		}
		for _, column := range batch[:n] {
			close(column.done)
		}
		batch = append(batch[:0], batch[n:]...)
	}
}

// code has a column coded, and reports whether it was.
func (d *Device) code(c *deviceColumn) (coded bool) {
	if d == nil || !d.usable.Load() {
		return false
	}
	c.copied, c.done = make(chan struct{}), make(chan struct{})
	direction := 0
	if c.encode {
		direction = 1
	}
	d.wait(func(idle <-chan struct{}) {
		select {
		case <-idle:
			return
		default:
		}
		select {
		case d.columns[direction] <- c:
		case <-idle:
			return
		case <-d.ended:
			return
		}
		select { // before that, its memory must not be used for anything else
		case <-c.copied:
		case <-c.done:
		}
		select {
		case <-c.done:
			coded = c.right
		case <-idle:
		}
	})
	if coded {
		c.in.tick(c.n)
	}
	return coded
}

// encode returns the stream of a column that is coded with its primer, or nil if the device does not code it.
func (d *Device) encode(in *Input) []byte {
	c := &deviceColumn{in: in, encode: true, n: len(in.Quals), quals: in.Quals}
	if !d.code(c) {
		return nil
	}
	return append([]byte{strategyPrimed}, c.coded...)
}

// decode returns the column of a stream, without its strategy, that begins with the primer, or nil if the device does not decode it. All
// records must be wanted.
func (d *Device) decode(data []byte, in *Input, n int) []byte {
	if d == nil || in.decoded() < in.Records || len(data)%2 > 0 {
		return nil
	}
	c := &deviceColumn{in: in, coded: data, n: n}
	if !d.code(c) {
		return nil
	}
	return c.quals
}
