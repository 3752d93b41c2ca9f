package samples

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"orcomgo/binning"
	"orcomgo/bins/record"
	"orcomgo/bins/vfs"
)

const (
	// headSize is how many bytes of a file are read first, and headText of the text of one that may hold reads.
	headSize = 512
	headText = 64 << 10
)

// compressedMagics begin files of which the text is looked at: gzip, zstd, xz and bzip2.
var compressedMagics = []string{"\x1f\x8b", "\x28\xb5\x2f\xfd", "\xfd7zXZ\x00", "BZh"}

// holdsReads reports whether the file at a path is one of FASTQ, FASTA or unaligned BAM by its content, compressed or not. If its name says
// that it is one, the first byte decides, else the first records do. The error is for a file that can't be read.
func holdsReads(path string, named bool) (bool, error) {
	f, err := vfs.OpenRegular(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, headSize)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false, err
	}
	head = head[:n]
	compressed := slices.ContainsFunc(compressedMagics, func(m string) bool { return strings.HasPrefix(string(head), m) })
	if _, ok := markOf(head); !ok && !compressed && len(bytes.TrimLeft(head, "\r\n")) > 0 {
		return false, nil
	}
	text, err := textHead(path)
	if !compressed && (os.IsNotExist(err) || os.IsPermission(err)) {
		return false, err
	}
	return err == nil && isReads(text, named), nil // else it is damaged, no text, or of a format that is refused
}

// textHead returns how the text of a file begins.
func textHead(path string) ([]byte, error) {
	r, err := binning.OpenText(context.Background(), path, 1)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text := make([]byte, headText)
	n, err := io.ReadFull(r, text)
	if r.Aligned() {
		return nil, nil
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return text[:n], err
}

// markOf returns the kind of records that a text begins with, after empty lines.
func markOf(text []byte) (record.Kind, bool) {
	text = bytes.TrimLeft(text, "\r\n")
	if len(text) == 0 {
		return 0, false
	}
	return record.KindOf(text[0])
}

// isReads reports whether a text, of which this is the beginning, is FASTQ or FASTA.
func isReads(head []byte, named bool) bool {
	kind, ok := markOf(head)
	if !ok || named {
		return ok
	}
	var lines [][]byte
	for line := range bytes.Lines(bytes.TrimLeft(head, "\r\n")) {
		lines = append(lines, bytes.TrimRight(line, "\r\n"))
	}
	if kind == record.FASTQ {
		return isFASTQ(lines)
	}
	return isFASTA(lines, len(head) == headText)
}

// isFASTQ reports whether lines begin with a record of four lines. The last of the lines may be cut off.
func isFASTQ(lines [][]byte) bool {
	if len(lines) < 2 {
		return false
	}
	if len(lines) == 2 { // a long read
		return len(lines[1]) > headText/2 && nucleotides(lines[1])
	}
	if len(lines[1]) == 0 || !nucleotides(lines[1]) || !bytes.HasPrefix(lines[2], []byte{'+'}) {
		return false
	}
	return len(lines) > 3 && (len(lines[3]) == len(lines[1]) || len(lines) == 4 && len(lines[3]) < len(lines[1]))
}

// isFASTA reports whether lines are records of FASTA with nucleotides. Proteins are not reads.
func isFASTA(lines [][]byte, cut bool) bool {
	if cut && len(lines) > 2 {
		lines = lines[:len(lines)-1]
	}
	bases := 0
	for _, line := range lines {
		if bytes.HasPrefix(line, []byte{'>'}) {
			continue
		}
		if !nucleotides(line) {
			return false
		}
		bases += len(line)
	}
	return bases > 0
}

// isBase says which letters are nucleotides: 2 for those of nearly all bases, 1 for the others of IUPAC and gaps.
var isBase = func() (t [256]byte) {
	for _, c := range []byte("RYSWKMBDHVryswkmbdhv-*.") {
		t[c] = 1
	}
	for _, c := range []byte("ACGTUNacgtun") {
		t[c] = 2
	}
	return t
}()

// nucleotides reports whether a line is one of a sequence of nucleotides: at least nine of ten letters are A, C, G, T, U or N.
func nucleotides(line []byte) bool {
	rare := 0
	for _, c := range line {
		switch isBase[c] {
		case 0:
			return false
		case 1:
			rare++
		}
	}
	return rare*10 <= len(line)
}
