package commit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orcomgo/bins/vfs"
)

// AfterCommitError is an error after the commit point: the new archive is complete and can
// be read, but something that had to follow failed.
type AfterCommitError struct {
	Archive string // its path, DIR/NAME
	Err     error
}

func (e *AfterCommitError) Error() string {
	return fmt.Sprintf("%v (the archive %s is complete and can be read)", e.Err, e.Archive)
}

func (e *AfterCommitError) Unwrap() error { return e.Err }

// Begin prepares writing the files of stage s of archive name to dir: it completes or
// removes what an interrupted run left of that archive. If there is an archive of that name,
// replace says whether it may be replaced; if a file that is not an archive's has one of
// its names, ErrForeign.
func Begin(dir, name string, s Stage, replace MayReplace) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return locked(dir, func(held bool) error {
		if err := completeInterrupted(dir, name, held); err != nil {
			return err
		}
		if err := checkReplaceable(dir, name, s, replace, [idLen]byte{}); err != nil {
			return err
		}
		return RemoveStale(dir)
	})
}

// InstallBins makes data and meta, which must have been synced, the bins of archive name in
// dir, as Begin and replace allow. id is that of the archive, which both files have. A
// packed archive of that name, which the bins replace, is removed. An error after the
// commit point is an AfterCommitError.
func InstallBins(dir, name string, id [idLen]byte, data, meta *Temp, replace MayReplace) error {
	return locked(dir, func(held bool) error {
		if err := checkReplaceable(dir, name, Bins, replace, [idLen]byte{}); err != nil {
			return err
		}
		if err := completeInterrupted(dir, name, held); err != nil {
			return err
		}
		meta.Restrict(data.access)
		pending := pendingPath(dir, name, id)
		if err := data.Install(pending, false); err != nil {
			return err
		}
		err := vfs.SyncDir(dir) // the order of the two names must survive a power cut
		if err == nil {
			err = asErrExists(meta.Install(filepath.Join(dir, name+BinsMetaExt), replace != nil))
		}
		if err != nil {
			// A network file system may report an error of a rename that it has carried out.
			switch is, e := identify(filepath.Join(dir, name+BinsMetaExt)); {
			case e == nil && is.ext == BinsMetaExt && is.id == id:
				return afterCommit(dir, name, err)
			case e == nil:
				vfs.Remove(pending)
			}
			return err
		}
		err = vfs.SyncDir(dir)
		if err == nil {
			err = completeInterrupted(dir, name, held)
		}
		if err == nil && replace != nil {
			err = removeStage(dir, name, Packed)
		}
		return afterCommit(dir, name, err)
	})
}

// InstallPacked makes data, meta and parity, which must have been synced, the packed archive name in
// dir, as Begin and replace allow. id is that of the archive. Where meta or parity is nil, an older one is removed. An error after the
// commit point is an AfterCommitError.
func InstallPacked(dir, name string, id [idLen]byte, data, meta, parity *Temp, replace MayReplace) error {
	return locked(dir, func(_ bool) error {
		if err := checkReplaceable(dir, name, Packed, replace, id); err != nil {
			return err
		}
		return installPacked(dir, name, data, meta, parity, replace != nil)
	})
}

// installPacked is InstallPacked in a locked directory, after the checks.
func installPacked(dir, name string, data, meta, parity *Temp, replace bool) error {
	if meta != nil {
		meta.Restrict(data.access)
	}
	if parity != nil {
		parity.Restrict(data.access)
	}
	if err := asErrExists(data.Install(filepath.Join(dir, name+PackedDataExt), replace)); err != nil {
		return err
	}
	err := vfs.SyncDir(dir)
	if err == nil && meta == nil {
		err = removeIfOurs(dir, name, PackedMetaExt)
	} else if err == nil {
		err = meta.Install(filepath.Join(dir, name+PackedMetaExt), replace)
	}
	if err == nil {
		err = vfs.SyncDir(dir)
	}
	if err == nil && parity == nil {
		err = removeIfOurs(dir, name, ParityExt)
	} else if err == nil {
		err = installBeside(dir, name, ParityExt, parity)
	}
	return afterCommit(dir, name, err)
}

// InstallAlone is InstallPacked for a packed archive without bins: it replaces bins of its name as well, so that everything
// there must be replaceable, as for bins. Call Begin for the stage Bins before.
//
// An older packed archive without bins has only its data file while that is being replaced, so dataIsWhole must say
// whether that alone can be read. If it can't, an interruption leaves the new data file beside the older meta file.
// Where there are older bins, they are the archive until their meta file is removed.
func InstallAlone(dir, name string, id [idLen]byte, data, meta, parity *Temp, replace MayReplace, dataIsWhole bool) error {
	return locked(dir, func(held bool) error {
		if err := checkReplaceable(dir, name, Bins, replace, id); err != nil {
			return err
		}
		if err := completeInterrupted(dir, name, held); err != nil {
			return err
		}
		if replace == nil {
			return installPacked(dir, name, data, meta, parity, false)
		}
		bins, err := identify(filepath.Join(dir, name+BinsMetaExt))
		if err != nil {
			return err
		}
		older := bins.ext == BinsMetaExt
		oldData, err := isFileOf(dir, name, BinsDataExt) // which it may not be without its meta file
		if err != nil {
			return err
		}
		if dataIsWhole && !older {
			if err := removeIfOurs(dir, name, PackedMetaExt); err != nil {
				return err
			}
		}
		if err := installPacked(dir, name, data, meta, parity, true); err != nil {
			var after *AfterCommitError
			if older && errors.As(err, &after) {
				err = olderBins(dir, name, after.Err)
			}
			return err
		}
		if err := removeIfOurs(dir, name, BinsMetaExt); err != nil {
			if older {
				return olderBins(dir, name, err)
			}
			return afterCommit(dir, name, err)
		}
		if !oldData {
			return nil
		}
		return afterCommit(dir, name, removeDurably(dir, name, BinsDataExt))
	})
}

// olderBins is the error for bins that could not be removed after they were replaced.
func olderBins(dir, name string, err error) error {
	return fmt.Errorf("%w (the new archive %s is complete, but the older bins are still beside it)", err, filepath.Join(dir, name))
}

// InstallMeta puts meta, which must have been synced, in the place of the .cmeta file that
// archive name has lost.
func InstallMeta(dir, name string, meta *Temp) error {
	meta.Restrict(AccessTo(filepath.Join(dir, name+PackedDataExt)))
	if err := meta.Install(filepath.Join(dir, name+PackedMetaExt), false); err != nil {
		return err
	}
	return vfs.SyncDir(dir)
}

// InstallBeside makes file, which must have been synced, the search index (IndexExt) of archive name in dir, or the parity (ParityExt) of
// that archive or of the file called name. It replaces an older one; a file that is none stays, and the error is ErrForeign.
func InstallBeside(dir, name, ext string, file *Temp) error {
	return locked(dir, func(_ bool) error { return installBeside(dir, name, ext, file) })
}

// installBeside gives a file the name with an extension, in a locked directory, of which it replaces an older one.
func installBeside(dir, name, ext string, file *Temp) error {
	there, err := isThere(dir, name, ext)
	if err != nil {
		return err
	}
	if err := file.Install(filepath.Join(dir, name+ext), there); err != nil {
		return err
	}
	return vfs.SyncDir(dir)
}

// ReplaceFile makes file, which must have been synced, the file that was is, with its mode. The error is ErrBusy if that was replaced by
// another one since it was opened.
func ReplaceFile(was *vfs.File, file *Temp) error {
	if was.IsRemote() {
		return file.Install(was.Name(), true)
	}
	dir := filepath.Dir(was.Name())
	return locked(dir, func(_ bool) error {
		old, err := was.Stat()
		if err != nil {
			return err
		}
		is, err := vfs.Stat(was.Name())
		if err != nil {
			return err
		}
		if !os.SameFile(old, is) {
			return fmt.Errorf("%s: %w", was.Name(), ErrBusy)
		}
		if err := file.SetMode(vfs.ModeBits(old.Mode())); err != nil {
			return err
		}
		if err := file.Install(was.Name(), true); err != nil {
			return err
		}
		return vfs.SyncDir(dir)
	})
}

func afterCommit(dir, name string, err error) error {
	if err == nil {
		return nil
	}
	return &AfterCommitError{filepath.Join(dir, name), err}
}

// asErrExists adds ErrExists to an error that wraps fs.ErrExist.
func asErrExists(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %w", err, ErrExists)
	}
	return err
}

// completeInterrupted completes a commit of bins of archive name that was interrupted after the commit
// point. If the directory is locked, it also removes the data file of one that was
// interrupted before: without a lock another process might be about to commit it.
func completeInterrupted(dir, name string, locked bool) error {
	files, err := vfs.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		of, id, ok := parsePending(f.Name())
		if !ok || of != name {
			continue
		}
		pending := filepath.Join(dir, f.Name())
		if found, err := identify(pending); err != nil {
			return err
		} else if found.ext != BinsDataExt || found.id != id {
			continue // another file
		}
		if err := completePending(dir, name, pending, id, locked); err != nil {
			return err
		}
	}
	return nil
}

// completePending renames the data file with the ID given to its final name if the meta file has
// that ID, else it removes it.
func completePending(dir, name, pending string, id [idLen]byte, locked bool) error {
	meta, err := identify(filepath.Join(dir, name+BinsMetaExt))
	if err != nil {
		return err
	}
	if meta.ext != BinsMetaExt || meta.id != id {
		if !locked {
			return nil
		}
		return ignoreMissing(vfs.Remove(pending))
	}
	final := filepath.Join(dir, name+BinsDataExt)
	ours, err := isFileOf(dir, name, BinsDataExt)
	if err != nil {
		return err
	}
	if ours {
		err = vfs.Rename(pending, final)
	} else {
		err = vfs.RenameNew(pending, final) // a file that has the name is not an archive's
	}
	if err != nil {
		return err
	}
	return vfs.SyncDir(dir)
}

// removeStage removes the files of a stage of archive name, which a newer archive replaces, the meta file first.
func removeStage(dir, name string, s Stage) error {
	data, err := isFileOf(dir, name, exts[s][0]) // which it may not be without its meta file
	if err != nil {
		return err
	}
	if err := removeIfOurs(dir, name, exts[s][1]); err != nil || !data {
		return err
	}
	return removeDurably(dir, name, exts[s][0])
}

// removeIfOurs removes the file of archive name with an extension, and makes that durable. A file that is not an archive's stays.
func removeIfOurs(dir, name, ext string) error {
	ours, err := isFileOf(dir, name, ext)
	if err != nil || !ours {
		return err
	}
	return removeDurably(dir, name, ext)
}

func removeDurably(dir, name, ext string) error {
	if err := ignoreMissing(vfs.Remove(filepath.Join(dir, name+ext))); err != nil {
		return err
	}
	return vfs.SyncDir(dir)
}

// RemoveBins removes the bins of archive name, the meta file first, so that an interruption
// leaves no bins rather than damaged ones. Files that have been replaced since data and meta
// were opened are kept. meta may be nil if the meta file is gone already.
func RemoveBins(dir, name string, data, meta *vfs.File) error {
	return locked(dir, func(_ bool) error {
		for _, f := range []*vfs.File{meta, data} {
			if f == nil {
				continue
			}
			if err := removeOpen(f); err != nil {
				return err
			}
			if err := vfs.SyncDir(dir); err != nil {
				return err
			}
		}
		return nil
	})
}

// removeOpen removes the file that f is, unless its name belongs to another one by now.
func removeOpen(f *vfs.File) error {
	was, err := f.Stat()
	if err != nil {
		return err
	}
	is, err := vfs.Lstat(f.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !os.SameFile(was, is) {
		return nil
	}
	return ignoreMissing(vfs.Remove(f.Name()))
}

// RemoveBinsData removes the data file of bins whose meta file is gone, if it is the one with
// the ID given: a removal of the bins with that ID was interrupted.
func RemoveBinsData(dir, name string, id [idLen]byte) error {
	path := filepath.Join(dir, name+BinsDataExt)
	found, err := identify(path)
	if err != nil || found.ext != BinsDataExt || found.id != id {
		return err
	}
	f, err := vfs.OpenRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return RemoveBins(dir, name, f, nil)
}

// TakesName returns an error if path, in whatever way it is written, is a name that one of
// the archive's files in dir has or will get.
func TakesName(path, dir, name string) error {
	base := filepath.Base(path)
	ext, ok := strings.CutPrefix(base, name)
	if !ok || !slices.Contains(slices.Concat(exts[Bins][:], exts[Packed][:], []string{ParityExt}), ext) {
		return nil
	}
	there, err := vfs.Stat(filepath.Dir(path))
	var here fs.FileInfo
	if err == nil {
		here, err = vfs.Stat(dir)
	}
	if err != nil {
		return ignoreMissing(err)
	}
	if os.SameFile(there, here) {
		return fmt.Errorf("%s: this is the name of one of the files of the archive %s: choose another directory",
			path, filepath.Join(dir, name))
	}
	return nil
}
