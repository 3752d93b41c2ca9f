package commit

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"orcomgo/bins/vfs"
)

// Made are the directories that MakeDir made, the outermost first.
type Made []string

// MakeDir makes dir and the directories above it that are missing, and makes their names
// durable. After an error nothing of that is left.
func MakeDir(dir string) (made Made, err error) {
	if vfs.IsRemote(dir) {
		return nil, nil // it is there once something is in it
	}
	var missing []string
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		info, err := vfs.Stat(d)
		if err == nil && !info.IsDir() {
			return nil, fmt.Errorf("%s: it is not a directory", d)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || d == filepath.Dir(d) {
			return nil, err
		}
		missing = append(missing, d)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		err := vfs.Mkdir(missing[i], 0o777)
		if errors.Is(err, fs.ErrExist) {
			continue // another process was faster
		}
		if err == nil {
			made = append(made, missing[i])
			err = vfs.SyncDir(filepath.Dir(missing[i]))
		}
		if err != nil {
			made.Undo()
			return nil, err
		}
	}
	if len(made) > 0 {
		IfAbandoned(made.Undo)
	}
	return made, nil
}

// Undo removes the directories again, unless something is in them.
func (m Made) Undo() {
	for i := len(m) - 1; i >= 0; i-- {
		if vfs.Remove(m[i]) != nil {
			return
		}
	}
}

// lockTimeout is how long lockDir waits for another process. A commit takes well under a second.
var lockTimeout = time.Minute

// lockDir makes this process the only one to change the names of dir's archives until unlock
// is called. held is false on a file system without locks.
func lockDir(dir string) (unlock func(), held bool, err error) {
	if vfs.IsRemote(dir) { // files are put there in one step each, which nothing can lock
		return func() {}, false, nil
	}
	d, err := vfs.Open(dir)
	if err != nil {
		return nil, false, err
	}
	for end := time.Now().Add(lockTimeout); ; time.Sleep(20 * time.Millisecond) {
		locked, err := d.Lock()
		switch {
		case locked || errors.Is(err, errors.ErrUnsupported):
			changing.RLock()
			return func() {
				changing.RUnlock()
				d.Unlock()
				d.Close()
			}, locked, nil
		case err == nil && time.Now().After(end):
			err = fmt.Errorf("%s: %w", dir, ErrBusy)
		}
		if err != nil {
			d.Close()
			return nil, false, err
		}
	}
}

// locked calls f while this process is the only one to change the names of dir's archives; held is that of lockDir.
func locked(dir string, f func(held bool) error) error {
	unlock, held, err := lockDir(dir)
	if err != nil {
		return err
	}
	defer unlock()
	return f(held)
}
