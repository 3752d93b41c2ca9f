package restoring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/compress/archive"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
)

// FileStatus is what became of one file: verified, or restored by Unpack.
type FileStatus struct {
	Name    string `json:"name"`
	Bytes   uint64 `json:"bytes"` // of text
	Records uint64 `json:"records"`
	OK      bool   `json:"ok"`
	Problem string `json:"problem,omitempty"` // why not OK, a line
	// Parts is how many files there are if the input was restored in parts; Name is the first one.
	Parts int `json:"parts,omitempty"`
	// Checked says against what the text was compared: "SHA-256", the same "as text and as file" of a .gz, "block hashes" (XXH3-128
	// of the text as stage 1 read it), or "section checksums" where neither is known.
	Checked string `json:"checked,omitempty"`
	SHA256  string `json:"sha256,omitempty"` // of the text, when Checked is "SHA-256"
	MD5     string `json:"md5,omitempty"`    // of the text, with VerifyOptions.MD5
	// Damaged are the records that can't be restored, in ascending order; empty for a
	// problem of the file as a whole.
	Damaged []RecordRange `json:"damaged,omitempty"`

	err error // what Problem says
}

// checkedSections is what FileStatus.Checked says where the text was not compared with anything.
const checkedSections = "section checksums"

// fail notes what is wrong with the file as a whole, if err is not nil.
func (s *FileStatus) fail(err error) {
	if err != nil && s.OK {
		s.OK, s.Problem, s.err = false, err.Error(), err
	}
}

// damage notes that the records of a slice can't be restored. Slices of an input come in
// ascending order.
func (s *FileStatus) damage(sl *archive.Slice, err error) {
	s.fail(err)
	from, to := sl.From, sl.From+uint64(sl.Records)
	if n := len(s.Damaged); n > 0 && s.Damaged[n-1].To == from {
		s.Damaged[n-1].To = to
		return
	}
	s.Damaged = append(s.Damaged, RecordRange{from, to})
}

// DamagedText says in words which records can't be restored; "" if that is not known.
func (s *FileStatus) DamagedText() string {
	const most = 5
	var text []string
	for i, r := range s.Damaged {
		if i == most {
			text = append(text, fmt.Sprintf("and %d more stretches", len(s.Damaged)-most))
			break
		}
		text = append(text, fmt.Sprintf("%d to %d", r.From+1, r.To))
	}
	if text == nil {
		return ""
	}
	return "records " + strings.Join(text, ", ")
}

// VerifyOptions control Verify.
type VerifyOptions struct {
	Threads  int
	Memory   uint64            // bytes aimed for; 0 for the package's default
	GPU      func(note string) // as in UnpackOptions
	MD5      bool              // compute the MD5 of each text, too, which takes one thread 2 s a GB
	Progress workers.Progress  // may be nil
}

// IsDamage reports whether err says that an archive is damaged or of an unknown version, and
// not that something else failed.
func IsDamage(err error) bool {
	return errors.Is(err, parse.ErrCorrupt) || errors.Is(err, parse.ErrVersion) || errors.Is(err, commit.ErrNotArchive)
}

// Verify decodes everything of an archive and compares it with the
// checksums taken when it was written; it returns a status for each input, and one for each
// file of the archive that is damaged in what the inputs don't depend on. Where bins are
// beside the packed archive they are verified as well, and a problem of theirs is reported
// with their input. The error is for what prevents a look at single files: no archive, or
// one whose index is damaged.
func Verify(ctx context.Context, e commit.Entry, o VerifyOptions) ([]FileStatus, error) {
	return verify(ctx, e, o, verifyAll)
}

// verify verifies an archive by a function that returns a status for each input of a source.
func verify(ctx context.Context, e commit.Entry, o VerifyOptions,
	inputs func(ctx context.Context, src source.Source, o VerifyOptions) ([]FileStatus, error)) ([]FileStatus, error) {
	src, err := source.OpenEntry(e, o.Threads, o.Memory)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	useGPU(src, o.GPU)
	status, err := inputs(ctx, src, o)
	if err != nil {
		return nil, err
	}
	if p, ok := src.(*source.Packed); ok {
		if err := p.Archive.CheckRest(); err != nil {
			return nil, err
		}
		if e.Has[commit.Bins] { // it was made of them
			e.Has[commit.Packed] = false
			b, err := source.OpenEntry(e, o.Threads, o.Memory)
			if err != nil {
				return nil, err
			}
			defer b.Close()
			ofBins, err := inputs(ctx, b, o)
			if err != nil {
				return nil, err
			}
			for i := range ofBins {
				if !ofBins[i].OK && status[i].OK {
					status[i] = ofBins[i]
				}
			}
		}
	}
	return append(status, ProblemStatus(src)...), nil
}

// verifyAll is VerifySource with what the text does not depend on, where columns of bins were left out. That says nothing of which input it
// is of, so all share it.
func verifyAll(ctx context.Context, src source.Source, o VerifyOptions) ([]FileStatus, error) {
	status, err := VerifySource(ctx, src, o)
	b, ok := src.(*source.Binned)
	if err != nil || !ok || !slices.ContainsFunc(b.Man.Inputs, func(in archive.Input) bool { return in.Blocks == nil }) {
		return status, err
	}
	if err = b.Bins.Check(ctx); ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for i := range status {
		status[i].fail(err)
	}
	return status, nil
}

// useGPU has a GPU decode the qualities of a packed archive, unless note is nil.
func useGPU(src source.Source, note func(string)) {
	if p, ok := src.(*source.Packed); ok && note != nil {
		p.UseGPU(note)
	}
}

// ProblemStatus returns a status for each file of the archive that is damaged in what the inputs don't depend on.
func ProblemStatus(src source.Source) (status []FileStatus) {
	for _, p := range src.Problems() {
		file, problem, _ := strings.Cut(p.Error(), ": ")
		status = append(status, FileStatus{Name: file, Problem: problem})
	}
	return status
}

// VerifySource is Verify of a source, without what the inputs don't depend on.
func VerifySource(ctx context.Context, src source.Source, o VerifyOptions) ([]FileStatus, error) {
	return VerifyJobs(ctx, src, "verify", o, WholeArchive(src.Manifest()), nil)
}

// VerifyJobs is VerifySource with the jobs for the whole archive. look, if not nil, is called as the work of replay.
func VerifyJobs(ctx context.Context, src source.Source, stage string, o VerifyOptions, jobs []Job,
	look func(k int, p *Piece, b *source.Decoded) error) ([]FileStatus, error) {
	for i := range jobs {
		jobs[i].AsText = look == nil
	}
	man := src.Manifest()
	status, checks := make([]FileStatus, len(man.Inputs)), make([]*TextCheck, len(man.Inputs))
	for i := range man.Inputs {
		in := &man.Inputs[i]
		checks[i] = CheckOf(man, i, o.MD5)
		checks[i].CheckFile(in, o.Threads)
		defer checks[i].Close()
		status[i] = FileStatus{Name: in.Name, Records: in.Records, OK: true, Checked: checkedSections}
		if man.Verified {
			status[i].Checked = "SHA-256"
			if checks[i].file != nil {
				status[i].Checked = "SHA-256, as text and as file"
			}
		} else if in.Blocks != nil {
			status[i].Checked = "block hashes"
		}
	}
	consume := func(_ int, p *Piece, done func()) error {
		defer done()
		s := &man.Slices[p.Slice]
		for m, mem := range s.Texts() {
			if p.Err[m] != nil {
				status[mem.Input].damage(s, p.Err[m])
			} else if status[mem.Input].OK {
				status[mem.Input].fail(checks[mem.Input].Add(p.Text[m]))
			}
		}
		return nil
	}
	if err := NewReplay(src, stage, o.Threads, o.Memory, o.Progress, jobs).Run(ctx, jobs, look, consume); err != nil {
		return nil, err
	}
	for i := range status {
		if status[i].Bytes = checks[i].Bytes; status[i].OK {
			status[i].end(man, i, checks[i])
			if o.MD5 {
				status[i].MD5 = fmt.Sprintf("%x", checks[i].Sums.Sums().MD5)
			}
		}
	}
	return status, nil
}

// end compares what can only be compared once all of the text of an input has passed.
func (s *FileStatus) end(man *archive.Manifest, input int, c *TextCheck) {
	if man.Verified {
		s.SHA256 = fmt.Sprintf("%x", man.Inputs[input].SHA256)
	}
	s.fail(c.End())
}

// Err returns what Problem says; nil of a file that is OK.
func (s *FileStatus) Err() error { return s.err }
