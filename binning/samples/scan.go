package samples

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"orcomgo/binning"
	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/bins/vfs"
	"orcomgo/internal/tasks"
)

// Options say which entries of a directory Scan takes.
type Options struct {
	// Out is the directory that archives are written to. Files of archives in it are of the class Archive. If it is below the root and
	// there is nothing else in it, it is left out.
	Out string
	// Log, if not nil, is a file that is written meanwhile. It is left out.
	Log fs.FileInfo
	// Include leaves out what matches none of these, if there are any, and Exclude what matches one.
	Include, Exclude []Glob
	// AsIs are files that are of class Other whatever they hold.
	AsIs []Glob
}

// Scan lists what is in a directory and below it, and says of each entry what it is, files by their content.
//
// Links are not followed. A link to a file of reads outside of the tree counts as that file, so that directories of links can be archived.
// Files whose names, or those of directories above them, begin with a dot are no reads. A compressed file of reads is none either if
// another entry has the name that its text would be restored under, or that another name of the file would get then.
func Scan(root string, o Options) (*Tree, error) {
	info, err := vfs.Stat(root)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", root, vfs.Cause(err))
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: it is not a directory", root)
	}
	s := &scanner{Tree: &Tree{Root: root, Info: info}, o: o, names: make(map[vfs.FileID][]int)}
	if s.out, _ = vfs.Stat(o.Out); s.out != nil && os.SameFile(info, s.out) {
		s.outAt = "."
	}
	if s.real, err = filepath.EvalSymlinks(root); err != nil {
		return nil, fmt.Errorf("%s: %w", root, vfs.Cause(err))
	}
	s.dir("")
	s.classify()
	return s.Tree, nil
}

// scanner is the state of Scan.
type scanner struct {
	*Tree
	o     Options
	real  string               // the root without links
	out   os.FileInfo          // nil if there is none
	outAt string               // its path below the root; "." for the root, "" if it is not there
	names map[vfs.FileID][]int // of files with several names: their places in Files
}

// unreadable notes an entry that is left out for an error.
func (s *scanner) unreadable(path string, err error) {
	s.Unread = append(s.Unread, fmt.Errorf("%s: %w", path, vfs.Cause(err)))
}

// dir lists the directory with a path below the root.
func (s *scanner) dir(rel string) {
	list, err := vfs.ReadDir(filepath.Join(s.Root, rel))
	if err != nil {
		s.unreadable(filepath.Join(s.Root, rel), err)
		return
	}
	for _, e := range list {
		name := e.Name()
		if rel != "" {
			name = rel + "/" + name
		}
		info, err := vfs.Lstat(filepath.Join(s.Root, name))
		if err != nil {
			s.unreadable(filepath.Join(s.Root, name), err)
			continue
		}
		s.entry(File{Path: filepath.Join(s.Root, name), Rel: name, Info: info})
	}
}

// entry adds an entry of a directory, and what is below it.
func (s *scanner) entry(f File) {
	if s.o.Log != nil && os.SameFile(f.Info, s.o.Log) {
		return
	}
	taken := !matchesAny(s.o.Exclude, f.Rel) && (len(s.o.Include) == 0 || matchesAny(s.o.Include, f.Rel))
	switch mode := f.Info.Mode(); {
	case mode.IsDir():
		f.Class = Directory
		if matchesAny(s.o.Exclude, f.Rel) {
			s.Excluded++
			return
		}
		at := len(s.Files)
		s.Files = append(s.Files, f)
		out := s.out != nil && os.SameFile(f.Info, s.out)
		if out {
			s.outAt = f.Rel
		}
		s.dir(f.Rel)
		below := s.Files[at+1:]
		if len(below) == 0 && !taken || out && !slices.ContainsFunc(below, func(f File) bool { return f.Class != Archive }) {
			s.Files = s.Files[:at] // nothing below it is included
		}
		return
	case !taken:
		s.Excluded++
		return
	case mode&fs.ModeSymlink != 0:
		target, err := vfs.Readlink(f.Path)
		if err != nil {
			s.unreadable(f.Path, err)
			return
		}
		f.Class, f.Target = Link, target
	case mode&fs.ModeNamedPipe != 0:
		f.Class = FIFO
	case mode.IsRegular():
		f.Class = s.classOf(&f)
	default:
		s.unreadable(f.Path, fmt.Errorf("%s can't be archived: leave it out by --exclude", specialName(mode)))
		return
	}
	s.Files = append(s.Files, f)
}

// specialName says what a file is that has no content.
func specialName(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// classOf tells archives from other regular files.
func (s *scanner) classOf(f *File) Class {
	if path.Dir(f.Rel) == s.outAt && commit.IsArchiveFile(f.Path) {
		return Archive // which no other name may be a hard link to: it is not archived
	}
	if id, ok := vfs.HardLinked(f.Info); ok {
		s.names[id] = append(s.names[id], len(s.Files))
	}
	return Other
}

// hardLinks chooses one of the names of each file: one that can be a mate in a sample, else one that can be of reads, else the first. The
// others are hard links to it.
func (s *scanner) hardLinks() {
	rank := func(f *File) int {
		switch name, named := Parse(path.Base(f.Rel)); {
		case hidden(f.Rel):
			return 3
		case !named:
			return 2
		case name.Role == Single:
			return 1
		}
		return 0
	}
	for _, list := range s.names {
		chosen := slices.MinFunc(list, func(a, b int) int { return cmp.Compare(rank(&s.Files[a]), rank(&s.Files[b])) })
		for _, i := range list {
			if f := &s.Files[i]; i != chosen && f.Class == Other {
				f.Class, f.Target = HardLink, s.Files[chosen].Rel
			}
		}
	}
}

// hidden reports whether a name of a path begins with a dot.
func hidden(rel string) bool { return strings.HasPrefix(rel, ".") || strings.Contains(rel, "/.") }

// classify finds the files of reads among the others, side by side.
func (s *scanner) classify() {
	s.hardLinks()
	errs := make([]error, len(s.Files))
	tasks.Each(len(s.Files), classifiers, func(_, i int) {
		f := &s.Files[i]
		if f.Class == Other || f.Class == Link {
			errs[i] = s.look(f)
		}
	})
	there, failed, others := make(map[string]bool, len(s.Files)), make(map[string]error), make(map[string][]string)
	for i, f := range s.Files {
		there[f.Rel] = true
		if f.Class == HardLink {
			others[f.Target] = append(others[f.Target], f.Rel)
		}
		if errs[i] != nil {
			failed[s.Files[i].Rel] = errs[i]
		}
	}
	kept := s.Files[:0]
	for i, f := range s.Files {
		if f.Class == HardLink {
			errs[i] = failed[f.Target]
		}
		if errs[i] != nil {
			s.unreadable(f.Path, errs[i])
			continue
		}
		if f.Class == Reads && !takeNames(there, f.Rel, others[f.Rel]) {
			f.Class = Other
		}
		kept = append(kept, f)
	}
	s.Files = kept
}

// takeNames adds to there the paths that a file of reads and its hard links are restored under. It returns false, and adds nothing, if
// something else has or gets one of these.
func takeNames(there map[string]bool, rel string, others []string) bool {
	restored := path.Join(path.Dir(rel), binning.RestoredName(rel))
	if restored == rel {
		return true
	}
	names := []string{restored}
	for _, other := range others {
		if name := record.Renamed(rel, restored, other); name != other {
			names = append(names, name)
		}
	}
	if slices.ContainsFunc(names, func(name string) bool { return there[name] }) {
		return false
	}
	for _, name := range names {
		there[name] = true
	}
	return true
}

// classifiers is how many files are looked at side by side: looking waits more than it works.
const classifiers = 8

// look finds out whether a file, or the file outside of the tree that a link leads to, holds reads. The error is for a file that can't be
// read.
func (s *scanner) look(f *File) error {
	name, named := Parse(path.Base(f.Rel))
	if !named {
		name.Sample, _ = Stem(binning.RestoredName(f.Path))
		named = path.Ext(f.Rel) == binning.BAMExt
	}
	info := f.Info
	if f.Class == Link {
		real, err := filepath.EvalSymlinks(f.Path)
		if err != nil || real == s.real || strings.HasPrefix(real, strings.TrimSuffix(s.real, "/")+"/") {
			return nil
		}
		if info, err = vfs.Stat(real); err != nil || !info.Mode().IsRegular() {
			return nil
		}
	}
	reads, err := holdsReads(f.Path, named)
	f.NoReads = named && !reads && !hidden(f.Rel) && !matchesAny(s.o.AsIs, f.Rel)
	switch {
	case err != nil && f.Class == Link:
	case err != nil:
		return err
	case reads && !hidden(f.Rel) && !matchesAny(s.o.AsIs, f.Rel):
		f.Class, f.Name, f.Info, f.Target = Reads, name, info, ""
	}
	return nil
}

func matchesAny(list []Glob, rel string) bool {
	return slices.ContainsFunc(list, func(g Glob) bool { return g.Match(rel) })
}
