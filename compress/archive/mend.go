package archive

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"

	"orcomgo/bins/crypt"
	"orcomgo/bins/parse"
	"orcomgo/bins/vfs"
	"orcomgo/compress/parity"

	"github.com/zeebo/xxh3"
)

// mended is the bulk file as it was before it was damaged, as far as the parity says.
type mended struct {
	*parity.View
	rest io.ReaderAt // what lies beyond the bytes that the parity is of
	size int64
	// content is what it reads of an encrypted file, whose stored bytes the parity is of; nil of others.
	content *crypt.File
}

func (m *mended) Size() int64 { return m.size }

// ReadAt implements io.ReaderAt.
func (m *mended) ReadAt(p []byte, at int64) (int, error) {
	if m.content != nil {
		return m.content.ReadAt(p, at)
	}
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
			r.problems = append(r.problems, fmt.Errorf("%s: %w", r.f.Name(), err))
		case m != nil:
			r.mended.Store(m)
			r.problems = append(r.problems, m.Problem(r.f.Name(), by))
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
	copies := append([]parity.Copy{{R: r.f.Stored(), Size: info.Size()}}, r.copies...)
	set, failed := r.parityBeside()
	if set != nil {
		defer set.Close()
		v, err := parity.Restore(set, copies...)
		switch {
		case err != nil:
			failed = err
		case v.Whole():
			return nil, "", nil
		case v.Lost() == 0 || r.m == nil:
			m := &mended{View: v, rest: r.f, size: v.Size()}
			if m.content, err = vfs.Content(v, v.Size()); m.content != nil {
				m.size = m.content.Size()
			}
			return m, filepath.Base(parity.Path(r.f.Name())), err
		}
	}
	for i := range copies {
		if copies[i], err = contentOf(copies[i]); err != nil {
			return nil, "", err
		}
	}
	at, length := int64(0), int64(math.MaxInt64) // of the parity within; without a manifest anywhere
	if r.m != nil {
		at, length = int64(r.m.Parity.Off), int64(r.m.Parity.Len)
	}
	err = parse.ErrCorrupt
	var from parity.Copy // that has the parity
	for i := 0; err != nil && i < len(copies); i++ {
		from = copies[i]
		set, err = parity.Read(io.NewSectionReader(from.R, at, length), min(length, max(0, from.Size-at)))
	}
	if err != nil {
		return nil, "", failed // CheckRest says what is wrong with the parity within
	}
	v, err := parity.Restore(set, copies...)
	if err != nil || v.Intact() || r.m != nil && v.Size() != at-labelLen {
		return nil, "", err
	}
	return &mended{View: v, rest: from.R, size: max(from.Size, v.Size())}, "its own parity", nil
}

// contentOf returns the content of a copy, with zeros for blocks of an encrypted one that are damaged.
func contentOf(c parity.Copy) (parity.Copy, error) {
	content, err := vfs.Content(c.R, c.Size)
	if content != nil {
		c = parity.Copy{R: content.Lenient(), Size: content.Size()}
	}
	return c, err
}

// parityBeside opens the parity that is beside the bulk file, and notes what is wrong with it; nil if there is none that can be used.
func (r *Reader) parityBeside() (*parity.Set, error) {
	path := parity.Path(r.f.Name())
	set, err := parity.Open(path)
	if set != nil {
		if err = set.Problem(); r.m != nil && set.ID() != r.m.ID {
			err = corrupt(path, "it is of another archive (ID %x, the manifest says %x)", set.ID(), r.m.ID)
			set.Close()
			set = nil
		}
	}
	if damaged(err) {
		r.parityProblem, err = err, nil
	}
	return set, err
}

// CheckRest compares everything that restoring does not read with what it should be: headers of sections, the sections that are needed if
// the manifest is lost, and the parity. Problems says what is wrong.
func (r *Reader) CheckRest() error {
	var err error
	one := *r.m // whose sections are given labels
	one.eachSection(func(l label, s *Section) {
		if err != nil || s.Len == 0 {
			return
		}
		if err = r.checkLabel(l, s); err == nil && l.kind == kindHead {
			err = r.Check(*s, "the copy of what the inputs are", nil)
		}
		if err == nil && l.kind == kindParity {
			err = r.Check(*s, "its own parity (orcomgo repair makes it again)", nil)
		}
		if damaged(err) {
			r.mending.Lock()
			r.problems = append(r.problems, err)
			r.mending.Unlock()
			err = nil
		}
	})
	r.mending.Lock()
	defer r.mending.Unlock()
	if err != nil || r.tried { // then the parity beside it was read
		return err
	}
	set, err := r.parityBeside()
	if set != nil {
		set.Close()
	}
	if errors.Is(err, parity.ErrMemory) { // it is not needed
		err = nil
	}
	return err
}

// checkLabel compares the header of a section with what it should be.
func (r *Reader) checkLabel(l label, s *Section) error {
	want, got := l.append(nil, s), make([]byte, labelLen)
	if hash, ok := r.labels.Load(s.Off); ok && hash == xxh3.Hash(want) {
		return nil
	}
	return r.mendingRead(*s, func(f io.ReaderAt) error {
		b := bulk{f, r.f.Name(), 0}
		err := b.read(got, s.Off-labelLen)
		if err == nil && string(got) != string(want) {
			err = corrupt(r.f.Name(), "the header of the section at byte %d is damaged", s.Off-labelLen)
		}
		return err
	})
}

// isFile reports whether there is a regular file at path.
func isFile(path string) bool {
	info, err := vfs.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
