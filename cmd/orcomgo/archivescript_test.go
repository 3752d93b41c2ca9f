package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/zeebo/xxh3"

	"orcomgo/bins/commit"
	"orcomgo/compress/archive"
	"orcomgo/compress/parity"
	"orcomgo/internal/codectest"
)

// Commands for scripts that damage or forge archives.
var archiveCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"cutend":       scriptCutEnd,
	"damagecolumn": scriptDamageColumn,
	"newerversion": scriptNewerVersion,
	"renameinput":  scriptRenameInput,
	"longname":     scriptLongName,
	"listing":      scriptListing,
}

// scriptListing: listing DIR FILE writes a line for each entry of a directory, and for itself: path, mode, time, target of a link.
func scriptListing(ts *testscript.TestScript, _ bool, args []string) {
	lines, err := listing(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Join(lines, "")), 0o666))
}

// listing returns a sorted line for each entry of a directory, and for itself: path, mode, time, target of a link.
func listing(dir string) (lines []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		target := ""
		if info.Mode()&fs.ModeSymlink != 0 {
			if target, err = os.Readlink(path); err != nil {
				return err
			}
		}
		name, _ := filepath.Rel(dir, path)
		lines = append(lines, fmt.Sprintf("%q %s %d %q\n", name, info.Mode(), info.ModTime().UnixNano(), target))
		return nil
	})
	slices.Sort(lines)
	return lines, err
}

// scriptCutEnd: cutend FILE N removes the last N bytes.
func scriptCutEnd(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	b := []byte(ts.ReadFile(args[0]))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b[:len(b)-n], 0o666))
	os.Remove(parity.Path(ts.MkAbs(args[0])))
}

// scriptDamageColumn: damagecolumn ARCHIVE INPUT COLUMN flips a bit in the middle of the
// column (lengths, forms, names or quals) of the input's first slice. The parity that would mend that is lost, too.
func scriptDamageColumn(ts *testscript.TestScript, _ bool, args []string) {
	e, err := commit.One(ts.MkAbs(args[0]))
	ts.Check(err)
	r, err := archive.OpenEntry(e)
	ts.Check(err)
	defer r.Close()
	for i := range r.Manifest().Slices {
		for _, m := range r.Manifest().Slices[i].Members() {
			if r.Manifest().Inputs[m.Input].Name != args[1] {
				continue
			}
			s := m.Sections[map[string]archive.Column{"lengths": archive.Lengths, "forms": archive.Forms, "names": archive.Names,
				"quals": archive.Quals}[args[2]]]
			if s.Len == 0 {
				ts.Fatalf("the column is empty")
			}
			path := r.Paths()[0]
			b, err := os.ReadFile(path)
			ts.Check(err)
			b = codectest.WithoutParity(b)
			b[s.Off+s.Len/2] ^= 4
			ts.Check(os.WriteFile(path, b, 0o666))
			os.Remove(parity.Path(path))
			return
		}
	}
	ts.Fatalf("there is no %s", args[1])
}

// changeManifest changes both copies of an archive's manifest, which must keep its length.
func changeManifest(ts *testscript.TestScript, path string, change func([]byte) []byte) {
	e, err := commit.One(ts.MkAbs(path))
	ts.Check(err)
	meta, data := e.Path()+archive.MetaSuffix, e.Path()+archive.BulkSuffix
	was, err := os.ReadFile(meta)
	ts.Check(err)
	is := change(bytes.Clone(was))
	body := is[:len(is)-16]
	sum := xxh3.Hash128(body).Bytes()
	is = append(body, sum[:]...)
	if len(is) != len(was) || bytes.Equal(is, was) {
		ts.Fatalf("the manifest did not change, or not in place")
	}
	ts.Check(os.WriteFile(meta, is, 0o666))
	bulk, err := os.ReadFile(data)
	ts.Check(err)
	ts.Check(os.WriteFile(data, bytes.Replace(bulk, was, is, 1), 0o666))
}

// scriptNewerVersion: newerversion ARCHIVE makes it one of version 100 of the format.
func scriptNewerVersion(ts *testscript.TestScript, _ bool, args []string) {
	changeManifest(ts, args[0], func(b []byte) []byte {
		b[len(commit.PackedMetaMagic)] = 100
		return b
	})
}

// scriptRenameInput: renameinput ARCHIVE OLD NEW gives an input another name of the same length.
func scriptRenameInput(ts *testscript.TestScript, _ bool, args []string) {
	changeManifest(ts, args[0], func(b []byte) []byte { return bytes.Replace(b, []byte(args[1]), []byte(args[2]), 1) })
}

// scriptLongName: longname N EXT makes a FASTQ file with a name of N letters and an
// extension, and sets LONGNAME to that.
func scriptLongName(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	name := strings.Repeat("n", n) + args[1]
	ts.Setenv("LONGNAME", name)
	ts.Check(os.WriteFile(filepath.Join(ts.MkAbs("."), name), []byte("@r\nACGT\n+\nIIII\n"), 0o666))
}
