package record

import (
	"fmt"
	"path/filepath"
	"strings"

	"orcomgo/bins/parse"
)

// Rendering is how the records of an input are restored.
type Rendering uint8

// The renderings.
const (
	AsRecords Rendering = iota // the original text
	AsFASTA                    // without the qualities that there were: name and sequence, a line each
	AsLines                    // reads only: one sequence a line
)

// RenderingOf returns how records of a kind are restored under options o.
func RenderingOf(o Options, kind Kind) Rendering {
	switch {
	case o.ReadsOnly:
		return AsLines
	case kind.Format().Quals && o.Quality == QualityDrop:
		return AsFASTA
	}
	return AsRecords
}

// MaxFileName is the length of the longest file name in bytes, on every usual file system.
const MaxFileName = 255

// CheckInputNames makes sure that the names of an archive's inputs are those of different
// files, and not paths: archives may be from anywhere. The error is ErrCorrupt.
func CheckInputNames(inputs []Input) error {
	seen := make(map[string]bool, len(inputs))
	for i := range inputs {
		name := inputs[i].Name
		switch {
		case name == "":
			return fmt.Errorf("an input of the archive has no name: %w", parse.ErrCorrupt)
		case name == "." || name == ".." || strings.ContainsAny(name, "/\x00"+string(filepath.Separator)) || len(name) > MaxFileName:
			return fmt.Errorf("an input of the archive is called %q, which is not a file name: %w", name, parse.ErrCorrupt)
		case seen[name]:
			return fmt.Errorf("two inputs of the archive are called %q: %w", name, parse.ErrCorrupt)
		}
		seen[name] = true
	}
	return nil
}

// CutTextExt splits a name into what precedes an extension of TextExts, and that.
func CutTextExt(name string) (stem, ext string) {
	for _, e := range TextExts() {
		if s, ok := strings.CutSuffix(name, e); ok && s != "" {
			return s, e
		}
	}
	return name, ""
}

// Restored says how inputs are restored. The zero value is whole and not compressed.
type Restored struct {
	// Suffix, if not nil, returns what is added to the name of input i, before its extension.
	Suffix func(i int) string
	Gzip   bool
	// BAM says that all inputs come back as BAM, be it that they were.
	BAM bool
	// FASTQ, if not nil, reports whether input i, which is BAM, comes back as FASTQ.
	FASTQ func(i int) bool
	// File, if not nil, reports whether input i comes back as the very file that it was, which Source.Gzip says how to make.
	File func(i int) bool
}

// RestoredNames returns the file name under which each input is restored, given the options
// of the archive. The error is for names that are equal or too long.
func RestoredNames(inputs []Input, o Options, r Restored) ([]string, error) {
	names := make([]string, len(inputs))
	fill := func(replaceExt bool) (different bool) {
		seen := make(map[string]bool)
		for i := range inputs {
			names[i] = r.name(i, &inputs[i], o, replaceExt)
			if seen[names[i]] {
				return false
			}
			seen[names[i]] = true
		}
		return true
	}
	// a.fastq and a.fq may both become a.fasta; then they keep their extensions.
	if !fill(true) && !fill(false) {
		return nil, fmt.Errorf("two inputs of the archive would be restored under the same name")
	}
	for _, n := range names {
		if len(n) > MaxFileName {
			return nil, fmt.Errorf("%q: an input would be restored under this name, which is longer than the %d bytes that a file name may have",
				n, MaxFileName)
		}
	}
	return names, nil
}

func (r *Restored) name(i int, in *Input, o Options, replaceExt bool) string {
	name := in.Name
	if in.Kind == BAM && (r.FASTQ == nil || !r.FASTQ(i)) {
		if in.Source != nil && in.Source.Name != "" {
			return in.Source.Name
		}
		name, _ = CutTextExt(name)
		return name + bamExt
	}
	if r.File != nil && r.File(i) {
		stem, _ := CutTextExt(name)
		if strings.HasPrefix(in.Source.Name, name) || in.Source.Name == stem+bamExt { // a .bam without even a header is no BAM
			return in.Source.Name
		}
		return name + ".gz"
	}
	stem, ext := CutTextExt(name)
	if r.Suffix != nil {
		stem += r.Suffix(i)
		name = stem + ext
	}
	if !replaceExt {
		stem = name
	}
	switch RenderingOf(o, in.Kind) {
	case AsLines:
		name = stem + ".reads"
	case AsFASTA:
		name = stem + fasta.Exts[0]
	}
	if r.BAM {
		name = stem + bamExt
	}
	if r.Gzip {
		name += ".gz"
	}
	return name
}

// Renamed returns what becomes of another path of a file whose name changes from path to restored: the same change of its end.
func Renamed(path, restored, other string) string {
	n := 0
	for n < min(len(path), len(restored)) && path[n] == restored[n] {
		n++
	}
	if stem, ok := strings.CutSuffix(other, path[n:]); ok {
		return stem + restored[n:]
	}
	return other
}
