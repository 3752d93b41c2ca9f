package commit

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"orcomgo/bins/vfs"
)

// The side archive of a directory, NAME.ctree: one file, beside the archives of the directory's samples.
const (
	TreeExt   = ".ctree"
	TreeMagic = "\x89OCGt\r\n\x1a"
	TreeEnd   = "\x89OCGu\r\n\x1a" // the last bytes of the file
)

// Tree is a side archive that was found.
type Tree struct{ Dir, Name string }

// Path returns DIR/NAME.ctree.
func (t Tree) Path() string { return vfs.Shown(filepath.Join(t.Dir, t.Name+TreeExt)) }

// FindTrees returns the side archives that path leads to, sorted by name: all of a directory, the one of the path DIR/NAME.ctree, or that
// of DIR/NAME if there is no archive of this name. The result is empty if there is none. A file is one by its
// name: what it holds may be lost. Nothing is written.
func FindTrees(path string) ([]Tree, error) {
	info, err := vfs.Stat(path)
	if err == nil && info.IsDir() {
		files, err := vfs.ReadDir(path)
		if err != nil {
			return nil, err
		}
		var found []Tree
		for _, f := range files {
			name, ok := strings.CutSuffix(f.Name(), TreeExt)
			if ok && name != "" && !f.IsDir() {
				found = append(found, Tree{path, name})
			}
		}
		slices.SortFunc(found, func(a, b Tree) int { return strings.Compare(a.Name, b.Name) })
		return found, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	dir, name := filepath.Split(path)
	t := Tree{filepath.Clean(dir), strings.TrimSuffix(name, TreeExt)}
	if t.Name == "" {
		return nil, nil
	}
	if t.Name == name {
		if _, found, err := Lookup(t.Dir, name); found || err != nil {
			return nil, err
		}
	}
	switch info, err := vfs.Stat(t.Path()); {
	case errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir():
		return nil, nil
	case err != nil:
		return nil, err
	}
	return []Tree{t}, nil
}

// LookupTree reports whether dir has a side archive called name. The error is ErrForeign if another file has its name.
func LookupTree(dir, name string) (t Tree, found bool, err error) {
	found, err = isThere(dir, name, TreeExt)
	return Tree{dir, name}, found, err
}

// InstallTree makes file, which must have been synced, the side archive name of dir. It replaces the one that is there now if replaces,
// called with what is known of that file, is true; else the error is ErrExists. A file that is no side archive stays, and the error is
// ErrForeign. complete, called in the locked directory, says whether the archives that it refers to are there; its error is returned.
func InstallTree(dir, name string, file *Temp, replaces func(now fs.FileInfo) bool, complete func() error) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return locked(dir, func(_ bool) error {
		t, found, err := LookupTree(dir, name)
		if err != nil {
			return err
		}
		if found {
			now, err := vfs.Lstat(t.Path())
			if err != nil {
				return err
			}
			found = replaces(now)
		}
		if err := complete(); err != nil {
			return err
		}
		if err := asErrExists(file.Install(t.Path(), found)); err != nil {
			return err
		}
		return vfs.SyncDir(dir)
	})
}
