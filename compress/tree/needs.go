package tree

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/bins/vfs"
	"orcomgo/compress"
)

// Needs knows which archives of a directory the side archives there refer to. It looks at the directory whenever it is asked, since other
// runs may write there, but reads each side archive once. Its methods are safe for concurrent use.
type Needs struct {
	dir string
	own []string // the names of side archives that don't count

	mu   sync.Mutex
	read map[string]*sideNeeds // by the name of the side archive
}

// sideNeeds is what a side archive refers to.
type sideNeeds struct {
	path     string
	file     fs.FileInfo         // of the side archive
	archives map[string]neededOf // by name
	err      error               // why that is not known
}

// neededOf is what a side archive needs of an archive: that it has the ID, or these files.
type neededOf struct {
	id    [16]byte
	files archivedFiles
}

// NewNeeds returns the Needs of a directory. The side archives of the names given don't count: they are those that the caller writes.
func NewNeeds(dir string, own ...string) *Needs {
	return &Needs{dir: dir, own: own, read: make(map[string]*sideNeeds)}
}

// Has reports whether a side archive refers to an archive of this name, whether it is there or not.
func (n *Needs) Has(name string) bool {
	list, _ := n.sides() // on an error archiving says what is wrong
	return slices.ContainsFunc(list, func(s *sideNeeds) bool {
		_, ok := s.archives[name]
		return ok
	})
}

// Read reads the side archives. Check need not do that then in a locked directory, where other runs wait.
func (n *Needs) Read() {
	_, _ = n.sides() // on an error Check says what is wrong
}

// Check returns an error that wraps commit.ErrNeeded if a side archive refers to archive name as it is now, or can't be read, so that this
// is not known. It is nil if the archive would be replaced by one with the ID that the side archive refers to, since that has the same
// content; by may be zero for an ID that is not known.
func (n *Needs) Check(name string, by [16]byte) error {
	list, err := n.sides()
	if err != nil {
		return err
	}
	path := filepath.Join(n.dir, name)
	for _, s := range list {
		if s.err != nil {
			return fmt.Errorf("%s: %w, or it may: %w", path, commit.ErrNeeded, s.err)
		}
		needed, ok := s.archives[name]
		if !ok || needed.id == by {
			continue
		}
		now, info, err := packedNow(n.dir, name)
		if err != nil {
			return err
		}
		if info == nil || needed.id == now || needed.files.in(info) {
			return fmt.Errorf("%s: %w: %s", path, commit.ErrNeeded, s.path)
		}
	}
	return nil
}

// packedNow returns the ID of the packed archive name, and describes it; info is nil if the archive can't be read. The ID of no archive is
// zero.
func packedNow(dir, name string) (id [16]byte, info *compress.Information, err error) {
	e, found, err := commit.Lookup(dir, name)
	if err != nil || !found || !e.Has[commit.Packed] {
		return id, new(compress.Information), err
	}
	e.Has[commit.Bins] = false
	info, err = compress.Info(e)
	if compress.IsDamage(err) {
		return id, nil, nil
	}
	if err != nil {
		return id, nil, err
	}
	_, err = hex.Decode(id[:], []byte(info.ID))
	return id, info, err
}

// sides returns what the side archives that count refer to.
func (n *Needs) sides() (list []*sideNeeds, err error) {
	found, err := commit.FindTrees(n.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, t := range found {
		if slices.Contains(n.own, t.Name) {
			continue
		}
		s, err := n.of(t)
		if err != nil {
			return nil, err
		}
		if s != nil {
			list = append(list, s)
		}
	}
	return list, nil
}

// of returns what a side archive refers to; nil if it is gone.
func (n *Needs) of(t commit.Tree) (*sideNeeds, error) {
	if s := n.read[t.Name]; s != nil {
		now, err := vfs.Stat(t.Path())
		if err == nil && os.SameFile(s.file, now) && s.file.Size() == now.Size() && s.file.ModTime().Equal(now.ModTime()) {
			return s, nil
		}
	}
	delete(n.read, t.Name)
	s := &sideNeeds{path: t.Path(), archives: make(map[string]neededOf)}
	r, err := Open(t, Options{Threads: 1})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, parse.ErrCorrupt) || errors.Is(err, parse.ErrVersion):
		s.err = err
		return s, nil
	case err != nil:
		return nil, err
	}
	defer r.Close()
	if s.file, err = r.f.Stat(); err != nil {
		return nil, err
	}
	files := r.files()
	for k, a := range r.Archives {
		if a.ID != [16]byte{} {
			s.archives[a.Name] = neededOf{a.ID, files[k]}
		}
	}
	n.read[t.Name] = s
	return s, nil
}
