package bins

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"unsafe"

	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/bins/vfs"
)

// Writer writes the two files of an archive, block by block; they get their names at
// Commit, or, for a Writer of CreateUnnamed, none. All its methods but WriteReserved must be called from one goroutine. Blocks are
// encoded concurrently by EncodeBlock.
type Writer struct {
	// Tool is the program's name and version, recorded in the archive.
	Tool string
	// Check is called by Commit last before the archive gets its names, and by Finish. If it returns an error, so do they, and nothing of
	// the archive is left. Create sets one that returns none.
	Check func() error

	dir, name  string
	replace    commit.MayReplace
	made       commit.Made // directories that were made for dir
	data, meta outFile
	files      uint64 // bytes of AppendFile
	blocks     []BlockInfo
	done       bool
}

// Create begins an archive in dir, which is made if it is missing, to be called
// name.bdna and name.bmeta. If there is an archive of that name, it is replaced when the new
// one is committed, as replace allows; without it the error is ErrExists.
func Create(dir, name string, replace commit.MayReplace) (*Writer, error) {
	return create(dir, name, replace, nil)
}

// CreateUnnamed begins bins that get no name, to be read by the Reader of Finish and to be packed as archive name of dir: they are
// kept in memory while both files together take at most so many bytes there, and beyond that in temporary files in tempDir, or dir if
// that is "".
// dir is made, and what is there already is refused, as by Create.
func CreateUnnamed(dir, name string, replace commit.MayReplace, memory uint64, tempDir string) (*Writer, error) {
	return create(dir, name, replace, &budget{limit: memory, dir: tempDir})
}

// create is Create if there is no budget, else CreateUnnamed.
func create(dir, name string, replace commit.MayReplace, b *budget) (*Writer, error) {
	if err := commit.CheckName(name); err != nil {
		return nil, err
	}
	made, err := commit.MakeDir(dir)
	if err != nil {
		return nil, err
	}
	w := &Writer{Tool: "orcomgo", dir: dir, name: name, replace: replace, made: made, Check: func() error { return nil }}
	if err := w.begin(b); err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

// begin makes the two files: in memory as far as a budget allows, which is nil for files that get names.
func (w *Writer) begin(b *budget) error {
	if err := commit.Begin(w.dir, w.name, commit.Bins, w.replace); err != nil {
		return err
	}
	for _, f := range []struct {
		out  *outFile
		ext  string
		head []byte
	}{{&w.data, commit.BinsDataExt, dataHeader([16]byte{})}, {&w.meta, commit.BinsMetaExt, metaHeader()}} {
		path := filepath.Join(w.dir, w.name+f.ext)
		if b != nil {
			f.out.f = newScratch(path, b)
		} else {
			temp, err := commit.NewTemp(path)
			if err != nil {
				return err
			}
			f.out.f = &scratch{path: path, budget: &budget{}, file: &tempFile{Temp: temp}}
		}
		if err := f.out.append(f.head); err != nil {
			return err
		}
	}
	return nil
}

// Restrict has files that get names open to no more than a allows.
func (w *Writer) Restrict(a commit.Access) {
	if f := w.data.f.file; f != nil {
		f.Restrict(a)
	}
}

// Reserve gives a block its place in the files, after those reserved before. Within an input the blocks must come in the order of their
// records.
func (w *Writer) Reserve(e *Encoded) {
	e.dataAt, e.metaAt = w.data.n, w.meta.n
	w.data.n += e.info.StoredDNA + e.info.StoredNames + e.info.StoredQuals
	w.meta.n += e.info.StoredMeta
	w.blocks = append(w.blocks, e.info)
}

// WriteReserved writes a block to its place, by run if that is in memory. Unlike the other methods it may be called from
// several goroutines at once, for different blocks. All calls must have returned before Commit
// or Abort. The error, if any, names the file; the writer is then only good for Abort.
func (w *Writer) WriteReserved(e *Encoded, run Runner) error {
	if err := w.data.write(e.data, e.dataAt, run); err != nil {
		return err
	}
	return w.meta.write(e.meta, e.metaAt, run)
}

// Written returns how many bytes the two files hold so far.
func (w *Writer) Written() uint64 { return w.data.n + w.meta.n }

// Commit completes both files, makes them durable and puts them in place under their final
// names. It fills in the inputs' Records and Bytes from the blocks. After an error nothing
// is left of the new archive, and an old one is unchanged; but after a commit.AfterCommitError
// the new archive is complete.
func (w *Writer) Commit(o record.Options, inputs []record.Input) (err error) {
	defer w.Abort() // after success it closes the files
	id, err := w.complete(o, inputs)
	if err != nil {
		return err
	}
	for _, o := range []outFile{w.data, w.meta} {
		if err := o.f.file.Sync(); err != nil {
			return err
		}
	}
	if err := w.Check(); err != nil {
		return err
	}
	err = commit.InstallBins(w.dir, w.name, id, w.data.f.file.Temp, w.meta.f.file.Temp, w.replace)
	var after *commit.AfterCommitError
	if err == nil || errors.As(err, &after) {
		w.made = nil
	}
	return err
}

// AppendFile appends the file of an input, after all blocks and those of the inputs before it, where Source.Gzip is set.
func (w *Writer) AppendFile(file *io.SectionReader) error {
	buf := writeBuffers.Get().(*[partLen]byte)
	defer writeBuffers.Put(buf)
	for {
		n, err := io.ReadFull(file, buf[:])
		w.files += uint64(n)
		if failed := w.data.append(buf[:n]); failed != nil {
			return failed
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// Finish completes the bins of a Writer of CreateUnnamed, as Commit does, and returns a reader of them. Closing it frees
// them, and removes directories that were made for them unless something is there by then. After an error nothing is left.
// files are those of the inputs whose Source.Gzip is set, which the reader reads and closes, instead of AppendFile; nil for others.
func (w *Writer) Finish(o record.Options, inputs []record.Input, files []*vfs.File) (*Reader, error) {
	defer w.Abort()
	if _, err := w.complete(o, inputs); err != nil {
		return nil, err
	}
	if err := w.Check(); err != nil {
		return nil, err
	}
	r, err := openUnnamed(w.dir, w.name, w.data.f, w.meta.f)
	if err != nil {
		return nil, err
	}
	r.made, r.files = w.made, files
	w.done = true // all is the reader's
	return r, nil
}

// complete writes the end of the meta file, and the ID, which it returns, into both files.
func (w *Writer) complete(o record.Options, inputs []record.Input) (id [16]byte, err error) {
	for i := range inputs {
		inputs[i].Records, inputs[i].Bytes = 0, 0
	}
	for i := range w.blocks {
		b := &w.blocks[i]
		in := &inputs[b.Input]
		if b.FirstRecord != in.Records {
			return id, fmt.Errorf("bins: block %d of %s begins with record %d, not %d", i, in.Name, b.FirstRecord, in.Records)
		}
		in.Records += uint64(b.Records)
		in.Bytes += b.TextLen
	}
	trailer, id := appendTrailer(&Meta{Tool: w.Tool, Options: o, Inputs: inputs, Blocks: w.blocks})
	if err := w.meta.append(append(trailer, footer(trailer, id, w.meta.n, w.data.n-w.files)...)); err != nil {
		return id, err
	}
	return id, w.data.write([][]byte{dataHeader(id)}, 0, oneByOne)
}

// Abort removes everything that the writer made. It does nothing after Commit or Finish.
func (w *Writer) Abort() {
	if w.done {
		return
	}
	w.done = true
	for _, o := range []outFile{w.data, w.meta} {
		if o.f != nil {
			o.f.Close()
		}
	}
	w.made.Undo()
}

// outFile is one of the two files; n bytes of it are written or reserved.
type outFile struct {
	f *scratch
	n uint64
}

// tempFile is a temporary file that several goroutines write to, one at a time: threads that wait for the system use up processor time.
type tempFile struct {
	*commit.Temp
	writing sync.Mutex
}

func (f *tempFile) WriteAt(p []byte, at int64) (int, error) {
	f.writing.Lock()
	defer f.writing.Unlock()
	return f.Temp.WriteAt(p, at)
}

// append writes to the end.
func (o *outFile) append(p []byte) error {
	at := o.n
	o.n += uint64(len(p))
	return o.write([][]byte{p}, at, oneByOne)
}

// partLen is how many bytes are written at once.
const partLen = 1 << 20

var writeBuffers = sync.Pool{New: func() any { return new([partLen]byte) }}

// filePart is what is written at once, of at most partLen bytes.
type filePart struct {
	at     uint64
	pieces [][]byte
}

// write writes consecutive pieces; to memory, which takes long where it is used for the first time, by run.
func (o *outFile) write(pieces [][]byte, at uint64, run Runner) error {
	var parts []filePart
	size := partLen // of the last part
	for len(pieces) > 0 {
		var p []byte
		for p, pieces = joined(pieces); len(p) > 0; {
			if size == partLen {
				parts, size = append(parts, filePart{at: at}), 0
			}
			last, n := &parts[len(parts)-1], min(len(p), partLen-size)
			last.pieces = append(last.pieces, p[:n])
			p, size, at = p[n:], size+n, at+uint64(n)
		}
	}
	if err := o.f.grow(at); err != nil { // once for all parts
		return err
	}
	if o.f.held() == 0 {
		run = oneByOne
	}
	errs := make([]error, len(parts))
	run(len(parts), func(i int) { errs[i] = o.writePart(&parts[i]) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// oneByOne is a Runner of one goroutine.
func oneByOne(n int, task func(i int)) {
	for i := range n {
		task(i)
	}
}

// writePart writes pieces that do not lie next to each other in memory by way of a buffer.
func (o *outFile) writePart(p *filePart) error {
	all := p.pieces[0]
	if len(p.pieces) > 1 {
		buf := writeBuffers.Get().(*[partLen]byte)
		defer writeBuffers.Put(buf)
		all = buf[:0]
		for _, piece := range p.pieces {
			all = append(all, piece...)
		}
	}
	_, err := o.f.WriteAt(all, int64(p.at))
	return err
}

// joined returns the first of the pieces and those that follow it in its memory, as one, and the other pieces.
func joined(pieces [][]byte) (first []byte, rest [][]byte) {
	first, rest = pieces[0], pieces[1:]
	for len(rest) > 0 {
		next, end := rest[0], len(first)+len(rest[0])
		if len(next) > 0 && (end > cap(first) || unsafe.SliceData(first[len(first):end]) != unsafe.SliceData(next)) {
			break
		}
		first, rest = first[:end], rest[1:]
	}
	return first, rest
}
