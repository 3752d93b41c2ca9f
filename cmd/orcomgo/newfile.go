package main

import (
	"errors"
	"fmt"
	"io"
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
		t, err := commit.WriteTemp(f.path, nil, func(w io.Writer) error {
			_, err := w.Write(f.content)
			return err
		})
		if err != nil {
			return err
		}
		defer t.Discard()
		t.Restrict(f.access)
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
