package commit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orcomgo/bins/crypt"
	"orcomgo/bins/vfs"
)

// Entry is an archive that was found.
type Entry struct {
	Dir, Name string
	// Has says for each stage whether it has files. They may be damaged.
	Has [stages]bool
}

// Path returns DIR/NAME.
func (e *Entry) Path() string { return vfs.Shown(filepath.Join(e.Dir, e.Name)) }

// Find returns the archives that path leads to, sorted by name: all of a directory, or the
// one called NAME for DIR/NAME. DIR/NAME.EXT with one of the four extensions works as well.
// The error is ErrNotArchive if there is none. Nothing is written.
func Find(path string) ([]Entry, error) {
	dir, name := path, ""
	switch info, err := vfs.Stat(path); {
	case err == nil && info.IsDir():
	case err == nil || errors.Is(err, fs.ErrNotExist):
		dir, name = filepath.Split(path)
		dir = filepath.Clean(dir)
		if name == "" { // the path ends in a separator
			return nil, fmt.Errorf("%s: %w: there is no such directory", path, ErrNotArchive)
		}
	default:
		return nil, err
	}
	found, err := list(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w: there is no such directory", path, ErrNotArchive)
	}
	if err != nil {
		return nil, err
	}
	if name == "" {
		if len(found) == 0 {
			// The path of a directory that has the same name as an archive beside it.
			if e, ok := archiveBeside(path); ok {
				return []Entry{e}, nil
			}
			return nil, fmt.Errorf("%s: %w: it holds no %s and no %s file of an archive", path, ErrNotArchive, PackedMetaExt, BinsMetaExt)
		}
		return found, nil
	}
	if e, ok := findName(found, name); ok {
		return []Entry{e}, nil
	}
	if info, err := vfs.Stat(path); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s: %w: it is not a directory, nor a file of an archive", path, ErrNotArchive)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: %w: there is no such directory", path, ErrNotArchive)
	}
	return nil, fmt.Errorf("%s: %w: there is no %s; %s holds %s", path, ErrNotArchive, name, filepath.Clean(dir), nameList(found))
}

// Lookup returns archive name of dir; found is false if there is none. Nothing is written.
func Lookup(dir, name string) (e Entry, found bool, err error) {
	all, err := list(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if i := slices.IndexFunc(all, func(e Entry) bool { return e.Name == name }); i >= 0 {
		return all[i], true, nil
	}
	return Entry{}, false, err
}

// findName returns the entry called name, or whose file is called name.
func findName(found []Entry, name string) (Entry, bool) {
	i := slices.IndexFunc(found, func(e Entry) bool { return e.Name == name })
	if ext := filepath.Ext(name); i < 0 && (slices.Contains(exts[Bins][:], ext) || slices.Contains(exts[Packed][:], ext)) {
		i = slices.IndexFunc(found, func(e Entry) bool { return e.Name+ext == name })
	}
	if i < 0 {
		return Entry{}, false
	}
	return found[i], true
}

// archiveBeside returns the archive DIR/NAME for the path of a directory DIR/NAME.
func archiveBeside(path string) (Entry, bool) {
	dir, name := filepath.Split(path)
	if name == "" || name == "." || name == ".." {
		return Entry{}, false
	}
	found, err := list(filepath.Clean(dir))
	if err != nil {
		return Entry{}, false
	}
	return findName(found, name)
}

// One is Find for exactly one archive: if path is a directory of several, the error wraps
// ErrSeveral and lists them.
func One(path string) (Entry, error) {
	found, err := Find(path)
	if err != nil {
		return Entry{}, err
	}
	if len(found) > 1 {
		return Entry{}, fmt.Errorf("%s: %w (%s): name one of them, as in %s", path, ErrSeveral, nameList(found), found[0].Path())
	}
	return found[0], nil
}

// nameList lists at most a few names.
func nameList(found []Entry) string {
	var names []string
	for _, e := range found {
		names = append(names, e.Name)
	}
	return FirstNames(names, 8)
}

// FirstNames lists so many names at most, and says how many more there are.
func FirstNames(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// list finds the archives in dir. A pair of files is one of an archive's stages if either
// begins as such a file does, or if both exist. A data file of bins alone can't be read and
// is not listed.
func list(dir string) ([]Entry, error) {
	files, err := vfs.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	at := make(map[string]int)
	var found []Entry
	there := make(map[string]bool, len(files))
	for _, f := range files {
		there[f.Name()] = !f.IsDir()
	}
	for _, f := range files {
		for s := range stages {
			for _, ext := range exts[s] {
				name, ok := strings.CutSuffix(f.Name(), ext)
				if !ok || name == "" || f.IsDir() || (s == Bins && ext == BinsDataExt && !there[name+BinsMetaExt]) {
					continue
				}
				if i, ok := at[name]; ok && found[i].Has[s] {
					continue
				}
				if !there[name+exts[s][0]] || !there[name+exts[s][1]] {
					id, err := identify(filepath.Join(dir, f.Name()))
					if errors.Is(err, crypt.ErrKey) { // whoever reads it says so
						id.ext, err = ext, nil
					}
					if err != nil && !errors.Is(err, os.ErrPermission) {
						return nil, err
					}
					if id.ext != ext && ext == PackedDataExt && there[name+ParityExt] { // which may restore its first bytes
						if parity, err := identify(filepath.Join(dir, name+ParityExt)); err == nil && parity.ext == ParityExt {
							id.ext = ext
						}
					}
					if id.ext != ext {
						continue
					}
				}
				i, ok := at[name]
				if !ok {
					i = len(found)
					at[name] = i
					found = append(found, Entry{Dir: dir, Name: name})
				}
				found[i].Has[s] = true
			}
		}
	}
	slices.SortFunc(found, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return found, nil
}

// BinsData returns the path of the data file that belongs to the meta file with the given
// ID: NAME.bdna, or the name that it has while its commit is being completed.
func BinsData(dir, name string, id [idLen]byte) string {
	final := filepath.Join(dir, name+BinsDataExt)
	for _, path := range []string{final, pendingPath(dir, name, id)} {
		if found, err := identify(path); err == nil && found.ext == BinsDataExt && found.id == id {
			return path
		}
	}
	return final
}

// IsArchiveFile reports whether a file is one of an archive, or of one that is being written: it has a name of such a file, and begins or
// ends as one, or is empty where it must be what is left of one.
func IsArchiveFile(path string) bool {
	dir, file := filepath.Split(path)
	ext := filepath.Ext(file)
	if ours, err := isFileOf(filepath.Clean(dir), strings.TrimSuffix(file, ext), ext); ours || err != nil {
		return ours
	}
	_, _, pending := parsePending(file)
	id, err := identify(path)
	return err == nil && id.ext != "" && (pending || isTempName(file))
}
