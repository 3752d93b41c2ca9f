// Package commit puts the files of archives in place, replaces them and removes them, so
// that at every instant, power cuts included, the directory holds the old archive or the new
// one whole, and so that no other file is changed. It also finds archives.
//
// An archive NAME in a directory is up to two pairs of files: the bins of stage 1,
// NAME.bdna and NAME.bmeta, and the packed archive of stage 2, NAME.cdna and NAME.cmeta. A
// directory may hold several archives, and side archives, NAME.ctree (tree.go). A file is one of an archive only if it begins as one
// does, or ends as one whose first bytes are damaged: the extension alone is not enough ("human.cdna" may be a file of cDNA).
//
// Files are written without a name, or under a random one, and get their names when they
// are complete and durable:
//
//   - Bins. The data file is named NAME.bdna.ID (ID in hexadecimal), then the meta file
//     NAME.bmeta: that is the commit point. Then NAME.bdna.ID is renamed to NAME.bdna. A
//     reader takes the data file with the ID that the meta file has, under either name.
//   - Packed. The data file ends with a copy of the meta file, so NAME.cdna alone is an
//     archive: giving it its name is the commit point. NAME.cmeta follows.
//
// What an interrupted commit left is completed or removed by the next command that writes
// an archive of that NAME; commands that read only never write.
package commit

import (
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"orcomgo/bins/crypt"
	"orcomgo/bins/vfs"
)

// Sentinel errors; what the functions of this package return wraps them.
var (
	// ErrNotArchive means that there is no archive where one was expected.
	ErrNotArchive = errors.New("not an archive")
	// ErrSeveral means that a directory holds several archives where one was expected.
	ErrSeveral = errors.New("there are several archives")
	// ErrExists means that there is an archive that must not be replaced.
	ErrExists = errors.New("an archive is there already")
	// ErrForeign means that a file that is not an archive's has the name of one.
	ErrForeign = errors.New("a file that is not an archive's has the name that an archive's file would get")
	// ErrNeeded means that a side archive refers to an archive that would be replaced.
	ErrNeeded = errors.New("a side archive needs the reads of this archive")
	// ErrBusy means that another process is working on the archive.
	ErrBusy = errors.New("another run is writing there")
)

// Stage is one of the two pairs of files of an archive.
type Stage int

// The stages.
const (
	Bins   Stage = iota // NAME.bdna, NAME.bmeta
	Packed              // NAME.cdna, NAME.cmeta
	stages
)

// The extensions of the files.
const (
	BinsDataExt   = ".bdna"
	BinsMetaExt   = ".bmeta"
	PackedDataExt = ".cdna"
	PackedMetaExt = ".cmeta"
	// IndexExt is that of the search index of a packed archive, which is made from it and can be made again.
	IndexExt = ".cfm"
	// ParityExt is that of the parity by which a damaged file can be repaired: NAME.cpar of NAME.cdna, and FILE.cpar of others.
	ParityExt = ".cpar"
)

// The first bytes of the files. Those of the packed archive begin with one that is not ASCII
// and hold both line ends, so that a transfer in text mode is noticed (as in PNG).
const (
	BinsDataMagic   = "ORCOBDNA"
	BinsMetaMagic   = "ORCOBMET"
	PackedDataMagic = "\x89OCGd\r\n\x1a"
	PackedMetaMagic = "\x89OCGm\r\n\x1a"
	IndexMagic      = "\x89OCGf\r\n\x1a"
	ParityMagic     = "\x89OCGp\r\n\x1a" // of each packet
)

// PackedDataEnd is how the data file of a packed archive ends.
const PackedDataEnd = "\x89OCGe\r\n\x1a"

// exts are the extensions of each stage's files, the data file's first.
var exts = [stages][2]string{Bins: {BinsDataExt, BinsMetaExt}, Packed: {PackedDataExt, PackedMetaExt}}

// MaxName is the length of the longest archive name in bytes. It leaves room for the
// extension and the ID within the 255 bytes of a file name.
const MaxName = 200

// CheckName returns an error unless name can be the name of an archive.
func CheckName(name string) error {
	if name == "" || name == "." || name == ".." || len(name) > MaxName || strings.ContainsAny(name, "/\x00"+string(filepath.Separator)) {
		return &fs.PathError{Op: "create", Path: name, Err: errors.New("this can't be the name of an archive")}
	}
	return nil
}

// idLen is the length of an archive's ID in bytes.
const idLen = 16

// header is how the files of one extension begin.
type header struct {
	ext, magic string
	idAt       int    // offset of the ID; 0 if it has no fixed offset
	end        string // how they end; "" if that says nothing
}

var headers = []header{
	{BinsDataExt, BinsDataMagic, 16, ""},
	{BinsMetaExt, BinsMetaMagic, 0, ""},
	{PackedDataExt, PackedDataMagic, 9, PackedDataEnd},
	{PackedMetaExt, PackedMetaMagic, 9, ""},
	{IndexExt, IndexMagic, 16, ""},
	{ParityExt, ParityMagic, 16, ""},
	{TreeExt, TreeMagic, 0, TreeEnd},
}

// BinsMetaEnd are the last bytes of a .bmeta file, after the ID.
const BinsMetaEnd = "ORCOBEND"

// identity is what the first bytes of a file show.
type identity struct {
	ext string // which of an archive's files it is; "" if it is none
	id  [idLen]byte
	// encrypted says that it may be any, as an open file is identified by what is stored.
	encrypted bool
}

// identify reads the first bytes of a file. The ext of a missing file, of a directory, and of a
// file that is not an archive's is "". The error wraps crypt.ErrKey if it is encrypted and no key opens it.
func identify(path string) (identity, error) {
	info, err := vfs.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return identity{}, nil
	}
	if err != nil {
		return identity{}, err
	}
	if !info.Mode().IsRegular() {
		return identity{}, nil
	}
	f, err := vfs.OpenContent(path)
	if err != nil {
		return identity{}, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return identity{}, err
	}
	return identifyOpen(f, size)
}

// identifyOpen is identify for an open file of the size given.
func identifyOpen(f *vfs.File, size int64) (identity, error) {
	head := make([]byte, min(size, 32))
	if n, err := f.ReadAt(head, 0); n < len(head) && err != nil {
		return identity{}, err
	}
	for _, h := range headers {
		if !strings.HasPrefix(string(head), h.magic) {
			continue
		}
		i := identity{ext: h.ext}
		switch {
		case h.idAt > 0:
			if len(head) >= h.idAt+idLen {
				i.id = [idLen]byte(head[h.idAt:])
			}
		case h.ext == BinsMetaExt && size >= 64:
			foot := make([]byte, idLen+len(BinsMetaEnd))
			if n, err := f.ReadAt(foot, size-int64(len(foot))); n < len(foot) {
				return identity{}, err
			}
			if string(foot[idLen:]) == BinsMetaEnd {
				i.id = [idLen]byte(foot)
			}
		}
		return i, nil
	}
	if crypt.Encrypted(head) {
		return identity{encrypted: true}, nil
	}
	return identifyEnd(f, size)
}

// identifyEnd is identifyOpen for a file that begins as none of an archive's. If it ends as one, its first bytes are damaged.
func identifyEnd(f *vfs.File, size int64) (identity, error) {
	for _, h := range headers {
		end := make([]byte, len(h.end))
		if h.end == "" || size < int64(len(end)) {
			continue
		}
		if n, err := f.ReadAt(end, size-int64(len(end))); n < len(end) && err != nil && err != io.EOF {
			return identity{}, err
		}
		if string(end) == h.end {
			return identity{ext: h.ext}, nil
		}
	}
	if !strings.HasSuffix(f.Name(), ParityExt) {
		return identity{}, nil
	}
	// Packets of parity have at most 4,168 bytes, so one begins in the last ones of the file.
	end := make([]byte, min(size, 2*4168))
	if n, err := f.ReadAt(end, size-int64(len(end))); n < len(end) && err != nil && err != io.EOF {
		return identity{}, err
	}
	if strings.Contains(string(end), ParityMagic) {
		return identity{ext: ParityExt}, nil
	}
	return identity{}, nil
}

// isFileOf reports whether the file of archive name with an extension is that of an archive, by its first or last bytes. An empty file is
// one if the other file of its pair is an archive's or is empty, too: a copy to a full disk leaves such files. A lone empty file may be
// one that another program is about to fill, unless it has the extension of a side archive. For an index or parity the other file is the
// packed data.
func isFileOf(dir, name, ext string) (bool, error) {
	path := filepath.Join(dir, name+ext)
	if id, err := identify(path); err != nil || id.ext != "" && id.ext == ext {
		return err == nil, err
	}
	if !isEmpty(path) {
		return false, nil
	}
	for _, pair := range exts {
		for i := range pair {
			if pair[i] == ext {
				id, err := identify(filepath.Join(dir, name+pair[1-i]))
				return id.ext == pair[1-i] || isEmpty(filepath.Join(dir, name+pair[1-i])), err
			}
		}
	}
	if ext == IndexExt || ext == ParityExt {
		id, err := identify(filepath.Join(dir, name+PackedDataExt))
		return id.ext == PackedDataExt, err
	}
	return ext == TreeExt, nil
}

// isEmpty reports whether path is that of an empty file, and not of a link to one.
func isEmpty(path string) bool {
	info, err := vfs.Lstat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// pendingPath is the path of the bins' data file between the commit point and its final name.
func pendingPath(dir, name string, id [idLen]byte) string {
	return filepath.Join(dir, name+BinsDataExt+"."+hex.EncodeToString(id[:]))
}

// parsePending is the inverse of pendingPath for the name of a file.
func parsePending(file string) (name string, id [idLen]byte, ok bool) {
	at := len(file) - 2*idLen - 1
	if at < 0 || file[at] != '.' {
		return "", id, false
	}
	name, ok = strings.CutSuffix(file[:at], BinsDataExt)
	if !ok || name == "" {
		return "", id, false
	}
	if _, err := hex.Decode(id[:], []byte(file[at+1:])); err != nil || hex.EncodeToString(id[:]) != file[at+1:] {
		return "", id, false
	}
	return name, id, true
}
