// Package tree writes and reads side archives: files NAME.ctree that hold what is in a directory besides its reads.
//
// A side archive has the listing of a directory: every entry below it with its path, mode, owner and time. Files of reads are in archives
// of their own, in the directory of the side archive; the listing says in which one, and which of its inputs they are. The content of all
// other files is in the side archive itself, coded by package sidefiles. So the directory is restored from the side archive and the
// archives together.
//
// Not kept are extended attributes and access control lists. Files with holes are files.
//
// docs/FORMAT.md, "Side archive", is the specification.
package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"orcomgo/bins/parse"
	"orcomgo/bins/vfs"
)

// Kind is what an entry of a directory is.
type Kind uint8

// The kinds of entries.
const (
	File      Kind = iota // its content is in the side archive
	Reads                 // in another archive
	Directory             //
	Link                  // a symbolic link
	HardLink              // another name of an earlier File or Reads
	FIFO
	kinds
)

// String returns the kind in words.
func (k Kind) String() string {
	return [...]string{"file", "reads", "directory", "link", "hard link", "FIFO"}[k]
}

// Entry is something in a directory or below it.
type Entry struct {
	Path string // below the root, with slashes; any bytes
	Kind Kind
	// Mode is the mode of Unix, 12 bits; 0 of links and hard links.
	Mode  uint32
	Owner vfs.Owner // zero of hard links
	Time  time.Time // of the last modification; zero of hard links
	Size  int64     // bytes of a File; of Reads, those of the file that was archived, as it was stored

	Target  string // of a Link, as it is stored
	First   int    // of a HardLink: the entry that has the content
	Archive int    // of Reads: which of the listing's archives, and which of its inputs
	Input   int
}

// ModeOf returns the Mode of an entry of a mode of the file system.
func ModeOf(m fs.FileMode) uint32 { return vfs.ModeBits(m) }

// Archive is an archive of reads in the directory of the side archive.
type Archive struct {
	Name string
	ID   [16]byte // zero if there was none: it could not be made
}

// Listing is everything that is known of a directory.
type Listing struct {
	Tool string // the program that wrote it
	// Mode, Owner and Time are those of the directory itself.
	Mode     uint32
	Owner    vfs.Owner
	Time     time.Time
	Archives []Archive
	// LeftOut says what could not be read, and why: a line for each file, and for each directory with all that is in it.
	LeftOut []string
	Entries []Entry // a directory comes before what is in it, and that before what is beside the directory
}

const (
	maxPathLen = 1 << 12 // bytes of the path of an entry
	maxListing = 1 << 28 // bytes of the text of a listing
	// The text of a listing may take one part in listingShare of Options.Memory, since decoding it takes several times as much; an entry takes
	// about entryMemory bytes.
	listingShare = 8
	entryMemory  = 256
	// All paths together may have shortPaths bytes, or pathBytes for each byte of their names and of what follows these in the listing. So
	// a small file can't make a reader take much memory.
	shortPaths = 1 << 24
	pathBytes  = 64
)

var errTooLong = errors.New("the directory has too many entries: their listing may take 268 MB at most")

// damaged returns an error for a side archive that can't be read.
func damaged(path, reason string) error {
	return fmt.Errorf("%s: %w: %s", path, parse.ErrCorrupt, reason)
}

// dir returns what precedes the last part of a path, "" for none.
func dir(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 0)] }

// base returns the last part of a path with slashes.
func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
