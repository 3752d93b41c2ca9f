package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"orcomgo/bins/commit"
	"orcomgo/compress"
)

// newFile is a file to be written.
type newFile struct {
	path    string
	content []byte
	access  commit.Access
}

// writeNew writes files, and the directories that they are in if there are none. They have their names once all of them are complete, so
// a disk that is full leaves none of them.
func writeNew(files []newFile, replace bool) (err error) {
	temps := make([]*commit.Temp, len(files))
	for i, f := range files {
		if _, err := compress.CheckNew(f.path, replace); err != nil {
			return err
		}
		made, dirErr := commit.MakeDir(filepath.Dir(f.path))
		if dirErr != nil {
			return dirErr
		}
		defer func() {
			if err != nil {
				made.Undo()
			}
		}()
		t, err := commit.NewTemp(f.path)
		if err != nil {
			return err
		}
		defer t.Discard()
		t.Restrict(f.access)
		if _, err := t.Write(f.content); err != nil {
			return err
		}
		if err := t.Sync(); err != nil {
			return err
		}
		temps[i] = t
	}
	for i, f := range files {
		err := temps[i].Install(f.path, replace)
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%s: %w", f.path, compress.ErrFileExists)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
