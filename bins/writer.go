package bins

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Writer writes the two files of an archive, block by block, under temporary names until
// Commit. It is for one goroutine; blocks are encoded beside it by EncodeBlock.
type Writer struct {
	// Tool is the program's name and version, recorded in the archive.
	Tool string

	dir, name  string
	made       bool // dir was made here
	unlock     func()
	data, meta out
	blocks     []BlockInfo
	done       bool
}

// Create begins an archive in dir, which is made if it is missing, to be called
// name.bdna and name.bmeta. If an archive is there it is ErrExists, or with force it
// stands until the new one is committed. Temporary files of killed runs are removed.
func Create(dir, name string, force bool) (*Writer, error) {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00"+string(filepath.Separator)) {
		return nil, fmt.Errorf("%q can't be the name of an archive", name)
	}
	w := &Writer{Tool: "orcomgo", dir: dir, name: name}
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
		w.made = true
	}
	if err := w.begin(force); err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

func (w *Writer) begin(force bool) (err error) {
	if w.unlock, err = Lock(w.dir); err != nil {
		return err
	}
	if err := rollForward(w.dir); err != nil {
		return err
	}
	if there, err := Exists(w.dir); err != nil {
		return err
	} else if there && !force {
		return fmt.Errorf("%s: %w", w.dir, ErrExists)
	}
	if err := RemoveStale(w.dir); err != nil {
		return err
	}
	for _, f := range []struct {
		out  *out
		ext  string
		head []byte
	}{{&w.data, DataExt, dataHeader([16]byte{})}, {&w.meta, MetaExt, metaHeader()}} {
		path := filepath.Join(w.dir, w.name+f.ext+tmpExt)
		if f.out.f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
			return err
		}
		if err := f.out.write(f.head); err != nil {
			return err
		}
	}
	return nil
}

// WriteBlock writes a block. Within an input the blocks must come in the order of their
// records. The error, if any, names the file; the writer is then only good for Abort.
func (w *Writer) WriteBlock(e *Encoded) error {
	for _, p := range e.data {
		if err := w.data.write(p); err != nil {
			return err
		}
	}
	for _, p := range e.meta {
		if err := w.meta.write(p); err != nil {
			return err
		}
	}
	w.blocks = append(w.blocks, e.info)
	return nil
}

// Written returns how many bytes the two files hold so far.
func (w *Writer) Written() uint64 { return w.data.n + w.meta.n }

// Commit completes both files, makes them durable and puts them in place under their final
// names. It fills in the inputs' Records and Bytes from the blocks. After an error nothing
// is left of the new archive, and an old one still stands, unless the error came after the
// commit point: then the next Open or Create completes it.
func (w *Writer) Commit(o Options, inputs []Input) (err error) {
	defer func() {
		if err != nil {
			w.Abort()
		}
	}()
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
	foot, id := footer(trailer, w.meta.n, w.data.n)
	for _, p := range [][]byte{trailer, foot} {
		if err := w.meta.write(p); err != nil {
			return err
		}
	}
	for _, o := range []*out{&w.data, &w.meta} {
		if err := o.flush(); err != nil {
			return err
		}
	}
	if _, err := w.data.f.WriteAt(dataHeader(id), 0); err != nil {
		return fmt.Errorf("%s: %w", w.name+DataExt, cause(err))
	}
	for _, o := range []*out{&w.data, &w.meta} {
		f := o.f
		o.f = nil
		if err := SyncFile(f); err != nil {
			return err
		}
	}
	if err := Install(w.dir, w.name, DataExt, MetaExt); err != nil {
		return err
	}
	w.done, w.made = true, false
	w.unlock()
	return nil
}

// Abort removes everything that the writer made. It does nothing after Commit.
func (w *Writer) Abort() {
	if w.done {
		return
	}
	w.done = true
	for _, o := range []*out{&w.data, &w.meta} {
		if o.f != nil {
			o.f.Close()
		}
	}
	if w.unlock != nil {
		for _, ext := range []string{DataExt, MetaExt} {
			os.Remove(filepath.Join(w.dir, w.name+ext+tmpExt))
		}
		w.unlock()
	}
	if w.made {
		os.Remove(w.dir) // stays if anything is in it
	}
}

// out is a file with a buffer for small writes.
type out struct {
	f   *os.File
	buf []byte
	n   uint64
}

const outBuf = 1 << 20

func (o *out) write(p []byte) error {
	o.n += uint64(len(p))
	direct := len(p) >= outBuf/4
	if direct || len(o.buf)+len(p) > outBuf {
		if err := o.flush(); err != nil {
			return err
		}
	}
	if direct {
		return o.put(p)
	}
	if o.buf == nil {
		o.buf = make([]byte, 0, outBuf)
	}
	o.buf = append(o.buf, p...)
	return nil
}

func (o *out) flush() error {
	p := o.buf
	o.buf = o.buf[:0]
	return o.put(p)
}

func (o *out) put(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	n, err := o.f.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return fmt.Errorf("%s: %w", strings.TrimSuffix(o.f.Name(), tmpExt), cause(err))
	}
	return nil
}
