package sidefiles

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"orcomgo/bins/parse"
	"orcomgo/internal/tasks"
)

// block is a part of the files, one after another in the order of a stream.
type block struct {
	method          method
	size, coded     int // bytes
	hash, codedHash uint64
}

// entry is a file in the index.
type entry struct {
	number  int // of the file among those given to Encode
	name    string
	size    int64
	class   class  // of the encoder
	alike   string // the kind of tables that are coded together, else empty
	stem    string // see stem; empty if few files have it
	content []byte // of a small file, until it is in a block
}

// maxKept is how many bytes of small files are kept at most from when their class is found; in little memory it is one in keptShare of
// that.
const (
	maxKept   = 32 << 20
	keptShare = 16
)

// Encode writes the blocks of files to w, until ctx ends, and returns their index. Errors of files name them. The bytes depend on names,
// sizes and contents; with little memory also on that.
func Encode(ctx context.Context, w io.Writer, files []File, o Options) (_ []byte, err error) {
	o = o.complete()
	o.blockSize = int(min(uint64(o.blockSize), max(o.Memory/encodeMemory, 64<<10)))
	o.Threads = o.within(encodeMemory * uint64(o.blockSize))
	entries, err := arrange(files, o)
	if err != nil {
		return nil, err
	}
	blocks, err := writeBlocks(ctx, w, files, entries, o)
	if err != nil {
		return nil, err
	}
	f := &parse.Fields{}
	(&index{entries, blocks}).code(f)
	return f.Out, nil
}

// arrange finds the classes of files and returns these in the order of the stream.
func arrange(files []File, o Options) ([]entry, error) {
	entries := make([]entry, len(files))
	var group errgroup.Group
	group.SetLimit(o.Threads)
	room := int(min(maxKept, o.Memory/keptShare))
	for i, f := range files {
		sample, err := readSample(f)
		if err != nil {
			group.Wait() // no error
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		entries[i] = entry{number: i, name: f.Name, size: f.Size, stem: stem(f.Name)}
		if f.Size == int64(len(sample)) && len(sample) <= room {
			entries[i].content = sample
			room -= len(sample)
		}
		group.Go(func() error {
			entries[i].classify(sample)
			o.Coded(int(f.Size))
			return nil
		})
	}
	group.Wait() // no error
	joinSmallTables(entries)
	dropRareStems(entries)
	slices.SortStableFunc(entries, compareEntries)
	return entries, nil
}

func readSample(f File) ([]byte, error) {
	if f.Size == 0 {
		return nil, nil
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	sample := make([]byte, min(f.Size, sampleSize)+1)
	n, err := io.ReadFull(r, sample)
	switch {
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		return nil, err
	case n < len(sample)-1 || f.Size < int64(n):
		return nil, errSize(f, int64(n))
	}
	return sample[:len(sample)-1], nil
}

// errSize reports a file of another size than was expected.
func errSize(f File, n int64) error {
	return fmt.Errorf("the file was changed while it was read: %d bytes of %d", n, f.Size)
}

// codedBlock is a block on its way to the writer.
type codedBlock struct {
	block
	bytes []byte
	done  chan struct{}
}

// writeBlocks codes the blocks of all files, several at a time, and writes them in order.
func writeBlocks(ctx context.Context, w io.Writer, files []File, entries []entry, o Options) ([]block, error) {
	queue := make(chan *codedBlock, max(o.Threads-1, 0)) // in the order of the stream
	slots := make(chan struct{}, o.Threads)              // blocks in memory
	failed := make(chan struct{})                        // closed if the writer fails
	stopped := make(chan struct{})                       // closed if a file can't be read, or ctx ends
	var blocks []block
	var group errgroup.Group
	group.Go(func() error {
		var err error
		for b := range queue {
			select {
			case <-b.done:
			case <-stopped: // a block can take seconds
				return err
			}
			if err == nil {
				if _, err = w.Write(b.bytes); err != nil {
					close(failed)
				}
			}
			blocks = append(blocks, b.block)
			b.bytes = nil
			<-slots
		}
		return err
	})
	pool := tasks.NewPool(o.Threads)
	// Images of disks and files with holes may have thousands of blocks of zeros, which are equal.
	zeros := sync.OnceValues(func() (method, []byte) { return codeBlock(make([]byte, o.blockSize), classBinary, nil) })
	c := &cutter{size: o.blockSize}
	c.emit = func(text []byte, cl class) error {
		select {
		case <-failed:
			return errFailed
		case <-ctx.Done():
			return ctx.Err()
		case slots <- struct{}{}:
		}
		b := &codedBlock{block: block{size: len(text)}, done: make(chan struct{})}
		go func() {
			pool.Enter()
			defer pool.Leave()
			b.hash = xxh3.Hash(text)
			if len(text) == o.blockSize && isZero(text) {
				b.method, b.bytes = zeros()
			} else {
				b.method, b.bytes = codeBlock(text, cl, pool)
			}
			b.coded, b.codedHash = len(b.bytes), xxh3.Hash(b.bytes)
			o.Coded(b.size)
			close(b.done)
		}()
		queue <- b
		return nil
	}
	var err error
	for i := range entries {
		if err = c.add(files[entries[i].number], &entries[i]); err != nil {
			break
		}
	}
	if err == nil {
		err = c.flush()
	}
	if err != nil {
		close(stopped)
	}
	close(queue)
	if writeErr := group.Wait(); writeErr != nil {
		err = writeErr
	}
	return blocks, err
}

// errFailed ends the cutting of files after an error of the writer, which is the one that is returned.
var errFailed = fmt.Errorf("sidefiles: the stream could not be written")

// cutter cuts files into blocks: files of the classes text, binary and stored follow each other in blocks, and so do tables that are
// alike; others have blocks of their own.
type cutter struct {
	size  int
	emit  func(text []byte, c class) error
	text  []byte // of the next block
	class class
	alike string // of its files
}

func (c *cutter) flush() error {
	if len(c.text) == 0 {
		return nil
	}
	text := c.text
	c.text = nil
	return c.emit(text, c.class)
}

// add reads a file.
func (c *cutter) add(f File, e *entry) error {
	goesOn := !e.class.alone() || e.alike != "" && e.alike == c.alike && len(c.text) < alikeBlock
	if e.class != c.class || !goesOn {
		if err := c.flush(); err != nil {
			return err
		}
		c.class, c.alike = e.class, e.alike
	}
	if f.Size == 0 {
		return nil
	}
	if e.content != nil {
		f.Open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(e.content)), nil }
		defer func() { e.content = nil }()
	}
	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	defer r.Close()
	total := int64(0)
	for {
		if c.text == nil {
			c.text = make([]byte, 0, min(int64(c.size), max(f.Size-total, 64<<10)))
		}
		if len(c.text) == c.size {
			if err := c.cut(); err != nil {
				return err
			}
			continue
		}
		if len(c.text) == cap(c.text) {
			c.text = slices.Grow(c.text, min(len(c.text)+4096, c.size-len(c.text)))
		}
		n, err := r.Read(c.text[len(c.text):min(cap(c.text), c.size)])
		c.text = c.text[:len(c.text)+n]
		total += int64(n)
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		if total > f.Size {
			break
		}
	}
	if total != f.Size {
		return fmt.Errorf("%s: %w", f.Name, errSize(f, total))
	}
	return nil
}

// cut emits a full block: up to the last line end in its second half, if its class is text or tables.
func (c *cutter) cut() error {
	text, rest := c.text, []byte(nil)
	if c.class == classText || c.class == classTable {
		if end := bytes.LastIndexByte(text, '\n') + 1; end > len(text)/2 {
			text, rest = text[:end:end], text[end:]
		}
	}
	c.text = append(make([]byte, 0, c.size), rest...)
	return c.emit(text, c.class)
}

// index says where files are in a stream.
type index struct {
	entries []entry
	blocks  []block
}

// code codes the order of the files, their sizes, and the blocks.
func (x *index) code(f *parse.Fields) {
	next := 0
	for i := range x.entries {
		step := int64(x.entries[i].number - next)
		f.Varint(&step, int64(len(x.entries)))
		x.entries[i].number = next + int(step)
		next += int(step) + 1
	}
	for i := range x.entries {
		parse.Number(f, &x.entries[i].size, maxTotal)
	}
	parse.List(f, &x.blocks, 10, "blocks", func(b *block) {
		parse.Byte(f, &b.method, methods-1)
		parse.Number(f, &b.size, maxBlockSize)
		f.Uint64(&b.hash)
		if b.method == methodStored {
			b.coded, b.codedHash = b.size, b.hash
			return
		}
		parse.Number(f, &b.coded, maxBlockSize)
		f.Uint64(&b.codedHash)
	})
}
