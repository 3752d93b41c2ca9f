package samples

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"orcomgo/binning"
)

// Sample is what one archive is made of.
type Sample struct {
	Name   string
	Inputs []binning.InputSpec // in the order of the lanes, first mates before second ones
	// Problem is why the files make no sample, nil if they do.
	Problem error

	// Root is that of the tree; "" of a sheet.
	Root string

	dir    string // of the files, below the root
	former string // see Samples; "" for none
}

// Class is what kind of entry one of a tree is.
type Class int

// The classes of entries.
const (
	Other     Class = iota // a file of anything but reads
	Reads                  // a file of FASTQ or FASTA, by its content
	Archive                // a file of an archive, in the directory that archives are written to
	Directory              // below the root
	Link                   // a symbolic link
	HardLink               // another name of a file of the tree
	FIFO
)

// File is an entry of a tree.
type File struct {
	Path  string // the root of the tree is part of it
	Rel   string // the path below the root, with slashes
	Class Class
	Name  Name // of Reads
	// NoReads says of one of class Other that it has the name of a file of reads, and other content.
	NoReads bool
	// Info describes the entry itself, but for a link that counts as Reads what it leads to.
	Info fs.FileInfo
	// Target is what a Link leads to, as it is stored, or the Rel of the file that a HardLink is.
	Target string
}

// Tree is a directory with everything below it.
type Tree struct {
	Root  string
	Info  fs.FileInfo // of the root
	Files []File      // in the order of their paths: a directory comes before what is in it
	// Unread are errors about what can't be read, or can't be archived. They name it.
	Unread []error
	// Excluded is how many files, links and FIFOs were left out by patterns.
	Excluded int
}

// Samples returns the samples of several trees, sorted by name. The files of a sample are in one directory. Where several directories have
// samples of the same name, the names of the directories below the root are part of theirs: a_x and b_x for x of a and b.
//
// If former is not nil, it returns the name that the sample of a file had before, and "" if it is new. Samples keep their names, so that
// none is archived again because another one of its name came.
func Samples(former func(root, rel string) string, trees ...*Tree) []Sample {
	type place struct{ dir, sample string }
	files := make(map[place][]File)
	roots := make(map[place]string)
	mates := make(map[place]int) // bits: which numbers there are
	for _, t := range trees {
		for _, f := range t.Files {
			if f.Class == Reads && f.Name.Digit {
				mates[place{filepath.Dir(f.Path), f.Name.Sample}] |= f.Name.Number
			}
		}
	}
	for _, t := range trees {
		for _, f := range t.Files {
			if f.Class != Reads {
				continue
			}
			at := place{filepath.Dir(f.Path), f.Name.Sample}
			if f.Name.Digit && mates[at] != 1|2 {
				stem, _ := Stem(filepath.Base(f.Path))
				f.Name, at.sample = Name{Sample: stem}, stem
			}
			files[at], roots[at] = append(files[at], f), t.Root
		}
	}
	var all []Sample
	for at, list := range files {
		s := sampleOf(at.sample, list)
		s.Root, s.dir = roots[at], path.Dir(list[0].Rel)
		for _, f := range list {
			if former != nil && s.former == "" {
				s.former = former(s.Root, f.Rel)
			}
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Sample) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Inputs[0].Path, b.Inputs[0].Path))
	})
	nameApart(all)
	slices.SortStableFunc(all, func(a, b Sample) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// nameApart makes the names of sorted samples different, and such that archives can have them.
func nameApart(all []Sample) {
	count, taken := make(map[string]int), make(map[string]bool)
	for i := range all {
		count[all[i].Name]++
	}
	for i := range all {
		switch s := &all[i]; {
		case s.former == "" || taken[s.former]:
			s.former = ""
		default:
			if s.Name != s.former {
				count[s.former]++
			}
			s.Name, taken[s.former] = s.former, true
		}
	}
	for i := range all {
		s := &all[i]
		if s.former != "" {
			continue
		}
		name := s.Name
		if count[name] > 1 && s.dir != "." {
			name = strings.ReplaceAll(s.dir, "/", "_") + "_" + name
		}
		name = binning.CutName(name)
		for n := 2; taken[name] || name != s.Name && count[name] > 0; n++ {
			name = binning.CutName(fmt.Sprintf("%s_%d", s.Name, n))
		}
		taken[name] = true
		s.Name = name
	}
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

// Pairs returns the inputs of files in their order, except that files which are mates by their names and those of their first records are
// beside each other, with the further reads of these.
func Pairs(paths []string) []binning.InputSpec {
	var s Sample
	files := make([]File, len(paths))
	for i, path := range paths {
		files[i] = File{Path: path}
		files[i].Name, _ = Parse(filepath.Base(path))
	}
	for len(files) > 0 {
		unit, others := files[:1:1], []File{}
		for _, f := range files[1:] {
			taken := slices.ContainsFunc(unit, func(o File) bool { return o.Name.compare(f.Name) == 0 })
			if !taken && f.Name.Role != Single && f.Name.Sample == unit[0].Name.Sample && f.Name.sameUnit(unit[0].Name) &&
				binning.SameFirstName(unit[0].Path, f.Path) {
				unit = append(unit, f)
			} else {
				others = append(others, f)
			}
		}
		slices.SortFunc(unit, func(a, b File) int { return a.Name.compare(b.Name) })
		if len(unit) == 1 || unit[0].Name.Role != First || unit[1].Name.Role != Second {
			unit, others = files[:1:1], files[1:]
		}
		s.addUnit(unit)
		files = others
	}
	return s.Inputs
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
