package binning

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"orcomgo/bins/commit"
	"orcomgo/bins/record"
)

var gzipTextExts = []string{".gz", ".bgz", ".bgzf"}

// GzipExts are the extensions of gzip files, of which BAM is a kind.
var GzipExts = append(slices.Clone(gzipTextExts), BAMExt)

// BAMExt is the extension of BAM.
const BAMExt = ".bam"

// CompressedExts are the extensions of compressed inputs. The text of an input is restored without its one. That of x.bam is x.fastq.
var CompressedExts = append(slices.Clone(gzipTextExts), ".zst", ".xz", ".bz2")

// RestoredName returns the name that an input at a path is restored under; standard input is taken to be FASTQ.
func RestoredName(path string) string { return inputName(path, record.FASTQ) }

// ArchiveName returns the name of the archive that a run makes of the inputs, unless Config.Name says otherwise.
func ArchiveName(inputs []InputSpec) string { return archiveName(RestoredName(inputs[0].Path)) }

// inputName returns the name to restore the text of an input under.
func inputName(path string, kind record.Kind) string {
	if kind == record.BAM {
		kind = record.FASTQ
	}
	if path == "-" {
		return "stdin" + kind.Format().Exts[0]
	}
	name := filepath.Base(path)
	for _, ext := range CompressedExts {
		// "..gz" is a name, "." is none.
		if s, ok := strings.CutSuffix(name, ext); ok && s != "" && s != "." && s != ".." {
			return s
		}
	}
	if s, ok := strings.CutSuffix(name, BAMExt); ok && s != "" && s != "." && s != ".." {
		return s + kind.Format().Exts[0]
	}
	return name
}

// archiveName returns the name of the archive of which this is the first input.
func archiveName(input string) string {
	name, _ := record.CutTextExt(input)
	if name == "." || name == ".." {
		name = input
	}
	return CutName(name)
}

// CutName returns the name of an archive for a name that may be too long for one: then it is cut, and ends in a checksum to stay different
// from others.
func CutName(name string) string {
	if len(name) <= commit.MaxName {
		return name
	}
	sum := fmt.Sprintf("-%016x", xxh3.HashString(name))
	cut := commit.MaxName - len(sum)
	for cut > commit.MaxName-len(sum)-utf8.UTFMax && !utf8.RuneStart(name[cut]) {
		cut-- // not inside a letter
	}
	return name[:cut] + sum
}
