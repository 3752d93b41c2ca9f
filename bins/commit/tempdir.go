package commit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"orcomgo/bins/vfs"
)

// TempDir is a directory for temporary files. A process that is killed leaves it behind; the next one that makes one beside it with the
// same prefix removes it.
type TempDir struct {
	Path string
	mark *vfs.File // locked as long as the directory is in use
}

// markName is the name of the file that shows whether a temporary directory is in use.
const markName = ".orcomgo-in-use"

// markText is what it holds once it is locked. Locks need not hold between machines that share a file system, so it names this one.
func markText() string {
	host, _ := os.Hostname()
	return "temporary directory of orcomgo on " + host + "\n"
}

// NewTempDir makes a directory in parent, or in that of the system for "", whose name is prefix and random digits.
func NewTempDir(parent, prefix string) (d *TempDir, err error) {
	if parent == "" {
		parent = os.TempDir()
	}
	removeAbandoned(parent, prefix)
	d = new(TempDir)
	if d.Path, err = os.MkdirTemp(parent, prefix); err != nil {
		return nil, fmt.Errorf("%s: a directory for temporary files can't be made: %w", parent, vfs.Cause(err))
	}
	if d.mark, err = vfs.Create(filepath.Join(d.Path, markName)); err == nil {
		if _, err = d.mark.Lock(); err == nil {
			_, err = io.WriteString(d.mark, markText())
		}
	}
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		d.Remove()
		return nil, fmt.Errorf("%s: a directory for temporary files can't be made: %w", parent, vfs.Cause(err))
	}
	return d, nil
}

// Remove removes the directory and all that is in it.
func (d *TempDir) Remove() error {
	err := os.RemoveAll(d.Path)
	if d.mark != nil {
		d.mark.Close()
	}
	return err
}

// removeAbandoned removes the temporary directories in parent that nobody uses any more. What can't be removed stays.
func removeAbandoned(parent, prefix string) {
	list, err := vfs.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range list {
		if ok, _ := filepath.Match(prefix+"[0-9]*", e.Name()); ok && e.IsDir() {
			removeIfAbandoned(filepath.Join(parent, e.Name()))
		}
	}
}

// removeIfAbandoned removes a temporary directory, unless it is in use, or not known to be one.
func removeIfAbandoned(dir string) {
	mark, err := vfs.OpenRegular(filepath.Join(dir, markName))
	if err != nil {
		return
	}
	defer mark.Close()
	if locked, err := mark.Lock(); err != nil || !locked {
		return
	}
	want := markText()
	text, err := io.ReadAll(io.LimitReader(mark, int64(len(want))+1))
	if err == nil && string(text) == want {
		os.RemoveAll(dir)
	}
}
