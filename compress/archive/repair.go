package archive

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"orcomgo/bins/commit"
	"orcomgo/bins/crypt"
	"orcomgo/bins/vfs"
	"orcomgo/compress/parity"
)

// usualShare is the share of parity that takes the place of one of which too little is left to say how much there was.
const usualShare = 0.01

// RepairArchive repairs the files of a packed archive. Where there is no parity beside it that can be used, the parity within it mends some
// damage.
func RepairArchive(e commit.Entry, o parity.RepairOptions) ([]parity.Repaired, error) {
	results, err := parity.Repair(e.Path()+BulkSuffix, o)
	if err == nil && !results[0].OK {
		results, err = repairByItself(e, o)
	}
	if err != nil || !results[0].OK {
		return results, err
	}
	meta, err := repairMeta(e)
	if errors.Is(err, crypt.ErrKey) { // then only what is stored can be repaired
		err = nil
	}
	return append(results, meta...), err
}

// repairByItself repairs the bulk file without the parity beside it: by its own parity, by its copy of the manifest or the one beside it
// or, if both are lost, by the headers of its sections. Parity that is damaged is made again.
func repairByItself(e commit.Entry, o parity.RepairOptions) ([]parity.Repaired, error) {
	result := parity.Repaired{Path: e.Path() + BulkSuffix}
	copies, err := parity.OpenCopies(result.Path, o.From)
	if err != nil {
		return nil, err
	}
	defer copies.Close()
	r, err := openEntry(e, copies.List[1:])
	if damaged(err) {
		result.Problem = "both manifests are lost"
		r, err = OpenScan(e)
	}
	if damaged(err) {
		result.Problem = err.Error()
		return []parity.Repaired{result}, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	lost, err := r.checkAll()
	if err != nil {
		return nil, err
	}
	if lost > 0 {
		result.Problem = fmt.Sprintf("damaged beyond repair (lost sections: %d); orcomgo unpack --salvage restores what is left", lost)
		return []parity.Repaired{result}, nil
	}
	for _, p := range r.problems {
		result.Problem = cmp.Or(result.Problem, strings.TrimPrefix(p.Error(), result.Path+": "))
	}
	if result.OK = true; result.Problem != "" {
		if err := r.rewrite(o); err != nil {
			return nil, err
		}
		result.Written = true
	}
	if r.parityProblem == nil {
		return []parity.Repaired{result}, nil
	}
	o.Share = cmp.Or(o.Share, usualShare)
	beside, err := parity.ProtectAnew(result.Path, r.m.ID, o)
	beside.Problem = strings.TrimPrefix(r.parityProblem.Error(), beside.Path+": ")
	if errors.Is(err, commit.ErrForeign) {
		beside.OK, beside.Written, err = false, false, nil
		beside.Problem += "; nothing in it says that it is parity: if it was, remove it and use orcomgo protect"
	}
	return []parity.Repaired{result, beside}, err
}

// checkAll compares all sections with their checksums, and everything else as CheckRest. It returns how many sections are lost; the parity
// is not, since it can be made again.
func (r *Reader) checkAll() (lost int, err error) {
	r.m.eachSection(func(l label, s *Section) {
		if l.kind == kindParity || err != nil {
			return
		}
		if err = r.Check(*s, "a section", nil); damaged(err) {
			lost, err = lost+1, nil
		}
	})
	if lost == 0 && !r.m.complete() {
		lost = 1
	}
	if err == nil {
		err = r.CheckRest()
	}
	return lost, err
}

// rewrite writes the bulk file again, with its manifest. Parity that is damaged is made again of the other sections.
func (r *Reader) rewrite(o parity.RepairOptions) error {
	t, err := commit.NewTemp(r.f.Name())
	if err != nil {
		return err
	}
	defer t.Discard()
	m := *r.m
	w := &Writer{f: t, off: bulkHeader, id: m.ID}
	if err := w.EncryptAs(r.Envelope()); err != nil {
		return err
	}
	was := m.Parity
	if m.Parity.Len > 0 && damaged(r.Check(m.Parity, "its own parity", nil)) {
		m.Parity = Section{}
	}
	m.eachSection(func(l label, s *Section) {
		if s.Len == 0 || err != nil {
			return
		}
		header := l.append(nil, s)
		err = r.mendingRead(*s, func(f io.ReaderAt) error {
			content := io.MultiReader(bytes.NewReader(header), io.NewSectionReader(f, int64(s.Off), int64(s.Len)))
			_, err := io.Copy(io.NewOffsetWriter(t, int64(w.off)), content)
			return err
		})
		w.off += labelLen + s.Len
	})
	if err != nil {
		return err
	}
	much := parity.BytesOf(int64(w.off), int64(was.Len))
	if err := w.addParity(&m, parity.Options{Bytes: much, Threads: o.Threads, Memory: o.Memory}); err != nil {
		return err
	}
	m.BulkLen = w.off
	if _, err := w.endWith(&m); err != nil {
		return err
	}
	return commit.ReplaceFile(r.f, t)
}

// repairMeta writes the .cmeta file again unless it is the manifest of the bulk file.
func repairMeta(e commit.Entry) ([]parity.Repaired, error) {
	r, err := OpenEntry(e)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	result := parity.Repaired{Path: r.metaPath(), Problem: "it is missing", OK: true, Written: true}
	if r.m.OneFile {
		return nil, nil
	}
	if r.MetaMissing() {
		return []parity.Repaired{result}, r.RestoreMeta()
	}
	was, err := vfs.OpenContent(r.metaPath())
	if err != nil {
		return nil, err
	}
	defer was.Close()
	want := r.m.marshal()
	if data, err := io.ReadAll(was); err != nil || bytes.Equal(data, want) {
		return nil, err
	}
	result.Problem = "it is damaged"
	t, err := writeTemp(r.metaPath(), r.Envelope(), want)
	if err != nil {
		return nil, err
	}
	defer t.Discard()
	return []parity.Repaired{result}, commit.ReplaceFile(was, t)
}
