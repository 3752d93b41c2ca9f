package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"orcomgo/bins/commit"
	"orcomgo/compress/parity"
)

// RepairArchive repairs the files of a packed archive. Where there is no parity beside it, the parity within it mends some damage.
func RepairArchive(e commit.Entry, o parity.RepairOptions) ([]parity.Repaired, error) {
	path := e.Path() + BulkSuffix
	results, err := parity.Repair(path, o)
	if err != nil {
		return nil, err
	}
	if !results[0].OK {
		own, err := repairByItself(e, o)
		if err != nil {
			return nil, err
		}
		if results[0] = own; !own.OK {
			return results, nil
		}
	}
	meta, err := repairMeta(e)
	if err != nil {
		return nil, err
	}
	return append(results, meta...), nil
}

// repairByItself repairs the bulk file without the parity beside it: by its own parity, by its copy of the manifest or the one beside it
// or, if both are lost, by the headers of its sections.
func repairByItself(e commit.Entry, o parity.RepairOptions) (result parity.Repaired, err error) {
	result.Path = e.Path() + BulkSuffix
	var open parity.Files
	defer open.Close()
	copies, _, err := open.Copies(result.Path, o.From)
	if err != nil {
		return result, err
	}
	r, err := openEntry(e, copies[1:])
	if damaged(err) {
		result.Problem = "both manifests are lost"
		r, err = OpenScan(e)
	}
	if damaged(err) {
		result.Problem = err.Error()
		return result, nil
	}
	if err != nil {
		return result, err
	}
	defer r.Close()
	var damages []error
	note := func(err error) {
		if err != nil {
			damages = append(damages, err)
		}
	}
	r.m.eachSection(func(_ label, s *Section) { note(r.Check(*s, "a section", func(uint64) {})) })
	if !r.m.complete() {
		note(errors.New("sections are missing"))
	}
	if len(damages) > 0 {
		result.Problem = fmt.Sprintf("%d sections are damaged beyond repair; orcomgo unpack --salvage restores what is left", len(damages))
		return result, nil
	}
	if err := r.CheckRest(func(uint64) {}); err != nil {
		return result, err
	}
	if result.Problem == "" && len(r.mendProblems) == 0 && r.bulkProblem == nil {
		result.OK = true
		return result, nil
	}
	if result.Problem == "" {
		for _, p := range append(r.mendProblems, r.problems...) {
			result.Problem = p.Error()
		}
	}
	return result, r.rewrite(&result)
}

// rewrite writes the bulk file again, with its manifest.
func (r *Reader) rewrite(result *parity.Repaired) error {
	t, err := commit.NewTemp(r.f.Name())
	if err != nil {
		return err
	}
	defer t.Discard()
	out := bufio.NewWriterSize(t, 1<<20)
	out.WriteString(bulkMagic) // the buffer keeps its errors
	out.WriteByte(Version)
	out.Write(r.m.ID[:])
	r.m.eachSection(func(l label, s *Section) {
		if s.Len == 0 || err != nil {
			return
		}
		out.Write(l.append(nil, s))
		err = r.mendingRead(func(f io.ReaderAt) error {
			_, err := io.Copy(out, io.NewSectionReader(f, int64(s.Off), int64(s.Len)))
			return err
		})
	})
	if err != nil {
		return err
	}
	data := r.m.marshal()
	if _, err := parseManifest(r.f.Name(), data); err != nil {
		return err
	}
	out.Write(appendTail(nil, data))
	if err := out.Flush(); err != nil {
		return err
	}
	if err := t.Sync(); err != nil {
		return err
	}
	result.OK, result.Written = true, true
	return commit.ReplaceFile(r.f, t)
}

// repairMeta writes the .cmeta file again unless it is the manifest of the bulk file.
func repairMeta(e commit.Entry) ([]parity.Repaired, error) {
	r, err := OpenEntry(e)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var open parity.Files
	defer open.Close()
	was, _, err := open.Open(r.metaPath())
	if err != nil {
		return nil, err
	}
	result, want := parity.Repaired{Path: r.metaPath(), Problem: "it is missing"}, r.m.marshal()
	if was != nil {
		result.Problem = "it is damaged"
		if data, err := io.ReadAll(was); err != nil || bytes.Equal(data, want) {
			return nil, err
		}
	}
	t, err := writeTemp(r.metaPath(), want)
	if err != nil {
		return nil, err
	}
	defer t.Discard()
	if was != nil {
		err = commit.ReplaceFile(was, t)
	} else {
		err = commit.InstallMeta(e.Dir, e.Name, t)
	}
	result.OK, result.Written = err == nil, err == nil
	return []parity.Repaired{result}, err
}
