package compress

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/compress/archive"
	"orcomgo/compress/parity"
	"orcomgo/compress/restoring"
)

type (
	// Repaired says what Repair or Protect did to a file.
	Repaired = parity.Repaired
	// RepairOptions control Repair and Protect.
	RepairOptions = parity.RepairOptions
	// Salvaged is a file that Salvage wrote.
	Salvaged = restoring.Salvaged
)

// Repair makes the files of a packed archive, and its search index, what they were when they were written, as far as parity and the copies
// of o.From allow. What is left of a damaged file is not touched where it can't be.
func Repair(e commit.Entry, o RepairOptions) ([]Repaired, error) {
	list, err := archive.RepairArchive(e, o)
	if err != nil {
		return nil, err
	}
	if index := e.Path() + commit.IndexExt; exists(index) && exists(parity.Path(index)) {
		more, err := parity.Repair(index, o)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// Protect writes the parity of a packed archive and of its search index, o.Share of each, where there is not as much. What is damaged is
// not protected: the error wraps ErrCorrupt.
func Protect(ctx context.Context, e commit.Entry, o RepairOptions) ([]Repaired, error) {
	if !e.Has[commit.Packed] {
		return nil, fmt.Errorf("%s: %w: it is not packed", e.Path(), ErrNotArchive)
	}
	status, err := VerifyQuick(ctx, e, VerifyOptions{Threads: o.Threads, Memory: o.Memory})
	if err != nil {
		return nil, err
	}
	data := e.Path() + archive.BulkSuffix
	for _, s := range status {
		if !s.OK && s.Name != parity.Path(data) {
			return nil, fmt.Errorf("%s: it is damaged, so it is not protected as it is (orcomgo repair): %s: %w", e.Path(), s.Problem,
				ErrCorrupt)
		}
	}
	r, err := archive.OpenEntry(e)
	if err != nil {
		return nil, err
	}
	id := r.Manifest().ID
	r.Close()
	var list []Repaired
	for _, path := range []string{data, e.Path() + commit.IndexExt} {
		if !exists(path) {
			continue
		}
		one, err := parity.ProtectAnew(path, id, o)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// exists reports whether there is a file at path.
func exists(path string) bool {
	_, err := vfs.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// Salvage restores what is whole of each record of a damaged archive, to files in outDir whose names say what they lack. It returns them.
func Salvage(ctx context.Context, path string, o UnpackOptions) ([]Salvaged, error) {
	return restoring.Salvage(ctx, path, o)
}
