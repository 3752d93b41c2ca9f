// Package compress is stage 2: it packs the bins of an archive and gives back the text of
// an archive, packed or not. Names, qualities, sequences, lengths and layout of a slice of
// records are columns coded each for itself, except that sequences are coded given the
// qualities and the names of second mates given those of the first. docs/FORMAT.md,
// section Archive, specifies what is written.
package compress

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orcomgo/bins"
	"orcomgo/compress/archive"
	"orcomgo/compress/seqs"
)

// PackOptions control Pack. The zero value packs with the default level on one thread.
type PackOptions struct {
	Threads int
	Memory  uint64 // bytes aimed for; 0 for the package's default
	TempDir string // for temporary files; "" for the archive's own directory
	Tool    string // program and version, recorded in the archive

	Level    Level
	KeepBins bool // leave the bins beside the packed archive
	NoVerify bool // do not decode what was written before the bins are dropped
	Force    bool // pack again though a packed archive is there

	Progress Progress // may be nil
}

// defaultMemory is what Memory 0 stands for.
const defaultMemory = 1 << 30

// inFlight returns how many slices, the largest of which has so many bytes of text, may be
// in work at once. A slice takes about four times its text on the way.
func inFlight(threads int, memory, text uint64) int {
	if memory == 0 {
		memory = defaultMemory
	}
	n := memory / 2 / (4 * max(text, 1<<20))
	return int(min(max(n, 1), uint64(max(threads, 1)+1)))
}

// Pack compresses the bins in dir into a packed archive, decodes it again and compares
// before it commits, and drops the bins. Killed at any moment, it leaves the bins or the
// finished archive, and can be called again. A packed archive of the same bins is left as
// it is, unless Force asks for another.
func Pack(ctx context.Context, dir string, o PackOptions) (*Summary, error) {
	if err := recoverDir(dir); err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	unlock, err := bins.Lock(dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := bins.RemoveStale(dir); err != nil {
		return nil, err
	}
	r, err := bins.Open(dir)
	if errors.Is(err, ErrNotArchive) {
		return packedAlready(dir, o, err)
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	old, err := archive.Open(dir)
	switch {
	case err == nil:
		old.Close()
		if o.Force {
			break
		}
		if old.Manifest().Source != r.Meta().ID {
			return nil, fmt.Errorf("%s: a packed archive of other reads is there: %w", dir, bins.ErrExists)
		}
		if !o.KeepBins {
			if err := r.Remove(); err != nil {
				return nil, err
			}
		}
		return summaryOf(old.Manifest(), old.Paths(), true)
	case errors.Is(err, archive.ErrSeveral):
		return nil, err
	case !errors.Is(err, ErrNotArchive) && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion):
		return nil, err
	}
	// A damaged archive beside good bins is replaced.
	return pack(ctx, dir, r, o)
}

// packedAlready is Pack where there are no bins; binErr is what bins.Open said.
func packedAlready(dir string, o PackOptions, binErr error) (*Summary, error) {
	r, err := archive.Open(dir)
	if errors.Is(err, ErrNotArchive) {
		if errors.Is(err, archive.ErrSeveral) {
			return nil, err
		}
		return nil, binErr
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if o.Force {
		return nil, fmt.Errorf("%s: it is packed and its bins are gone: nothing to pack again", dir)
	}
	// The bins go meta file first; a kill in between leaves the other.
	if err := os.Remove(filepath.Join(dir, r.Name()+bins.DataExt)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return summaryOf(r.Manifest(), r.Paths(), true)
}

func pack(ctx context.Context, dir string, r *bins.Reader, o PackOptions) (s *Summary, err error) {
	meta := r.Meta()
	specs, err := planSlices(meta, true)
	if err != nil {
		return nil, err
	}
	data, _ := r.Paths()
	w, err := archive.Create(dir, strings.TrimSuffix(filepath.Base(data), bins.DataExt))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			w.Abort()
		}
	}()
	temp := o.TempDir
	if temp == "" {
		temp = dir
	}
	enc, err := seqs.Build(ctx, r, seqs.Config{Threads: max(o.Threads, 1), Memory: memoryOr(o.Memory), TempDir: temp, Progress: o.Progress})
	if err != nil {
		return nil, err
	}
	p := &packer{dir: dir, r: r, o: o, specs: specs, enc: enc, w: w}
	defer p.closeEncoder()
	if err := p.write(ctx); err != nil {
		return nil, err
	}
	if err := w.Sync(&p.man); err != nil {
		return nil, err
	}
	p.closeEncoder()
	if !o.NoVerify {
		if err := p.verify(ctx); err != nil {
			return nil, err
		}
	}
	if err := w.Commit(&p.man); err != nil {
		return nil, err
	}
	if !o.KeepBins {
		if err := r.Remove(); err != nil {
			return nil, err
		}
	}
	done, err := archive.Open(dir)
	if err != nil {
		return nil, err
	}
	defer done.Close()
	if s, err = summaryOf(done.Manifest(), done.Paths(), false); err != nil {
		return nil, err
	}
	s.SlicesInFlight = p.flight
	return s, nil
}

func memoryOr(m uint64) uint64 {
	if m == 0 {
		return defaultMemory
	}
	return m
}

// packer is the state of one run of Pack.
type packer struct {
	dir     string
	r       *bins.Reader
	o       PackOptions
	specs   []sliceSpec
	enc     *seqs.Encoder // nil once closed
	w       *archive.Writer
	man     archive.Manifest
	checks  []sliceCheck
	digests []uint64 // by input: seqs.Encoder.Digest, where the text is not the one binned
	flight  int
}

func (p *packer) closeEncoder() {
	if p.enc != nil {
		p.enc.Close()
		p.enc = nil
	}
}

// write encodes all the slices and writes them.
func (p *packer) write(ctx context.Context) error {
	meta := p.r.Meta()
	p.man = archive.Manifest{Source: meta.ID, Tool: p.o.Tool, Options: meta.Options, Level: uint8(p.o.Level), Inputs: inputsOf(meta)}
	for _, b := range p.enc.Shared() {
		s, err := p.w.Add(b)
		if err != nil {
			return err
		}
		p.man.Shared = append(p.man.Shared, s)
	}
	p.digests = make([]uint64, len(meta.Inputs))
	for i := range meta.Inputs {
		if !p.o.NoVerify && !archive.Exact(meta.Options, meta.Inputs[i].Kind) {
			p.digests[i] = p.enc.Digest(i)
		}
	}
	e := &encoder{meta: meta, enc: p.enc, level: p.o.Level.quals(), specs: p.specs, keeps: keepsOfAll(meta),
		pool: newWorkers(p.o.Threads), whole: make(map[int]*wholeInput)}
	var inOrderSpecs []sliceSpec
	var total, largest uint64
	for _, s := range p.specs {
		total, largest = total+s.text, max(largest, s.text)
		if !s.whole {
			inOrderSpecs = append(inOrderSpecs, s)
			continue
		}
		if e.whole[s.first] != nil {
			continue
		}
		perm := p.enc.Sorted(s.first, 0, meta.Inputs[s.first].Records)
		for _, i := range s.inputs() {
			var err error
			if e.whole[i], err = newWholeInput(p.r, i, perm); err != nil {
				return err
			}
		}
	}
	e.cache = newBlockCache(p.r, e.keeps, false, inOrderSpecs)
	p.flight = inFlight(p.o.Threads, p.o.Memory, largest)
	progress := newMeter(p.o.Progress, "pack", total)
	started := make([]bool, len(meta.Inputs))
	return inOrder(ctx, len(p.specs), p.flight, e.encode, func(i int, out *encoded) error {
		s := out.slice
		places := make([]archive.Section, len(out.sections))
		for k, b := range out.sections {
			var err error
			if places[k], err = p.w.Add(b); err != nil {
				return err
			}
		}
		for m, mem := range s.Members() {
			mem.Lengths, mem.Layout, mem.Names, mem.Quals = places[4*m], places[4*m+1], places[4*m+2], places[4*m+3]
			in := &p.man.Inputs[mem.Input]
			if !started[mem.Input] || out.min[m] < in.MinLen {
				in.MinLen = out.min[m]
			}
			in.MaxLen = max(in.MaxLen, out.max[m])
			started[mem.Input] = true
		}
		s.Seqs = places[len(places)-1]
		p.man.Slices = append(p.man.Slices, s)
		p.checks = append(p.checks, out.check)
		progress.add(p.specs[i].text)
		return nil
	})
}
