package bins

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"orcomgo/bins/record"

	"orcomgo/bins/commit"
)

// Writer writes the two files of an archive, block by block; they get their names at
// Commit. All its methods but WriteReserved must be called from one goroutine. Blocks are encoded
// concurrently by EncodeBlock.
type Writer struct {
	// Tool is the program's name and version, recorded in the archive.
	Tool string
	// Check, if not nil, is called by Commit last before the archive gets its names. If it
	// returns an error, so does Commit, and nothing of the archive is left.
	Check func() error

	dir, name  string
	replace    bool
	made       commit.Made // directories that were made for dir
	data, meta outFile
	blocks     []BlockInfo
	done       bool
}

// Create begins an archive in dir, which is made if it is missing, to be called
// name.bdna and name.bmeta. If there is an archive of that name the error is ErrExists; with
// force it is replaced when the new one is committed.
func Create(dir, name string, force bool) (*Writer, error) {
	if err := commit.CheckName(name); err != nil {
		return nil, err
	}
	made, err := commit.MakeDir(dir)
	if err != nil {
		return nil, err
	}
	w := &Writer{Tool: "orcomgo", dir: dir, name: name, replace: force, made: made}
	if err := w.begin(); err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

func (w *Writer) begin() error {
	if err := commit.Begin(w.dir, w.name, commit.Bins, w.replace); err != nil {
		return err
	}
	for _, f := range []struct {
		out  *outFile
		ext  string
		head []byte
	}{{&w.data, commit.BinsDataExt, dataHeader([16]byte{})}, {&w.meta, commit.BinsMetaExt, metaHeader(Version)}} {
		var err error
		if f.out.f, err = commit.NewTemp(filepath.Join(w.dir, w.name+f.ext)); err != nil {
			return err
		}
		if err := f.out.append(f.head); err != nil {
			return err
		}
	}
	return nil
}

// WriteBlock writes a block. Within an input the blocks must come in the order of their
// records. The error, if any, names the file; the writer is then only good for Abort.
func (w *Writer) WriteBlock(e *Encoded) error {
	w.Reserve(e)
	return w.WriteReserved(e)
}

// Reserve gives a block its place in the files, after those reserved before.
func (w *Writer) Reserve(e *Encoded) {
	e.dataAt, e.metaAt = w.data.n, w.meta.n
	w.data.n += e.info.StoredDNA + e.info.StoredNames + e.info.StoredQuals
	w.meta.n += e.info.StoredMeta
	w.blocks = append(w.blocks, e.info)
}

// WriteReserved writes a block to its place. Unlike the other methods it may be called from
// several goroutines at once, for different blocks. All calls must have returned before Commit
// or Abort.
func (w *Writer) WriteReserved(e *Encoded) error {
	if err := w.data.write(e.data, e.dataAt); err != nil {
		return err
	}
	return w.meta.write(e.meta, e.metaAt)
}

// Written returns how many bytes the two files hold so far.
func (w *Writer) Written() uint64 { return w.data.n + w.meta.n }

// Commit completes both files, makes them durable and puts them in place under their final
// names. It fills in the inputs' Records and Bytes from the blocks. After an error nothing
// is left of the new archive, and an old one is unchanged; but after a commit.AfterCommitError
// the new archive is complete.
func (w *Writer) Commit(o record.Options, inputs []record.Input) (err error) {
	defer w.Abort() // after success it closes the files
	for i := range inputs {
		inputs[i].Records, inputs[i].Bytes = 0, 0
	}
	for i := range w.blocks {
		b := &w.blocks[i]
		in := &inputs[b.Input]
		if b.FirstRecord != in.Records {
			return fmt.Errorf("bins: block %d of %s begins with record %d, not %d", i, in.Name, b.FirstRecord, in.Records)
		}
		in.Records += uint64(b.Records)
		in.Bytes += b.TextLen
	}
	trailer := appendTrailer(nil, &Meta{Tool: w.Tool, Options: o, Inputs: inputs, Blocks: w.blocks})
	foot, id := footer(Version, trailer, w.meta.n, w.data.n)
	if err := w.meta.append(append(trailer, foot...)); err != nil {
		return err
	}
	if err := w.data.write([][]byte{dataHeader(id)}, 0); err != nil {
		return err
	}
	for _, o := range []*outFile{&w.data, &w.meta} {
		if err := o.f.Sync(); err != nil {
			return err
		}
	}
	if w.Check != nil {
		if err := w.Check(); err != nil {
			return err
		}
	}
	err = commit.InstallBins(w.dir, w.name, id, w.data.f, w.meta.f, w.replace)
	var after *commit.AfterCommitError
	if err == nil || errors.As(err, &after) {
		w.made = nil
	}
	return err
}

// Abort removes everything that the writer made. It does nothing after Commit.
func (w *Writer) Abort() {
	if w.done {
		return
	}
	w.done = true
	for _, o := range []*outFile{&w.data, &w.meta} {
		if o.f != nil {
			o.f.Discard()
		}
	}
	w.made.Undo()
}

// outFile is one of the two files; n bytes of it are written or reserved.
type outFile struct {
	f *commit.Temp
	n uint64
	// writing is held during a write. The system lets one thread write to a file at a time, and
	// those that wait use up processor time.
	writing sync.Mutex
}

// append writes to the end.
func (o *outFile) append(p []byte) error {
	at := o.n
	o.n += uint64(len(p))
	return o.write([][]byte{p}, at)
}

var writeBuffers = sync.Pool{New: func() any { return new([1 << 20]byte) }}

// write writes consecutive pieces; small ones are collected in a buffer first.
func (o *outFile) write(pieces [][]byte, at uint64) error {
	buf := writeBuffers.Get().(*[1 << 20]byte)
	defer writeBuffers.Put(buf)
	n := 0
	put := func(p []byte) error {
		if len(p) == 0 {
			return nil
		}
		o.writing.Lock()
		_, err := o.f.WriteAt(p, int64(at))
		o.writing.Unlock()
		if err != nil {
			return err
		}
		at += uint64(len(p))
		return nil
	}
	for _, p := range pieces {
		large := len(p) > len(buf)/4
		if large || n+len(p) > len(buf) {
			if err := put(buf[:n]); err != nil {
				return err
			}
			n = 0
		}
		if large {
			if err := put(p); err != nil {
				return err
			}
			continue
		}
		n += copy(buf[n:], p)
	}
	return put(buf[:n])
}
