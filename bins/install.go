package bins

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// An archive is replaced so that at every instant, power cuts included, the directory holds
// the old one or the new one whole. Both files are written as NAME.EXT.tmp and synced; the
// data file becomes NAME.EXT.new, then the meta file: that rename is the commit point. From
// then on the roll-forward is done by whoever comes first, the same process or a later one:
// remove the files of the archives that the new one replaces, rename the data file to its
// final name, then the meta file. Each step can be repeated.
const (
	tmpExt = ".tmp"
	newExt = ".new"
)

// replaced lists, for the meta files that a commit can put in place, what it replaces: new
// bins replace everything, a packed archive replaces an earlier one (the bins that it was
// made of go separately, if at all).
var replaced = map[string][]string{
	MetaExt:  {MetaExt, DataExt, ".cmeta", ".cdna"},
	".cmeta": {".cmeta", ".cdna"},
}

// Install makes NAME.DATA.tmp and NAME.META.tmp in dir, which must be written, synced and
// closed, the archive of dir under their names without .tmp, in place of whatever was
// there. metaExt is ".bmeta" or ".cmeta", dataExt its data file. If it fails before the
// commit point the old archive still stands; after it, Recover finishes. The caller holds
// Lock.
func Install(dir, name, dataExt, metaExt string) error {
	path := filepath.Join(dir, name)
	err := os.Rename(path+dataExt+tmpExt, path+dataExt+newExt)
	if err == nil {
		err = syncDir(dir) // the order of the two renames must survive a power cut
	}
	if err == nil {
		err = os.Rename(path+metaExt+tmpExt, path+metaExt+newExt)
	}
	if err != nil {
		os.Remove(path + dataExt + newExt)
		return err
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	return rollForward(dir)
}

// Recover finishes what a crash after a commit point left undone. Everything that opens or
// creates an archive in dir calls it first; it does nothing in the usual case.
func Recover(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if committed(e.Name()) != "" {
			unlock, err := Lock(dir)
			if err != nil {
				return err
			}
			defer unlock()
			return rollForward(dir)
		}
	}
	return nil
}

// committed returns the extension of the meta file whose commit a file name tells of, or "".
func committed(file string) string {
	for meta := range replaced {
		if strings.HasSuffix(file, meta+newExt) {
			return meta
		}
	}
	return ""
}

func rollForward(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		meta := committed(e.Name())
		if meta == "" {
			continue
		}
		stem := filepath.Join(dir, strings.TrimSuffix(e.Name(), meta+newExt))
		data := stem + strings.Replace(meta, "meta", "dna", 1)
		// While the data file still has its temporary name, what stands under final names is old.
		switch _, err := os.Lstat(data + newExt); {
		case err == nil:
			for _, old := range entries {
				if hasSuffix(old.Name(), replaced[meta]) {
					if err := os.Remove(filepath.Join(dir, old.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
						return err
					}
				}
			}
			if err := syncDir(dir); err != nil {
				return err
			}
			if err := os.Rename(data+newExt, data); err != nil {
				return err
			}
			if err := syncDir(dir); err != nil {
				return err
			}
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if err := os.Rename(stem+meta+newExt, stem+meta); err != nil {
			return err
		}
		if err := syncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// RemoveStale removes the temporary files that killed runs left in dir. The caller holds
// Lock and has called Recover.
func RemoveStale(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		for _, ext := range replaced[MetaExt] {
			if name := e.Name(); hasSuffix(name, []string{ext + tmpExt, ext + newExt}) {
				if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
		}
	}
	return nil
}

// Exists tells whether dir holds an archive, of either stage.
func Exists(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	for _, e := range entries {
		if hasSuffix(e.Name(), []string{MetaExt, ".cmeta"}) || committed(e.Name()) != "" {
			return true, err
		}
	}
	return false, err
}

func hasSuffix(s string, suffixes []string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}

// SyncFile syncs and closes a file, and removes nothing: an error of either is returned
// with the file's name.
func SyncFile(f *os.File) error {
	err := f.Sync()
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name(), cause(err))
	}
	return nil
}

// cause strips the operation and the path off an error of package os.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
