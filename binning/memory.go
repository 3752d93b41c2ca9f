package binning

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"os"

	"orcomgo/binning/inflate"
	"orcomgo/bins/record"

	"github.com/klauspost/compress/zstd"
)

// Memory in bytes that a run takes, measured with one and two streams and blocks of 1 to 64 MB:
// for each byte of a block in flight, for each input, for one of gzip, and for everything else.
const (
	memoryPerByte  = 2
	memoryPerInput = 5 << 18           // the first text, and a buffer
	memoryGzip     = inflate.MinMemory // for each input of gzip besides
	memoryBase     = 24 << 20
	// A text takes as much memory as one of records of usual length that is mostOfText times as long, at most: records of one base, each
	// with another form than the one before.
	mostOfText = 12
	// Of each byte of text that is parsed ahead (ahead.go), where records are tiny and none has the form of the one before.
	memoryAhead = 40
)

// minAutoBlock is the least block size, in bytes, that fitMemory chooses. Smaller blocks save
// hardly any memory.
const minAutoBlock = 1e6

// fitMemory adapts the run to the memory that it may use. It lowers the number of streams, which
// does not change the archive, and then, unless the user set it, the block size, which makes the
// archive a little larger. The block size depends on Memory and the inputs alone.
func (c *Config) fitMemory(sizeGiven bool) error {
	text, inputs, gzipped := c.inspect()
	c.allGzip = gzipped == len(c.Inputs)
	if c.Memory == 0 {
		c.shareInflating(math.MaxInt, gzipped)
		c.sharePieces(math.MaxInt)
		c.chooseCoding(text)
		return nil
	}
	need := func(size uint64, streams int) uint64 {
		size *= uint64(streams)
		if text > 0 {
			// Blocks in flight are no larger than the inputs. But their memory also depends on the number of
			// their records, which is bounded by the block size.
			size = min(size, mostOfText*text)
		}
		return memoryBase + inputs + memoryPerByte*size
	}
	given := c.Streams
	for c.Streams > 1 && need(c.Options.BlockSize, c.Streams) > c.Memory {
		c.Streams--
	}
	if c.Streams < given && given != cpuStreams && c.Note != nil {
		c.Note(fmt.Sprintf("blocks in flight: %d instead of %d, to stay within %d MB of memory", c.Streams, given, c.Memory/1e6))
	}
	size := c.Options.BlockSize
	for !sizeGiven && size/2 >= minAutoBlock && need(size, c.Streams) > c.Memory {
		size /= 2
	}
	if least := need(size, c.Streams); least > c.Memory {
		what := "this run needs"
		if sizeGiven {
			what = fmt.Sprintf("blocks of %d bytes need", size)
		}
		return fmt.Errorf("%s about %d MB of memory, and %d MB are allowed", what, (least+999_999)/1e6, c.Memory/1e6)
	}
	if size != c.Options.BlockSize && c.Note != nil {
		c.Note(fmt.Sprintf("blocks of %g MB instead of %g MB, to stay within %d MB of memory",
			float64(size)/1e6, float64(c.Options.BlockSize)/1e6, c.Memory/1e6))
	}
	c.Options.BlockSize = size
	left := int(min(c.Memory-need(size, c.Streams), math.MaxInt))
	left -= c.shareInflating(left, gzipped)
	left -= c.sharePieces(left)
	c.Hold = min(c.Hold, uint64(left))
	c.chooseCoding(text)
	return nil
}

// leastUncoded is for how many bytes of text at least bins are not coded. It saves no time worth speaking of before, and a sample tells
// how much room coded bins of all the reads would take.
const leastUncoded = 1e9

// chooseCoding decides whether names and qualities are coded in the bins. They are not where all bins stay in memory, since they would be
// decoded again, which takes a tenth of the time that archiving takes with a GPU.
func (c *Config) chooseCoding(text uint64) {
	c.uncoded = c.unnamed && text >= cmp.Or(c.uncodedFrom, leastUncoded) && text <= c.Hold
}

// sharePieces divides the memory that is left among the inputs that are parsed ahead at a time, and returns how much of it that takes.
// It does not change the archive.
func (c *Config) sharePieces(left int) (taken int) {
	inputs := max(min(len(c.Inputs), 2*window), 1)
	c.piecesAhead = min(c.Threads*piecesAThread, mostPieces, left/inputs/(memoryAhead*aheadPiece))
	if c.piecesAhead < 2 {
		c.piecesAhead = 0
	}
	return c.piecesAhead * inputs * memoryAhead * aheadPiece
}

// shareInflating divides the memory that is left among the inputs of gzip that are read at a
// time, and returns how much of it that takes. It does not change the archive.
func (c *Config) shareInflating(left, gzipped int) (taken int) {
	c.inflating = memoryGzip
	if gzipped > 0 {
		// The inputs that supply blocks in turn, which may be pairs. The others take little.
		taken = min(left, inflate.DefaultMemory(c.Threads))
		c.inflating += taken / min(gzipped, 2*window)
	}
	return taken
}

// inspect reads the first bytes of the inputs. It returns how many bytes of text they hold at
// most (0 if unknown; a high estimate for compressed ones), how much memory reading them takes at
// least, and how many of them are gzip or may be.
func (c *Config) inspect() (text, memory uint64, gzipped int) {
	const ratio = 16
	known := true
	for _, in := range c.Inputs {
		memory += memoryPerInput
		if !regular(in.Path) {
			memory += memoryGzip // it may be
			gzipped++
			known = false
			continue
		}
		f, err := os.Open(in.Path)
		if err != nil {
			known = false // openSource reports the error
			continue
		}
		head, headErr := bufio.NewReader(f).Peek(zstd.HeaderMaxSize)
		info, err := f.Stat()
		f.Close()
		if err != nil || headErr != nil && headErr != io.EOF {
			known = false
			continue
		}
		n := uint64(info.Size())
		if len(head) > 0 {
			if _, plain := record.KindOf(head[0]); !plain {
				n *= ratio
			}
		}
		text += n
		switch {
		case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
			memory += memoryGzip
			gzipped++
		case isZstd(head):
			var h zstd.Header
			if h.Decode(head) == nil {
				memory += 2 * h.WindowSize
			}
		}
	}
	if !known {
		text = 0
	}
	return text, memory, gzipped
}

// sourceSize returns the size of all inputs as they are stored, 0 if it is not known.
func (c *Config) sourceSize() uint64 {
	if c.readableOnce() != "" {
		return 0
	}
	return StoredSize(c.Inputs)
}

// StoredSize returns the size of inputs as they are stored, as far as they are files.
func StoredSize(inputs []InputSpec) (total uint64) {
	for _, in := range inputs {
		if info, err := os.Stat(in.Path); in.Path != "-" && err == nil && info.Mode().IsRegular() {
			total += uint64(info.Size())
		}
	}
	return total
}
