package commit

import (
	"io/fs"

	"orcomgo/bins/vfs"
)

// Access is who may read and write each of some files: what is made of them is open to nobody else. The zero value is everybody.
type Access struct {
	denied uint32 // permissions that one of them lacks
	group  uint32 // of all of them, if groups is 1
	groups int    // 2: several
}

// AccessTo returns the Access of the files of these paths, without those that can't be described.
func AccessTo(paths ...string) (a Access) {
	for _, path := range paths {
		if info, err := vfs.Stat(path); err == nil {
			a.Add(info, info.Mode())
		}
	}
	return a
}

// Add adds a file, or a directory that it is in. mode is that of the file, or less.
func (a *Access) Add(info fs.FileInfo, mode fs.FileMode) {
	a.denied |= ^uint32(mode.Perm())
	owner, ok := vfs.OwnerOf(info)
	switch {
	case !ok:
	case a.groups == 0:
		a.group, a.groups = owner.Group, 1
	case a.group != owner.Group:
		a.groups = 2
	}
}

// permissions returns those of a file that is described, as far as a and the umask allow. Its owner may always read and write.
func (a *Access) permissions(file fs.FileInfo) uint32 {
	allowed := 0o666 &^ a.denied
	if o, ok := vfs.OwnerOf(file); ok && (a.groups == 2 || a.groups == 1 && a.group != o.Group) { // for its group what is for all
		allowed &= allowed<<3 | 0o606
	}
	return vfs.Masked(allowed) | 0o600
}

// Restrict has the file open to no more than a allows, once it has its name.
func (t *Temp) Restrict(a Access) { t.access = a }

// SetMode sets the mode that the file has with its name, too, to bits as of vfs.ModeBits.
func (t *Temp) SetMode(bits uint32) error {
	t.modeSet = true
	return t.File.SetMode(bits)
}
