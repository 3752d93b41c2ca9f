package main

import (
	"orcomgo/binning"
	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/bins/vfs"
	"orcomgo/cmd/orcomgo/batches"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The checks of this file find mistakes that would otherwise make a directory with the name of a
// file of reads, or one called "s3:".

var (
	// textExts are the extensions of sequences and alignments, in lower case.
	textExts = append(record.TextExts(), ".fas", ".faa", ".ffn", ".bam", ".cram", ".sam", ".sra")
	// compressedExts are those of a compressed file, whether bin can read it or not.
	compressedExts = append(slices.Clone(binning.CompressedExts), ".gzip", ".zstd")
)

// readsFile reports whether a name is one that files of reads have.
func readsFile(path string) bool {
	name := strings.ToLower(filepath.Base(path))
	if ext := filepath.Ext(name); slices.Contains(compressedExts, ext) {
		name = strings.TrimSuffix(name, ext)
	}
	return slices.Contains(textExts, filepath.Ext(name))
}

// checkOutput returns a usage error for an output directory that is a URL, or that has the
// name of a file of reads; then advice says what to do instead. A directory that exists may
// have any name, and so may one that is given with a / at its end.
func checkOutput(path, advice string) error {
	switch {
	case path == "" || path == "-":
		return usagef("the output is a directory, not %q", path)
	case batches.IsURL(path):
		return usagef("the output is a directory on this machine, not a URL: %s", path)
	case !readsFile(path) || os.IsPathSeparator(path[len(path)-1]):
		return nil
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return nil
	}
	return usagef("the output is a directory, and %s looks like a file of reads (end it in / if it is not): %s", path, advice)
}

// checkArchiveOutput is checkOutput for a directory of archives, which may be in object storage.
func checkArchiveOutput(path string) error {
	if strings.HasPrefix(path, "s3://") && vfs.IsRemote(path) {
		return nil
	}
	return checkOutput(path, "give the output directory last")
}

// isArchive reports whether an input is a file of an archive, or DIR/NAME of one.
func isArchive(path string) bool {
	info, err := os.Stat(path)
	if err == nil {
		return info.Mode().IsRegular() && commit.IsArchiveFile(path)
	}
	_, err = commit.One(path)
	return err == nil
}
