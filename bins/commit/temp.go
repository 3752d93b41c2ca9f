package commit

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"orcomgo/bins/crypt"
	"orcomgo/bins/vfs"
)

// Temp is a file that is being written in the directory where it will get its name. Where the
// system allows that it has no name until then, so that nothing is left of it when the process
// is killed. Elsewhere it has a random name, and is locked as long as it is in use.
type Temp struct {
	*vfs.File
	dir     string
	path    string // the random name; "" if there is none
	over    func() // of IfAbandoned, for the random name
	access  Access // who may read it once it has its name
	modeSet bool   // its mode is what it is to be
}

// How random names begin and end.
const (
	tempPrefix = ".orcomgo-"
	tempSuffix = ".tmp"
)

// tempPath returns a random name in dir.
func tempPath(dir string) string {
	var random [12]byte
	rand.Read(random[:]) // does not fail
	return filepath.Join(dir, tempPrefix+hex.EncodeToString(random[:])+tempSuffix)
}

// NewTemp makes a file that will be called path.
func NewTemp(path string) (*Temp, error) { return newTemp(filepath.Dir(path), path) }

// WriteTemp is NewTemp of a file that has what write writes to it, encrypted by e unless that is nil, and is synced.
func WriteTemp(path string, e *crypt.Envelope, write func(w io.Writer) error) (*Temp, error) {
	t, err := NewTemp(path)
	if err != nil {
		return nil, err
	}
	t.EncryptAs(e)
	if err = write(t); err == nil {
		err = t.Sync()
	}
	if err != nil {
		t.Discard()
		return nil, err
	}
	return t, nil
}

// newTemp makes a file in dir; path is for messages.
func newTemp(dir, path string) (*Temp, error) {
	f, err := vfs.CreateUnnamed(dir, path)
	if err == nil {
		return &Temp{File: f, dir: dir}, nil
	}
	if !errors.Is(err, errors.ErrUnsupported) {
		return nil, err
	}
	for {
		t := &Temp{dir: dir, path: tempPath(dir)}
		if t.File, err = vfs.Create(t.path); errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		// RemoveStale of another process removes files that are not locked.
		if _, err := t.Lock(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			t.Discard()
			return nil, err
		}
		if _, err := vfs.Lstat(t.path); errors.Is(err, fs.ErrNotExist) {
			t.Close()
			continue
		}
		path := t.path
		t.over = IfAbandoned(func() { vfs.Remove(path) })
		return t, nil
	}
}

// NewUnnamed makes a file for the time that it is open, in dir; path is for messages. It must not be installed.
// Where files can't be made without a name, it loses its random one at once, if the system allows that.
func NewUnnamed(dir, path string) (*Temp, error) {
	t, err := newTemp(dir, path)
	if err == nil && t.path != "" && vfs.Remove(t.path) == nil {
		t.noName()
	}
	return t, err
}

// SendEarly has the file sent to the remote place where it will get its name while it is written, see vfs.File.
func (t *Temp) SendEarly(kept int64) {
	if t.path == "" {
		t.over = IfAbandoned(t.File.SendEarly(kept))
	}
}

// Install gives the file its name, under which it stays open. The content must have been
// synced. If a file has that name already it is replaced, or without replace the error
// wraps fs.ErrExist. A directory is never replaced.
func (t *Temp) Install(path string, replace bool) error {
	// Until now the file is its owner's. Where a file system has no permissions, that is left.
	if info, err := t.Stat(); err == nil && !t.modeSet {
		_ = t.SetMode(t.access.permissions(info))
	}
	if vfs.IsRemote(path) {
		return t.Put(path, replace)
	}
	if t.path == "" {
		if !replace {
			return t.Link(path)
		}
		// A file without a name can't replace another in one step.
		temp := tempPath(t.dir)
		if err := t.Link(temp); err != nil {
			return vfs.OfPath(path, err)
		}
		t.path = temp
	}
	rename := vfs.RenameNew
	if replace {
		rename = vfs.Rename
	}
	if err := rename(t.path, path); err != nil {
		return err
	}
	t.noName()
	return nil
}

// noName notes that the file has no random name any more.
func (t *Temp) noName() {
	t.path = ""
	if t.over != nil {
		t.over()
	}
}

// Discard closes the file and removes its random name, if it has one. After Install it only
// closes it.
func (t *Temp) Discard() {
	if t.path != "" {
		vfs.Remove(t.path)
	}
	t.noName()
	t.Close()
}

// Replace calls create with a random name in the directory of path, and gives what that made the name path. A file, link or FIFO that has
// it is replaced, and stays if create or the renaming fails. A directory is never replaced. Errors name path.
func Replace(path string, create func(path string) error) error {
	temp := tempPath(filepath.Dir(path))
	if err := create(temp); err != nil {
		return vfs.OfPath(path, err)
	}
	err := vfs.Rename(temp, path)
	// A hard link to the file that is called path already is left under both names.
	if gone := ignoreMissing(vfs.Remove(temp)); err == nil {
		err = vfs.OfPath(path, gone)
	}
	return err
}

// isTempName reports whether a file of this name may be one of tempPath.
func isTempName(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}

// RemoveStale removes the temporary files of archives that killed runs left in dir: those
// with a random name that begin as a file of an archive does and that no process has locked.
func RemoveStale(dir string) error {
	files, err := vfs.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range files {
		if isTempName(e.Name()) && e.Type().IsRegular() {
			if err := removeStale(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func removeStale(path string) error {
	f, err := vfs.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	id, err := identifyOpen(f, info.Size())
	if err != nil || id.ext == "" && !id.encrypted {
		return err
	}
	if locked, err := f.Lock(); err != nil || !locked {
		if errors.Is(err, errors.ErrUnsupported) {
			return nil // it may be in use
		}
		return err
	}
	return ignoreMissing(vfs.Remove(path))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
