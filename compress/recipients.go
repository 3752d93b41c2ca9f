package compress

import (
	"io"

	"orcomgo/bins/commit"
	"orcomgo/bins/crypt"
	"orcomgo/bins/vfs"
	"orcomgo/compress/parity"
)

// FilesOf returns the paths of the files of an archive, without those of parity.
func FilesOf(e commit.Entry) (paths []string) {
	for _, ext := range []string{commit.BinsDataExt, commit.BinsMetaExt, commit.PackedDataExt, commit.PackedMetaExt, commit.IndexExt} {
		if path := e.Path() + ext; exists(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// ChangeReaders writes an encrypted file again with the header of the envelope that change returns, given that of the file, and its parity,
// as much as there is. The error wraps crypt.ErrKey if no key opens the file.
func ChangeReaders(path string, change func(e *crypt.Envelope) (*crypt.Envelope, error), o RepairOptions) error {
	f, err := vfs.OpenContent(path)
	if err != nil {
		return err
	}
	defer f.Close()
	was := f.Envelope()
	if was == nil {
		return vfs.OfPath(path, crypt.ErrPlain)
	}
	e, err := change(was)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	header := int64(len(was.Header()))
	t, err := commit.WriteTemp(path, nil, func(w io.Writer) error {
		if _, err := w.Write(e.Header()); err != nil {
			return err
		}
		_, err := io.Copy(w, io.NewSectionReader(f.Stored(), header, info.Size()-header))
		return err
	})
	if err != nil {
		return err
	}
	defer t.Discard()
	// Until the parity is written again, it restores the file with the header that it had.
	set, err := parity.Open(parity.Path(path))
	if err == nil {
		err = commit.ReplaceFile(f, t)
	}
	if set == nil || err != nil {
		return err
	}
	defer set.Close()
	return parity.Protect(path, parity.Options{ID: set.ID(), Share: set.Share(), Threads: o.Threads, Memory: o.Memory})
}
