package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"runtime"
	"strings"

	"orcomgo/bins/commit"
	"orcomgo/compress"
	"orcomgo/compress/tree"
)

// checksumList is a list of checksums that info prints, in the form that sha256sum -c and md5sum -c read.
type checksumList struct {
	md5   bool // else SHA-256
	files bool // of the files that were read; else of the texts as they are restored
	// paths are those of files of reads in a directory that was archived as a whole, by their archives and inputs.
	paths map[readsPlace]string
}

// readsPlace is an input of an archive.
type readsPlace struct {
	archive string
	input   int
}

// writeTree prints a line for each side file of a directory, and notes where its files of reads are.
func (l *checksumList) writeTree(ctx context.Context, w io.Writer, t commit.Tree) error {
	r, err := openTree(t, tree.Options{Threads: runtime.GOMAXPROCS(0), Memory: uint64((&resources{}).limit())})
	if err != nil {
		return err
	}
	defer r.Close()
	l.paths = make(map[readsPlace]string)
	sums, err := r.Sums(ctx, l.md5)
	if err != nil {
		return err
	}
	for i := range r.Entries {
		e := &r.Entries[i]
		if e.Kind == tree.Reads {
			l.paths[readsPlace{r.Archives[e.Archive].Name, e.Input}] = e.Path
		}
		if sums[i] == nil {
			continue
		}
		sum := sums[i].SHA256[:]
		if l.md5 {
			sum = sums[i].MD5[:]
		}
		if _, err := fmt.Fprintln(w, checksumLine(hex.EncodeToString(sum), e.Path)); err != nil {
			return err
		}
	}
	return nil
}

// write prints a line for each input of an archive whose checksum is known, and returns how many are not, and an explanation of the
// first of them.
func (l checksumList) write(w io.Writer, n *compress.Information) (missing int, why string, err error) {
	for i := range n.Inputs {
		in := &n.Inputs[i]
		name, sum := in.Restored, in.SHA256
		if l.md5 {
			sum = in.MD5
		}
		if l.files || in.Exact {
			sum = ""
			if f := in.File; f != nil {
				if name, sum = f.Name, f.SHA256; l.md5 {
					sum = f.MD5
				}
			}
			if name == "" {
				name = "-" // as these programs call standard input
			}
		}
		if at, ok := l.paths[readsPlace{n.Name, i}]; ok {
			name = path.Join(path.Dir(at), name)
		}
		if sum == "" {
			if missing++; missing == 1 {
				why = l.explain(n, in)
			}
			continue
		}
		if _, err := fmt.Fprintln(w, checksumLine(sum, name)); err != nil {
			return missing, why, err
		}
	}
	return missing, why, nil
}

// explain says why the checksum of an input is not known.
func (l checksumList) explain(n *compress.Information, in *compress.InputInformation) string {
	kind := "SHA-256"
	if l.md5 {
		kind = "MD5"
	}
	name := oneLine(in.Name)
	switch {
	case l.files && in.File == nil:
		return fmt.Sprintf("no %s of the file of %s is recorded: bin --source none, or an older program, made the bins", kind, name)
	case l.files && in.File.Compressed, l.files && !n.Lossless:
		return fmt.Sprintf("no %s of the file of %s is recorded: see bin --help, --source", kind, name)
	case n.Stage != "packed":
		return fmt.Sprintf("the %s of %s is not known before pack", kind, name)
	case !n.Verified:
		return fmt.Sprintf("the %s of %s is not known: it was packed with --no-verify", kind, name)
	case l.md5 && !n.Lossless:
		return fmt.Sprintf("no MD5 of %s is recorded, since it is not what was archived, byte for byte: see --sha256", name)
	}
	return fmt.Sprintf("no %s of %s is recorded: see bin --help, --source", kind, name)
}

// checksumLine is a line of sha256sum and md5sum. Names with a backslash or a line end are escaped, which a backslash at the
// beginning of the line says.
func checksumLine(sum, name string) string {
	escaped := strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`).Replace(name)
	if escaped != name {
		sum = `\` + sum
	}
	return sum + "  " + escaped
}
