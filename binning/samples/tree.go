package samples

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orcomgo/binning"
	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
)

// Sample is what one archive is made of.
type Sample struct {
	Name   string
	Inputs []binning.InputSpec // in the order of the lanes, first mates before second ones
	// Problem is why the files make no sample, nil if they do.
	Problem error
}

// Class is what kind of file one of a tree is.
type Class int

// The classes of files.
const (
	Other   Class = iota // anything that this package knows nothing of
	Reads                // FASTQ or FASTA, by its name
	Archive              // a file of an archive, by its extension
)

// File is a file of a tree.
type File struct {
	Path  string // the root of the tree is part of it
	Class Class
	Name  Name // of Reads
}

// Tree is a directory with everything below it.
type Tree struct {
	Files []File // in the order of their paths
	// Unread are errors about directories that can't be read.
	Unread []error
}

// Scan lists the files in a directory and below it, and says of each what it is. What begins with a dot is left out, and so is the
// directory leaveOut. Links to files count as files; links to directories are not followed.
func Scan(root, leaveOut string) (*Tree, error) {
	if info, err := vfs.Stat(root); err != nil {
		return nil, fmt.Errorf("%s: %w", root, vfs.Cause(err))
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s: it is not a directory", root)
	}
	out, _ := vfs.Stat(leaveOut) // nil if it is not there
	t := new(Tree)
	t.scan(root, out)
	return t, nil
}

func (t *Tree) scan(dir string, leaveOut os.FileInfo) {
	list, err := vfs.ReadDir(dir)
	if err != nil {
		t.Unread = append(t.Unread, fmt.Errorf("%s: %w", dir, vfs.Cause(err)))
		return
	}
	for _, e := range list {
		path := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if e.IsDir() {
			if info, err := e.Info(); err != nil || leaveOut == nil || !os.SameFile(info, leaveOut) {
				t.scan(path, leaveOut)
			}
			continue
		}
		info, err := vfs.Stat(path) // of what a link leads to
		if err == nil && info.IsDir() {
			continue
		}
		f := File{Path: path}
		switch name, ok := Parse(e.Name()); {
		case ok:
			f.Class, f.Name = Reads, name
		case commit.HasExt(e.Name()):
			f.Class = Archive
		}
		t.Files = append(t.Files, f)
	}
}

// Count returns how many files of a class there are.
func (t *Tree) Count(c Class) (n int) {
	for i := range t.Files {
		if t.Files[i].Class == c {
			n++
		}
	}
	return n
}

// Samples returns the samples of the tree, sorted by name. The files of a sample are in one directory.
func (t *Tree) Samples() []Sample {
	type place struct{ dir, sample string }
	files := make(map[place][]File)
	mates := make(map[place]int) // bits: which numbers there are
	for _, f := range t.Files {
		if f.Name.Digit {
			mates[place{filepath.Dir(f.Path), f.Name.Sample}] |= f.Name.Number
		}
	}
	for _, f := range t.Files {
		if f.Class != Reads {
			continue
		}
		at := place{filepath.Dir(f.Path), f.Name.Sample}
		if f.Name.Digit && mates[at] != 1|2 {
			stem, _ := Stem(filepath.Base(f.Path))
			f.Name, at.sample = Name{Sample: stem}, stem
		}
		files[at] = append(files[at], f)
	}
	dirs := make(map[string][]string) // by sample
	for at := range files {
		dirs[at.sample] = append(dirs[at.sample], at.dir)
	}
	var all []Sample
	for at, list := range files {
		s := sampleOf(at.sample, list)
		if d := dirs[at.sample]; len(d) > 1 && s.Problem == nil {
			slices.Sort(d)
			s.Problem = fmt.Errorf("there are samples of this name in %s: archive one of them at a time, or write a sheet",
				strings.Join(d, " and "))
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Sample) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return strings.Compare(a.Inputs[0].Path, b.Inputs[0].Path)
	})
	return all
}

// sampleOf makes a sample of files of reads.
func sampleOf(name string, files []File) Sample {
	slices.SortStableFunc(files, func(a, b File) int { return a.Name.compare(b.Name) })
	s := Sample{Name: name}
	paired, alone := "", "" // the first file of first mates with second ones, and without
	for len(files) > 0 {
		n := 1
		for n < len(files) && files[0].Name.sameUnit(files[n].Name) {
			n++
		}
		first, second := s.addUnit(files[:n])
		switch {
		case second != "":
			paired = second
		case first != "":
			alone = first
		}
		files = files[n:]
	}
	if s.Problem == nil && paired != "" && alone != "" {
		s.Problem = fmt.Errorf("%s has no second mates, but other files of the sample have", alone)
	}
	return s
}

// sameUnit reports whether two files of a sample have reads of the same records, if both have mates.
func (n Name) sameUnit(o Name) bool {
	return n.Library == o.Library && n.Lane == o.Lane && n.Part == o.Part
}

// addUnit adds the files of one lane, or of a part of it. Third reads and indexes go with a pair. It returns those of the first mates and
// of the second ones, "" for none.
func (s *Sample) addUnit(files []File) (first, second string) {
	of := map[Role]*string{First: &first, Second: &second}
	for _, f := range files {
		path := of[f.Name.Role]
		switch {
		case path == nil:
		case *path != "":
			s.Problem = fmt.Errorf("%s and %s have the same mates", *path, f.Path)
		default:
			*path = f.Path
		}
	}
	if second != "" && first == "" {
		s.Problem = fmt.Errorf("%s has second mates, and there are no first ones", second)
	}
	lead := len(s.Inputs)
	if first != "" && second != "" {
		s.add(first, second)
	}
	for _, f := range files {
		switch {
		case second == "" || first == "":
			s.add(f.Path, "")
		case f.Name.Role == Third || f.Name.Role == Index:
			s.Inputs = append(s.Inputs, binning.InputSpec{Path: f.Path, Mate: -1, Further: true, Lead: lead})
		case f.Name.Role == Single:
			s.add(f.Path, "")
		}
	}
	return first, second
}

// add adds a file, or with second a pair of files.
func (s *Sample) add(first, second string) {
	n := len(s.Inputs)
	if second == "" {
		s.Inputs = append(s.Inputs, binning.InputSpec{Path: first, Mate: -1})
		return
	}
	s.Inputs = append(s.Inputs, binning.InputSpec{Path: first, Mate: n + 1, First: true}, binning.InputSpec{Path: second, Mate: n})
}

// ErrNone is the error for a directory without files of reads.
var ErrNone = errors.New("there are no files of reads, whose names end in .fastq, .fq, .fasta, .fa or .fna," +
	" or in .gz or the like after that")
