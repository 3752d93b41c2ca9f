package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"orcomgo/bins/parse"
	"orcomgo/bins/vfs"
	"orcomgo/compress/parity"
)

// mended is the bulk file as it was before it was damaged, as far as the parity says.
type mended struct {
	*parity.View
	rest io.ReaderAt // what lies beyond the bytes that the parity is of
	size int64
}

func (m *mended) Size() int64 { return m.size }

// ReadAt implements io.ReaderAt.
func (m *mended) ReadAt(p []byte, at int64) (int, error) {
	if n := m.View.Size() - at; n > 0 {
		n, err := m.View.ReadAt(p[:min(n, int64(len(p)))], at)
		if n == len(p) || err != nil && err != io.EOF {
			return n, err
		}
		more, err := m.ReadAt(p[n:], at+int64(n))
		return n + more, err
	}
	if at >= m.size {
		return 0, io.EOF
	}
	return m.rest.ReadAt(p, at)
}

// mend looks for damage of the bulk file, once, and reports whether what sections are read from is mended.
func (r *Reader) mend() bool {
	r.mending.Lock()
	defer r.mending.Unlock()
	if !r.tried && r.writer == nil {
		r.tried = true
		m, by, err := r.tryParity()
		switch {
		case err != nil:
			r.mendProblems = append(r.mendProblems, err)
		case m != nil:
			r.mended.Store(m)
			r.mendProblems = append(r.mendProblems,
				fmt.Errorf("%s: %s; %s restores them (orcomgo repair): %w", r.f.Name(), m.Damage(), by, parse.ErrCorrupt))
		}
	}
	return r.mended.Load() != nil
}

// tryParity returns the bulk file as the parity says that it was, and which parity that is; nil if it is as it was, or there is none.
func (r *Reader) tryParity() (m *mended, by string, err error) {
	info, err := r.f.Stat()
	if err != nil {
		return nil, "", err
	}
	copies := append([]parity.Copy{{R: r.f, Size: info.Size()}}, r.copies...)
	path := parity.Path(r.f.Name())
	set, err := r.besideSet(path)
	if err == nil && set != nil {
		v, err := parity.Restore(set, copies...)
		if err != nil || v.Whole() {
			return nil, "", err
		}
		if v.Lost() == 0 || r.m == nil {
			return &mended{v, r.f, v.Size()}, filepath.Base(path), nil
		}
	}
	if r.m == nil || r.m.Parity.Len == 0 {
		return nil, "", err
	}
	p := r.m.Parity
	err = parse.ErrCorrupt
	var from parity.Copy // that has the parity
	for i := 0; err != nil && i < len(copies); i++ {
		from = copies[i]
		set, err = parity.Read(io.NewSectionReader(from.R, int64(p.Off), int64(p.Len)), min(int64(p.Len), max(0, from.Size-int64(p.Off))))
	}
	if err != nil {
		return nil, "", nil // CheckRest says so
	}
	v, err := parity.Restore(set, copies...)
	if err != nil || v.Whole() || v.Size() != int64(p.Off-labelLen) {
		return nil, "", err
	}
	return &mended{v, from.R, max(from.Size, v.Size())}, "its own parity", nil
}

// besideSet opens the parity of the bulk file that is beside it; nil if there is none, or if it is of another archive.
func (r *Reader) besideSet(path string) (*parity.Set, error) {
	f, err := vfs.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, vfs.ErrNotRegular) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r.parity = f // which is closed with the archive
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	set, err := parity.Read(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if r.m != nil && set.ID() != r.m.ID {
		return nil, corrupt(path, "it is of another archive (ID %x, the manifest says %x)", set.ID(), r.m.ID)
	}
	return set, nil
}

// CheckRest compares everything that restoring does not read with what it should be: headers of sections, the sections that are needed if
// the manifest is lost, and the parity. Problems says what is wrong. count is called with the bytes of each piece that is read.
func (r *Reader) CheckRest(count func(bytes uint64)) error {
	note := func(err error) error {
		if damaged(err) {
			r.mending.Lock()
			r.mendProblems = append(r.mendProblems, err)
			r.mending.Unlock()
			return nil
		}
		return err
	}
	var failed error
	one := *r.m // whose sections are given labels
	one.eachSection(func(l label, s *Section) {
		if failed != nil || s.Len == 0 {
			return
		}
		want, got := l.append(nil, s), make([]byte, labelLen)
		err := r.mendingRead(func(f io.ReaderAt) error {
			b := bulk{f, r.f.Name(), 0}
			err := b.read(got, s.Off-labelLen)
			if err == nil && string(got) != string(want) {
				err = corrupt(r.f.Name(), "the header of the section at byte %d is damaged", s.Off-labelLen)
			}
			return err
		})
		if err == nil && (l.kind == kindHead || l.kind == kindParity) {
			err = r.Check(*s, map[kind]string{kindHead: "the copy of what the inputs are", kindParity: "the parity"}[l.kind], count)
		}
		failed = note(err)
	})
	if failed != nil || r.parity != nil { // it was read when sections were
		return failed
	}
	path := parity.Path(r.f.Name())
	set, err := r.besideSet(path)
	if err == nil && set != nil && set.Lost > 0 {
		err = corrupt(path, "%d of %d packets are damaged: orcomgo repair makes them again", set.Lost, set.Packets)
	}
	return note(err)
}

// isFile reports whether there is a regular file at path.
func isFile(path string) bool {
	info, err := vfs.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
