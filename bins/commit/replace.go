package commit

import (
	"fmt"
	"path/filepath"

	"orcomgo/bins/vfs"
)

// MayReplace says whether an archive may be replaced. If it is nil, none may, and the error is ErrExists. Else it is called in the locked
// directory when archive name of dir is there: by Begin, and again before the new one takes its place. by is the ID of the new packed
// archive; it is zero in Begin and for bins. If it returns an error, that is the error, and the older archive stays.
type MayReplace func(dir, name string, by [idLen]byte) error

// Forced returns what a flag such as --force and a MayReplace that may be nil mean together: without force no archive is replaced, with it
// any that may lets be replaced.
func Forced(force bool, may MayReplace) MayReplace {
	switch {
	case !force:
		return nil
	case may == nil:
		return func(string, string, [idLen]byte) error { return nil }
	}
	return may
}

// checkReplaceable returns ErrForeign if a file that is not an archive's has the name of one of
// the files of archive name, and ErrExists if writing stage s would replace an archive and
// replace is nil; else what replace returns of the ID of the new archive, if it would replace one.
func checkReplaceable(dir, name string, s Stage, replace MayReplace, by [idLen]byte) error {
	replaces := false
	for other := range stages {
		for _, ext := range exts[other] {
			there, err := isThere(dir, name, ext)
			if err != nil {
				return err
			}
			// Bins replace everything of their name; a packed archive, only a packed one.
			replaces = replaces || there && (s == Bins || other == Packed)
		}
	}
	if _, err := isThere(dir, name, ParityExt); err != nil {
		return err
	}
	switch {
	case !replaces:
		return nil
	case replace == nil:
		return fmt.Errorf("%s: %w", filepath.Join(dir, name), ErrExists)
	}
	return replace(dir, name, by)
}

// isThere reports whether there is a file of archive name with an extension. The error is ErrForeign if that is no file of an archive.
func isThere(dir, name, ext string) (bool, error) {
	path := filepath.Join(dir, name+ext)
	if _, err := vfs.Lstat(path); err != nil {
		return false, ignoreMissing(err)
	}
	ours, err := isFileOf(dir, name, ext)
	if err == nil && !ours {
		err = fmt.Errorf("%s: %w", path, ErrForeign)
	}
	return ours, err
}
