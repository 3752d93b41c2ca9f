package compress

import (
	"fmt"
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

// ChangeReaders writes a file again with another header, which change makes of the one that it has, and its parity, as much as there is. The
// error wraps crypt.ErrKey if no key opens the file, or if it is not encrypted.
func ChangeReaders(path string, change func(e *crypt.Envelope) error, o RepairOptions) error {
	f, err := vfs.OpenContent(path)
	if err != nil {
		return err
	}
	defer f.Close()
	e := f.Envelope()
	if e == nil {
		return fmt.Errorf("%s: it is not encrypted", path)
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	header := int64(len(e.Header()))
	if err := change(e); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	t, err := commit.NewTemp(path)
	if err != nil {
		return err
	}
	defer t.Discard()
	if _, err = t.Write(e.Header()); err == nil {
		_, err = io.Copy(t, io.NewSectionReader(f.Stored(), header, info.Size()-header))
	}
	if err == nil {
		err = t.Sync()
	}
	if err != nil {
		return err
	}
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
