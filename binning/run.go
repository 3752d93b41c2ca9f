// Package binning is stage 1: it reads FASTQ or FASTA, gives each read a signature and
// writes the reads grouped by it, with everything else of the text, as bins.
//
// A run is a pipeline. The feeder chooses the input that supplies the next block. Each input
// reads, inflates and cuts its blocks in a goroutine. A stream for each block in flight assigns
// and encodes it, on threads that all streams share. Blocks are written in the order in which
// the feeder chose them, which depends on nothing but the inputs. So the archive is the same for
// any number of threads and streams.
package binning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync/atomic"

	"orcomgo/bins"
	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/bins/vfs"
	"orcomgo/internal/tasks"
)

// cpuStreams is how many blocks are in flight on the CPU by default. Twice as many are if there are manyThreads and enoughMemory, since
// only a few threads work while a block is sorted, or while the last of its bins are written.
const (
	cpuStreams   = 2
	manyThreads  = 8
	enoughMemory = 8 << 30
)

// DefaultBlockSize is the block size in bytes where Options has none and Memory allows it.
const DefaultBlockSize = 256e6

// InputSpec says where an input is, and which other one has the mates.
type InputSpec struct {
	Path  string // "-" is stdin
	Mate  int    // index of the input with the mates, or -1
	First bool   // with Mate: this one holds the first mates
	// Further says that it holds further mates, such as reads of an index, of the records of input Lead, which holds first mates.
	// Mate is -1 then.
	Further bool
	Lead    int // only with Further
	// Interleaved says that first and second mates alternate. Run sets it of files that begin so, unless Config.Unpaired is set.
	Interleaved bool
	// Sample is the name of the sample that it belongs to, in an archive of several. It is recorded unless Config.Record is RecordNothing.
	Sample string
}

// Stage is the name of the only stage that Progress is called with.
const Stage = "bin"

// Config says what to do.
type Config struct {
	Inputs []InputSpec
	// Unpaired has no file taken as interleaved mates.
	Unpaired bool
	OutDir   string
	Name     string         // of the archive; "" for one made of that of the first input
	Options  record.Options // BlockSize 0: DefaultBlockSize, or what Memory allows
	Record   RecordMode     // what of the input files is recorded
	// KeepGzip, if not nil, is given each gzip file and reports whether the bins keep the file itself, so that it comes back. An error, which
	// says why it cannot, ends the run. With NeedGzip the file must come back.
	KeepGzip func(file io.Reader) (bool, error)
	NeedGzip bool
	Threads  int // 0: as many as the machine has
	Streams  int // blocks in flight; 0: see cpuStreams
	// Memory is about how many bytes the run may use; 0 for no bound. If a run with the default
	// block size needs more, the blocks are smaller, and the archive has other bytes.
	Memory uint64
	// Hold is how many bytes of the bins RunUnnamed keeps in memory at most. Where Memory is bounded it is less if the run needs it.
	Hold uint64
	// TempDir is where RunUnnamed keeps the rest, in files without names; "" for OutDir.
	TempDir string
	Force   bool // replace an archive
	// MayReplace is asked with Force whether an archive may be replaced; nil: any may.
	MayReplace commit.MayReplace
	// Access is who may read the bins.
	Access commit.Access
	// Tool is recorded in the archive; it must not differ between builds of one version.
	Tool string
	// Progress, if not nil, is called with how many bytes of the inputs, as they are stored, have been read and binned; total is 0 if it
	// is not known. It is called from any goroutine.
	Progress func(stage string, done, total uint64)
	Stdin    io.Reader // nil: os.Stdin
	// NewAssigner makes the assigner; nil is NewCPU. Where it has too little memory it may lower
	// Streams and BlockSize of its argument, which the run then uses.
	NewAssigner func(*Resources) (Assigner, error)
	// Note, if not nil, prints a line that the user should read though nothing is wrong.
	Note func(line string)

	bamAsFASTQ  bool // unaligned BAM is read as FASTQ, and what that has not is lost
	inflating   int  // bytes that the buffers of an input of gzip may take
	allGzip     bool // all inputs are gzip, or may be
	piecesAhead int  // pieces of an input's text that are parsed before their records are used; 0 for none
	unnamed     bool
	uncoded     bool   // names and qualities are stored as they are
	uncodedFrom uint64 // instead of leastUncoded, unless it is 0
	sumsAhead   uint64 // instead of aheadMost, unless it is 0
	mostMD5     uint64 // of how many bytes of text the MD5 is recorded, instead of 1e9, unless it is 0
}

// Summary is what a run did.
type Summary struct {
	Inputs                                           []record.Input
	Records, Bases, TextBytes, SourceBytes, BinBytes uint64
	Streams                                          int // that were used
	// Blocks is into how many blocks the text was divided. DeviceBlocks of them were binned on a device.
	Blocks, DeviceBlocks int
	// DeviceFailed is set if a device failed in the middle of the run, which began again on the CPU.
	DeviceFailed bool
}

// Run bins the inputs into a new archive in c.OutDir. If it fails, or ctx ends, nothing is left
// of the archive. An error about an input is one line that begins with the name of the file; it
// usually wraps a RecordError.
func Run(ctx context.Context, c Config) (Summary, error) {
	c.unnamed = false
	_, s, err := c.bin(ctx)
	return s, err
}

// RunUnnamed is Run for bins that get no name, and are to be packed at once: see bins.CreateUnnamed. What is in c.OutDir is refused, or
// replaced later, as by Run. The bins are gone when the reader is closed or the process ends.
func RunUnnamed(ctx context.Context, c Config) (*bins.Reader, Summary, error) {
	c.unnamed = true
	return c.bin(ctx)
}

// complete sets what c leaves open, and adapts it to Memory.
func (c *Config) complete() error {
	if c.Threads <= 0 {
		c.Threads = runtime.GOMAXPROCS(0)
	}
	if c.Streams <= 0 {
		c.Streams = cpuStreams
		if c.Threads >= manyThreads && (c.Memory == 0 || c.Memory >= enoughMemory) {
			c.Streams *= 2
		}
	}
	c.bamAsFASTQ = !c.Options.Exact(record.BAM)
	sizeGiven := c.Options.BlockSize != 0
	if !sizeGiven {
		c.Options.BlockSize = DefaultBlockSize
	}
	if c.Options.BlockSize > maxBlockSize {
		return fmt.Errorf("blocks of %d bytes are too large: at most %d", c.Options.BlockSize, uint64(maxBlockSize))
	}
	return c.fitMemory(sizeGiven)
}

// bin is Run and RunUnnamed; the reader is nil for bins with a name.
func (c Config) bin(ctx context.Context) (*bins.Reader, Summary, error) {
	if len(c.Inputs) == 0 {
		return nil, Summary{}, errors.New("no input")
	}
	if err := c.complete(); err != nil {
		return nil, Summary{}, err
	}
	// An input that turns out not to be FASTQ of four lines a record is read as wrapped FASTQ. For
	// that the run begins anew, if all inputs can be read a second time.
	wrapped := make([]*RecordError, len(c.Inputs))
	deviceFailed := false
	if c.Note == nil {
		c.Note = func(string) {}
	}
	c.Inputs = slices.Clone(c.Inputs)
	c.recognizeInterleaved()
	for {
		reader, s, err := runOnce(ctx, &c, wrapped)
		var device *DeviceError
		if errors.As(err, &device) && ctx.Err() == nil && c.NewAssigner != nil && c.readableOnce() == "" {
			c.Note("the GPU failed, and the run begins again on the CPU: " + err.Error())
			c.NewAssigner, c.Streams, deviceFailed = nil, min(c.Streams, cpuStreams), true
			continue
		}
		s.DeviceFailed = deviceFailed
		var bad *inputError
		if !errors.As(err, &bad) {
			return reader, s, err
		}
		var apart notInterleaved
		if errors.As(err, &apart) {
			c.Note(apart.Error() + ": it is no file of interleaved mates, and the run begins again without taking it as one")
			c.Inputs[bad.input].Interleaved = false
			continue
		}
		var r *RecordError
		if !errors.As(err, &r) {
			return nil, s, bad.error
		}
		if first := wrapped[bad.input]; first != nil && !r.wrapped {
			return nil, s, first // the text doesn't look wrapped
		}
		if !r.structural || !regular(c.Inputs[bad.input].Path) {
			return nil, s, r
		}
		if other := c.readableOnce(); other != "" {
			return nil, s, fmt.Errorf("%w; if this is FASTQ wrapped over lines, all inputs have to be read again, and %s can be read only once",
				r, other)
		}
		wrapped[bad.input] = r
	}
}

// maxBlockSize is such that a block can be doubled while offsets have 32 bits.
const maxBlockSize = 1 << 31

// inputError is an error about an input.
type inputError struct {
	error
	input int
}

func (e *inputError) Unwrap() error { return e.error }

// readableOnce returns the name of an input that can't be read a second time, "" if there is none.
func (c *Config) readableOnce() string {
	for _, in := range c.Inputs {
		switch {
		case in.Path == "-":
			return "stdin"
		case !regular(in.Path):
			return in.Path
		}
	}
	return ""
}

func regular(path string) bool {
	if path == "-" {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// checkNames checks, before anything is written, that the inputs can be restored under their
// names, and that none of them has the name of one of the archive's files.
func (r *run) checkNames(archive string) error {
	infos := make([]record.Input, len(r.inputs))
	for i, in := range r.inputs {
		infos[i] = in.info
		if in.spec.Path != "-" {
			if err := commit.TakesName(in.spec.Path, r.OutDir, archive); err != nil {
				return err
			}
		}
	}
	if err := record.CheckInputNames(infos); err != nil {
		return err
	}
	_, err := record.RestoredNames(infos, r.Options, record.Restored{})
	return err
}

// runOnce reads the inputs once; those that wrapped has a RecordError for as wrapped FASTQ. The reader is that of RunUnnamed.
func runOnce(caller context.Context, c *Config, wrapped []*RecordError) (reader *bins.Reader, _ Summary, err error) {
	r := &run{Config: c, total: c.sourceSize(), pool: tasks.NewPool(c.Threads), read: make([]atomic.Uint64, len(c.Inputs)),
		hashing: make(chan struct{}, max(c.Threads, 2)), mates: make(mates)}
	ctx, cancel := context.WithCancel(caller)
	defer cancel()
	r.cancel = cancel
	defer r.closeInputs()
	newAssigner := c.NewAssigner
	if newAssigner == nil {
		newAssigner = func(r *Resources) (Assigner, error) { return NewCPU(*r), nil }
	}
	res := Resources{Threads: c.Threads, Streams: c.Streams, BlockSize: c.Options.BlockSize, Inflating: c.inflating,
		AllGzip: c.allGzip, Keep: c.keep(), Run: r.pool.Run, Note: c.Note}
	if r.assigner, err = newAssigner(&res); err != nil {
		return nil, Summary{}, err
	}
	defer func() {
		if e := r.assigner.Close(); err == nil {
			err = e
		}
		if err != nil && reader != nil {
			reader.Close()
			reader = nil
		}
	}()
	c.Streams, c.Options.BlockSize = res.Streams, res.BlockSize
	if err := r.open(ctx, wrapped); err != nil {
		if e := caller.Err(); e != nil {
			err = e
		}
		return nil, Summary{}, err
	}
	if err := checkKinds(r.inputs); err != nil {
		return nil, Summary{}, err
	}
	name := cmp.Or(c.Name, archiveName(r.inputs[0].info.Name))
	if err := r.checkNames(name); err != nil {
		return nil, Summary{}, err
	}
	replace := commit.Forced(c.Force, c.MayReplace)
	if c.unnamed {
		r.out, err = bins.CreateUnnamed(c.OutDir, name, replace, c.Hold, c.TempDir)
	} else {
		r.out, err = bins.Create(c.OutDir, name, replace)
	}
	if err != nil {
		return nil, Summary{}, err
	}
	defer r.out.Abort()
	r.out.Restrict(c.Access)
	if c.Tool != "" {
		r.out.Tool = c.Tool
	}
	r.out.Check = r.unchanged
	if err := r.pipeline(ctx); err != nil {
		var bad *inputError
		if e := caller.Err(); e != nil {
			err = e
		} else if errors.As(err, &bad) {
			// The file may be malformed because it was changed meanwhile.
			if e := r.inputs[bad.input].src.unchanged(); e != nil {
				err = e
			}
		}
		return nil, Summary{}, err
	}
	s := Summary{Streams: c.Streams, Bases: r.bases, Blocks: r.blocks, DeviceBlocks: r.assigner.DeviceBlocks()}
	infos := make([]record.Input, len(r.inputs))
	for i, in := range r.inputs {
		infos[i] = in.info
		infos[i].SourceBytes = r.read[i].Load()
		if in.src.fastq != nil {
			res.Note(in.src.path + ": is unaligned BAM, read as FASTQ with these flags: its tags, read groups and header are not kept")
		}
		if in.info.Interleaved {
			res.Note(in.src.path + " is taken as interleaved mates (--unpaired takes it as it is)")
		}
	}
	if err := r.recordSources(infos); err != nil {
		if e := caller.Err(); e != nil {
			err = e
		}
		return nil, Summary{}, err
	}
	if reader, err = r.end(infos); err != nil {
		return nil, Summary{}, err
	}
	s.Inputs, s.BinBytes = infos, r.out.Written()
	for _, in := range infos {
		s.Records += in.Records
		s.TextBytes += in.Bytes
		s.SourceBytes += in.SourceBytes
	}
	return reader, s, nil
}

// end completes the bins, with the gzip files that are to come back.
func (r *run) end(infos []record.Input) (_ *bins.Reader, err error) {
	files := make([]*vfs.File, len(infos))
	for i, in := range r.inputs {
		if s := infos[i].Source; s == nil || len(s.Gzip) == 0 {
			continue
		}
		if !r.unnamed {
			if err := r.out.AppendFile(io.NewSectionReader(in.src.f, 0, in.src.size)); err != nil {
				return nil, err
			}
		} else if files[i], err = vfs.Open(in.spec.Path); err != nil {
			break
		}
	}
	var reader *bins.Reader
	if !r.unnamed {
		return nil, r.out.Commit(r.Options, infos)
	} else if err == nil {
		reader, err = r.out.Finish(r.Options, infos, files)
	}
	if err != nil {
		for _, f := range files {
			if f != nil {
				f.Close()
			}
		}
	}
	return reader, err
}
