package compress

import (
	"fmt"
	"io"

	"orcomgo/bins/commit"
	"orcomgo/bins/crypt"
	"orcomgo/bins/vfs"
	"orcomgo/compress/parity"
)

// Recipients says for how many readers each file of an archive is encrypted. If readers are given, the files are for these, too, or
// with only for these alone: they are written again with other headers, and so is their parity, as much as there is. The error wraps
// crypt.ErrKey if no key opens a file.
func Recipients(e commit.Entry, readers []crypt.Key, only bool, o RepairOptions) (list []Repaired, err error) {
	for _, ext := range []string{commit.BinsDataExt, commit.BinsMetaExt, commit.PackedDataExt, commit.PackedMetaExt, commit.IndexExt} {
		if path := e.Path() + ext; exists(path) {
			one, err := RecipientsOf(path, readers, only, o)
			if err != nil {
				return list, err
			}
			list = append(list, one)
		}
	}
	return list, nil
}

// RecipientsOf is Recipients of one file.
func RecipientsOf(path string, readers []crypt.Key, only bool, o RepairOptions) (r Repaired, err error) {
	f, err := vfs.OpenRegular(path)
	if err != nil {
		return r, err
	}
	defer f.Close()
	e, err := crypt.ReadHeader(f)
	if err == nil && len(readers) > 0 {
		if e, err = crypt.Open(f, vfs.Secrets...); err == nil {
			e, err = rewrite(f, e, readers, only, o)
		}
	}
	if err != nil {
		return r, vfs.OfPath(path, err)
	}
	return Repaired{Path: path, Problem: fmt.Sprintf("readers: %d", e.Readers()), OK: true}, nil
}

// rewrite writes a file again for other readers than those of its envelope, which was is.
func rewrite(f *vfs.File, was *crypt.Envelope, readers []crypt.Key, only bool, o RepairOptions) (e *crypt.Envelope, err error) {
	if only {
		e, err = was.For(readers...)
	} else {
		e, err = was.And(readers...)
	}
	if err != nil {
		return nil, err
	}
	t, err := commit.WriteTemp(f.Name(), nil, func(w io.Writer) error {
		size, err := f.Size()
		if err == nil {
			_, err = w.Write(e.Header())
		}
		if err == nil {
			_, err = io.Copy(w, io.NewSectionReader(f, int64(len(was.Header())), size))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	defer t.Discard()
	// Until the parity is written again, it restores the file with the header that it had.
	set, err := parity.Open(parity.Path(f.Name()))
	if err == nil {
		err = commit.ReplaceFile(f, t)
	}
	if set == nil || err != nil {
		return e, err
	}
	defer set.Close()
	return e, parity.Protect(f.Name(), parity.Options{ID: set.ID(), Share: set.Share(), Threads: o.Threads, Memory: o.Memory})
}
