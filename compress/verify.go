package compress

import (
	"context"
	"errors"
	"fmt"

	"orcomgo/bins"
)

// FileStatus is what became of one file: verified, or restored by Unpack.
type FileStatus struct {
	Name    string `json:"name"`
	Bytes   uint64 `json:"bytes"` // of text
	Records uint64 `json:"records"`
	OK      bool   `json:"ok"`
	Problem string `json:"problem,omitempty"` // why not OK, a line
	// Checked says against what the text was compared: "SHA-256", "block hashes" (XXH3-128
	// of the text as stage 1 read it), or "section checksums" where neither is known.
	Checked string `json:"checked,omitempty"`
	SHA256  string `json:"sha256,omitempty"` // of the text, when Checked is "SHA-256"
}

// VerifyOptions control Verify.
type VerifyOptions struct {
	Threads  int
	Memory   uint64   // bytes aimed for; 0 for the package's default
	Progress Progress // may be nil
}

// Verify decodes everything in dir and compares it with the checksums taken when it was
// written; it returns a status for each input. Where bins stand beside the packed archive
// they are verified as well, and a problem of theirs is reported with their input. The error
// is for what prevents a look at single files: no archive, or one whose index is damaged.
func Verify(ctx context.Context, dir string, o VerifyOptions) ([]FileStatus, error) {
	src, err := openSource(dir, o.Threads)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	status, err := verifySource(ctx, src, o)
	if err != nil {
		return nil, err
	}
	if b, ok := src.(*binned); ok {
		if err := b.checkRest(ctx, status); err != nil {
			return nil, err
		}
	}
	if _, ok := src.(*packed); !ok {
		return status, nil
	}
	r, err := bins.Open(dir)
	if errors.Is(err, ErrNotArchive) {
		return status, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if r.Meta().ID != src.manifest().Source {
		_, meta := r.Paths()
		return nil, fmt.Errorf("%s: the bins are not those that %s was packed from: %w", meta, src.paths()[1], ErrCorrupt)
	}
	b, err := newBinned(r, o.Threads)
	if err != nil {
		return nil, err
	}
	binStatus, err := verifySource(ctx, b, o)
	if err != nil {
		return nil, err
	}
	for i := range status {
		if !binStatus[i].OK && status[i].OK {
			status[i].OK, status[i].Problem = false, binStatus[i].Problem
		}
	}
	return status, nil
}

// checkRest checks what the text does not depend on, where columns were left out. It says
// nothing of which input it is of, so all share it.
func (b *binned) checkRest(ctx context.Context, status []FileStatus) error {
	for i := range b.man.Inputs {
		if b.man.Inputs[i].Blocks != nil {
			continue
		}
		err := b.r.Check(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for i := range status {
			if err != nil && status[i].OK {
				status[i].OK, status[i].Problem = false, err.Error()
			}
		}
		break
	}
	return nil
}

// result is the text of a slice, or why there is none.
type result struct {
	text [2][]byte
	err  error
}

func verifySource(ctx context.Context, src source, o VerifyOptions) ([]FileStatus, error) {
	man := src.manifest()
	status := make([]FileStatus, len(man.Inputs))
	checks := make([]*textCheck, len(man.Inputs))
	for i := range man.Inputs {
		in := &man.Inputs[i]
		s := &status[i]
		*s = FileStatus{Name: in.Name, Records: in.Records, OK: true, Checked: "section checksums"}
		if man.Verified {
			s.Checked = "SHA-256"
		} else if in.Blocks != nil {
			s.Checked = "block hashes"
		}
		checks[i] = newTextCheck(in.Name, in.Blocks, man.Verified)
	}
	fail := func(input int, err error) {
		if s := &status[input]; s.OK {
			s.OK, s.Problem = false, err.Error()
		}
	}
	all := make([]int, len(man.Slices))
	var total, largest uint64
	for i := range all {
		all[i] = i
		t := sliceBytes(man, i)
		total, largest = total+t, max(largest, t)
	}
	src.prepare(all)
	progress := newMeter(o.Progress, "verify", total)
	flight := inFlight(o.Threads, o.Memory, largest)
	texts := &buffers{keep: 2 * flight}
	pool := newWorkers(o.Threads)
	produce := func(ctx context.Context, i int) (*result, error) {
		b, err := src.decode(ctx, i, [2]bool{true, true})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r := &result{err: err}
		if err != nil {
			return r, nil
		}
		return r, pool.do(ctx, func() error {
			for m := range b.slice.Members() {
				c := b.cols[m]
				f := formOf(man.Options, man.Inputs[c.input].Kind)
				if r.text[m], r.err = b.text(texts.get(textSize(f, c)), man, m, nil); r.err != nil {
					break
				}
			}
			b.drop()
			return nil
		})
	}
	consume := func(i int, r *result) error {
		for m, mem := range man.Slices[i].Members() {
			err := r.err
			if err == nil && status[mem.Input].OK {
				err = checks[mem.Input].add(r.text[m])
			}
			if err != nil {
				fail(mem.Input, err)
			}
			texts.put(r.text[m])
		}
		progress.add(sliceBytes(man, i))
		return nil
	}
	if err := inOrder(ctx, len(all), flight, produce, consume); err != nil {
		return nil, err
	}
	for i := range status {
		s := &status[i]
		s.Bytes = checks[i].bytes
		if !s.OK {
			continue
		}
		var want *[32]byte
		if man.Verified {
			want = &man.Inputs[i].SHA256
			s.SHA256 = fmt.Sprintf("%x", *want)
		}
		if err := checks[i].end(want); err != nil {
			fail(i, err)
		}
	}
	return status, nil
}
