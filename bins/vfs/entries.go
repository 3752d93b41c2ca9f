package vfs

import (
	"io/fs"
	"os"
	"time"
)

// What archives of directories need beside files: links, FIFOs, modes and times by path.

// ModeBits returns the permissions of a mode with the bits for set-user-ID, set-group-ID and sticky, as in Unix: 12 bits.
func ModeBits(m fs.FileMode) uint32 {
	bits := uint32(m.Perm())
	for i, special := range specialModes {
		if m&special != 0 {
			bits |= 0o1000 << i
		}
	}
	return bits
}

// specialModes are those of the bits from 0o1000 on.
var specialModes = [...]fs.FileMode{fs.ModeSticky, fs.ModeSetgid, fs.ModeSetuid}

// fileMode is the inverse of ModeBits.
func fileMode(bits uint32) fs.FileMode {
	m := fs.FileMode(bits & 0o777)
	for i, special := range specialModes {
		if bits&(0o1000<<i) != 0 {
			m |= special
		}
	}
	return m
}

// Masked returns bits, as of ModeBits, without those that the umask of the process removes.
func Masked(bits uint32) uint32 { return bits &^ umask }

// SetMode sets the mode of an open file, which may have no name, to bits as of ModeBits.
func (f *File) SetMode(bits uint32) error {
	return call("fchmod", f.path, func() error { return f.f.Chmod(fileMode(bits)) })
}

// SetMode sets the mode of a file or a directory to bits as of ModeBits.
func SetMode(path string, bits uint32) error {
	return call("chmod", path, func() error { return os.Chmod(path, fileMode(bits)) })
}

// Owner has the numbers of the user and of the group that a file belongs to.
type Owner struct{ User, Group uint32 }

// SetOwner sets the owner of an open file. Systems clear set-user-ID and set-group-ID then.
func (f *File) SetOwner(o Owner) error {
	return call("fchown", f.path, func() error { return f.f.Chown(int(o.User), int(o.Group)) })
}

// SetLinkOwner sets the owner of a symbolic link itself.
func SetLinkOwner(path string, o Owner) error {
	return call("lchown", path, func() error { return os.Lchown(path, int(o.User), int(o.Group)) })
}

// OpenEntry opens what has a name, to describe it: a FIFO without waiting for one that writes to it. A symbolic link is an error.
func OpenEntry(path string) (*File, error) {
	return open("open", path, func() (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|noFollow|noWait, 0) })
}

// SetTime sets the time of the last modification of a file or a directory.
func SetTime(path string, t time.Time) error {
	return call("utimens", path, func() error { return setPathTime(path, t) })
}

// SetLinkTime is SetTime of a symbolic link itself. The error wraps errors.ErrUnsupported where the system can't do that.
func SetLinkTime(path string, t time.Time) error {
	return call("utimens", path, func() error { return setLinkTime(path, t) })
}

// Readlink returns what a symbolic link leads to, as it is stored.
func Readlink(path string) (string, error) {
	return callFor("readlink", path, func() (string, error) { return os.Readlink(path) })
}

// Symlink makes a symbolic link. The error wraps fs.ErrExist if there is something of its name.
func Symlink(target, path string) error {
	return call("symlink", path, func() error { return os.Symlink(target, path) })
}

// HardLink gives a file one more name. The error wraps fs.ErrExist if there is something of it.
func HardLink(file, path string) error {
	return call("link", path, func() error { return os.Link(file, path) })
}

// MakeFIFO makes a FIFO. The error wraps fs.ErrExist if there is something of its name, and errors.ErrUnsupported where there are no FIFOs.
func MakeFIFO(path string) error {
	return call("mkfifo", path, func() error { return makeFIFO(path) })
}
