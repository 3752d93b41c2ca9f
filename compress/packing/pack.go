// Package packing turns the bins of an archive into a packed archive. Names, qualities, sequences, lengths and forms of a slice of
// records are columns coded each for itself, except that sequences are coded given the qualities, or qualities of long reads given the
// sequences, and the names of second mates given those of the first. What was written is decoded and compared before the bins are removed.
package packing

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"orcomgo/bins"
	"orcomgo/bins/commit"
	"orcomgo/compress/archive"
	"orcomgo/compress/nameranges"
	"orcomgo/compress/parity"
	"orcomgo/compress/restoring"
	"orcomgo/compress/seqs"
	"orcomgo/compress/slicing"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
)

// Options control Pack. The zero value packs with the default level on one thread.
type Options struct {
	Threads int
	Memory  uint64 // bytes aimed for; 0 for the package's default
	Tool    string // program and version, recorded in the archive

	Level Level
	// TwoBit has the sequences of assemblies (FASTA) in two bits a base: larger, and unpacked several times as fast.
	TwoBit bool
	// SliceText is how many bytes of text of an input a slice has, more or less; 0 for the default of 64 MiB, or of 2 MiB for inputs
	// of short reads with 64 Mi qualities or more, which are kept at the default level. Slices are decoded by
	// themselves: some records of smaller ones take less time, and their models learn from less. Where nothing but the reads is
	// kept, as a set, it has no effect.
	SliceText uint64
	KeepBins  bool // leave the bins beside the packed archive
	NoVerify  bool // do not decode what was written before the bins are dropped
	// Parity is the share of the archive that can be restored if it is damaged, see parity.Options.Share; 0: no NAME.cpar is written.
	Parity float64
	Force  bool // pack again though a packed archive is there
	// MayReplace is asked with Force whether an archive may be replaced; nil: any may.
	MayReplace commit.MayReplace

	GPU  bool              // a GPU does what it can, if the program supports one; the archive is the same
	Note func(line string) // is told when the GPU can't be used; may be nil
	// Ready, unless it is nil, is called while reads are loaded. Its error, that there is no GPU, ends Pack.
	Ready func() error
	// Text, unless it is nil, opens the file of an input that was not compressed, to read its text once more. With 8 threads or more, and
	// files that memory has room for, the SHA-256 and MD5 of the text are computed from that while reads are packed; if it can't be opened,
	// is nil, or is not what was binned, from the bins. Else Text is not called, and verification computes them of what it decodes.
	Text func(input int) (io.ReadCloser, error)

	Progress workers.Progress // may be nil
}

// Pack compresses the bins of the archive that path leads to, decodes the result again and
// compares before it commits, and removes the bins. Killed at any moment, it leaves the bins
// or the packed archive, and can be called again. If there is a packed archive of that name
// already, made from the same bins, it is left as it is; any other is replaced only with Force.
func Pack(ctx context.Context, path string, o Options) (*restoring.Summary, error) {
	e, err := commit.One(path)
	if err != nil {
		return nil, err
	}
	if !e.Has[commit.Bins] {
		return packedAlready(e, o)
	}
	r, err := bins.OpenEntry(e)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := r.Lock(); err != nil {
		return nil, err
	}
	if e.Has[commit.Packed] && !o.Force {
		return packedBefore(ctx, e, r, o)
	}
	return pack(ctx, r, o)
}

// PackUnnamed is Pack for bins without a name, see bins.Writer.Finish: it makes them the packed archive that they were
// created for. An archive of that name, packed or not, is replaced only with Force; KeepBins is ignored. The caller closes
// r. What is written is what Pack writes of the same bins with the same options. Bins in memory are moved to a file if they
// and the reads would take too much of Memory together.
func PackUnnamed(ctx context.Context, r *bins.Reader, o Options) (*restoring.Summary, error) {
	if !FitsBeside(r, o.Memory) {
		if err := r.Spill(); err != nil {
			return nil, err
		}
	}
	return pack(ctx, r, o)
}

// FitsBeside reports whether bins that are in memory may stay there while they are packed with so much memory (0: no bound). They may
// if they take an eighth of it at most, and half of it together with what laying out the reads is expected to take. So
// the process stays within an eighth more than memory even for reads that take all that laying out may use, three quarters.
func FitsBeside(r *bins.Reader, memory uint64) bool {
	held := r.Held()
	return memory == 0 || held <= memory/8 && held+seqs.LayoutMemory(r.Meta()) <= memory/2
}

// MemoryFor returns about how many bytes Options.Memory must be so that so many reads, of so many bases together, are laid out at
// once. With less, shares of them are, one after another, and the archive is a little larger.
func MemoryFor(reads, bases uint64) uint64 { return seqs.LayoutMemoryOf(reads, bases) / 3 * 4 }

// packedBefore is Pack where there are bins and a packed archive: an earlier run may have
// been interrupted between the commit and the removal of the bins, or keep them as asked.
func packedBefore(ctx context.Context, e commit.Entry, r *bins.Reader, o Options) (*restoring.Summary, error) {
	p, err := archive.OpenEntry(e)
	if err != nil {
		return nil, fmt.Errorf("there is a packed archive already, and it can't be read (--force replaces it): %w", err)
	}
	defer p.Close()
	if p.Manifest().Source != r.Meta().ID {
		return nil, fmt.Errorf("%s: it was packed from other reads than those of the bins: %w", e.Path()+archive.MetaSuffix,
			commit.ErrExists)
	}
	if err := restoreBeside(p, &o); err != nil {
		return nil, err
	}
	if !o.KeepBins {
		// The archive may have been damaged since it was packed.
		if !o.NoVerify {
			src := source.NewPacked(p, o.Threads, o.Memory)
			status, err := restoring.VerifySource(ctx, src, restoring.VerifyOptions{Threads: o.Threads, Memory: o.Memory,
				Progress: o.Progress})
			if err != nil {
				return nil, err
			}
			for _, s := range status {
				if !s.OK {
					return nil,
						fmt.Errorf("there is a packed archive already, but it is damaged, so the bins are kept (--force packs again): %w", s.Err())
				}
			}
		}
		if err := r.Remove(); err != nil {
			return nil, err
		}
	}
	return restoring.SummaryOf(p.Manifest(), p.Paths(), true)
}

// packedAlready is Pack where there are no bins.
func packedAlready(e commit.Entry, o Options) (*restoring.Summary, error) {
	r, err := archive.OpenEntry(e)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if o.Force {
		return nil, fmt.Errorf("%s: it is packed and its bins are gone: nothing to pack again", e.Path())
	}
	if err := r.BulkProblem(); err != nil {
		return nil, err
	}
	if err := restoreBeside(r, &o); err != nil {
		return nil, err
	}
	// The bins go meta file first; a kill in between leaves the other.
	if err := commit.RemoveBinsData(e.Dir, e.Name, r.Manifest().Source); err != nil {
		return nil, err
	}
	return restoring.SummaryOf(r.Manifest(), r.Paths(), true)
}

// restoreBeside writes the .cmeta file and the parity of a packed archive that has lost them, or that was
// interrupted before they were written.
func restoreBeside(r *archive.Reader, o *Options) error {
	if r.MetaMissing() {
		if err := r.RestoreMeta(); err != nil {
			return err
		}
	}
	if o.Parity == 0 || len(r.Problems()) > 0 {
		return nil
	}
	return r.RestoreParity(parity.Options{Share: o.Parity, Threads: o.Threads, Memory: o.Memory / 16})
}

func pack(ctx context.Context, r *bins.Reader, o Options) (s *restoring.Summary, err error) {
	create := archive.Create
	if r.Unnamed() {
		create = archive.CreateAlone
	}
	w, err := create(r.Dir(), r.Name(), commit.Forced(o.Force, o.MayReplace))
	if err != nil {
		return nil, err
	}
	defer w.Abort() // after success it closes the file
	twoBit, err := chooseTwoBit(ctx, r, o.TwoBit)
	if err != nil {
		return nil, err
	}
	runs := true
	for _, in := range r.Meta().Inputs {
		runs = runs && slicing.WholeOrder(r.Meta().Options, in.Kind)
	}
	pool := workers.NewPool(o.Threads)
	p := &Packer{R: r, O: o, Pool: pool, w: w, twoBit: twoBit}
	p.files = p.ReadFiles(ctx)
	defer p.files.Stop()
	p.enc, err = seqs.Build(ctx, r, seqs.Config{
		Threads: max(o.Threads, 1), Memory: o.Memory, Runs: runs, Skip: twoBit, Progress: p.layoutProgress,
		GPU: o.GPU, Note: o.Note, ReleaseWhile: pool.ReleaseWhile, Work: pool.Do, Hold: pool.Hold,
	})
	if err != nil {
		return nil, err
	}
	if p.specs, err = slicing.Plan(r.Meta(), sliceTexts(r.Meta(), twoBit, &o), o.Memory, p.enc.Parts); err != nil {
		p.enc.Close()
		return nil, err
	}
	defer p.closeEncoder()
	if err := p.run(ctx); err != nil {
		return nil, err
	}
	protect := archive.ParityOptions{Share: o.Parity, Needed: p.needed(), Threads: o.Threads, Memory: o.Memory / 16}
	if err := w.Commit(&p.man, protect); err != nil {
		return nil, err
	}
	if !o.KeepBins {
		if err := r.Remove(); err != nil {
			return nil, &commit.AfterCommitError{Archive: filepath.Join(r.Dir(), r.Name()), Err: err}
		}
	}
	if s, err = restoring.SummaryOf(&p.man, w.Paths(), false); err != nil {
		return nil, err
	}
	s.SlicesInFlight = p.flight
	return s, nil
}

// Packer is the state of one run of Pack.
type Packer struct {
	R       *bins.Reader
	O       Options
	Pool    workers.Pool
	twoBit  []bool // by input: chooseTwoBit
	specs   []slicing.Spec
	enc     *seqs.Encoder // nil once closed
	w       *archive.Writer
	man     archive.Manifest
	shared  [][]byte // the shared sections, once all slices are coded, for compareShared
	checks  []sliceCheck
	written []chan struct{} // by slice: closed when it is written, and its entries in man and checks are set
	digests []uint64        // by input: seqs.Encoder.Digests, where the text is not the one binned
	early   *earlyTexts     // nil if texts are hashed by verification
	files   *fileTexts
	// fromFile says of each input whether verification leaves the SHA-256 and MD5 of its text to files.
	fromFile []bool
	// laidOut is the progress of coding slices, which is shown once the reads are laid out; nil before it begins.
	laidOut atomic.Pointer[workers.Meter]
	flight  int // slices that are coded at once; after run, that are in work at once
}

// layoutProgress reports how far the layout and the coding of the pseudogenome are. The latter runs beside the coding of slices.
func (p *Packer) layoutProgress(stage string, done, total uint64) {
	if m := p.laidOut.Load(); m != nil && stage == seqs.CodingStage {
		m.Silent.Store(false)
	}
	if p.O.Progress != nil {
		p.O.Progress(stage, done, total)
	}
}

// run writes the archive, but for the manifest, and verifies it: each slice once it is written, while the next ones are coded,
// or, if memory is too small for that, all of them at the end.
func (p *Packer) run(ctx context.Context) error {
	p.plan()
	if err := p.chooseByBases(ctx); err != nil {
		return err
	}
	if err := p.w.Begin(&p.man); err != nil {
		return err
	}
	if p.O.NoVerify {
		return p.write(ctx)
	}
	var v *verification
	if n := workers.InMemory(p.memoryBeside(), p.largest()); n > 1 {
		if dec := p.enc.Follow(); dec != nil {
			p.flight = max(workers.AtMostThreads(n-n/2, p.busyThreads()), p.ahead())
			if p.plansEarlyTexts(n) {
				p.early = NewEarlyTexts(&p.man)
			}
			v = p.following(dec, workers.AtMostThreads(n/2, p.verifiedAtOnce()))
		}
	}
	if v == nil {
		if err := p.write(ctx); err != nil {
			return err
		}
		p.shared = nil // they are read from the file
		v, err := p.afterwards()
		if err == nil {
			err = v.slices(ctx)
		}
		if err == nil {
			err = v.end(ctx)
		}
		return p.verificationError(ctx, err)
	}
	g, c := errgroup.WithContext(ctx)
	g.Go(func() error { return p.write(c) })
	g.Go(func() error { return p.verificationError(c, v.slices(c)) })
	if err := g.Wait(); err != nil {
		return err
	}
	p.flight += v.replay.Flight
	return p.verificationError(ctx, v.end(ctx))
}

// plan makes the manifest as far as it is known before slices are coded.
func (p *Packer) plan() {
	meta := p.R.Meta()
	p.man = *source.ManifestOf(meta, p.O.Tool)
	p.man.Level = uint8(p.O.Level)
	for i := range p.man.Inputs {
		p.man.Inputs[i].TwoBit = p.twoBit[i]
	}
	p.man.Slices, p.checks = make([]archive.Slice, len(p.specs)), make([]sliceCheck, len(p.specs))
	p.written = make([]chan struct{}, len(p.specs))
	for i := range p.specs {
		if p.man.Slices[i] = p.specs[i].Slice(); p.specs[i].Run == nil {
			p.specs[i].Turn = i + 1
		}
		p.written[i] = make(chan struct{})
	}
	p.man.NameRanges = nameranges.Worthwhile(&p.man)
	p.flight = workers.AtMostThreads(workers.InMemory(p.memoryBeside(), p.largest()), p.busyThreads())
}

// needed returns how many bytes slices need that are not their own, roughly: names that others go on from, the first qualities of inputs,
// and the shared sections.
func (p *Packer) needed() (sum uint64) {
	if len(p.man.Slices) < 2 {
		return 0
	}
	for _, s := range p.man.Shared {
		sum += s.Len
	}
	seen := make([]bool, len(p.man.Inputs))
	for i := range p.man.Slices {
		s := &p.man.Slices[i]
		for _, m := range s.Members() {
			sum += m.Sections[archive.Names].Len
			if in := &p.man.Inputs[m.Input]; !seen[m.Input] && m.Bases < in.Bases {
				sum += workers.Share(m.Sections[archive.Quals].Len, min(uint64(slicing.PrimerSize(in.Bases)), m.Bases), m.Bases)
			}
			seen[m.Input] = true
		}
	}
	return sum
}

func (p *Packer) closeEncoder() {
	if p.enc != nil {
		p.enc.Close()
		p.enc = nil
	}
}

// write encodes all the slices and writes them, then the shared sections.
func (p *Packer) write(ctx context.Context) error {
	meta := p.R.Meta()
	e := &Encoder{meta: meta, bins: p.R, memory: p.O.Memory, enc: p.enc, level: p.O.Level.quals(), keeps: source.KeptOfAll(meta),
		inputs: p.man.Inputs, nameRanges: p.man.NameRanges, pool: p.Pool, assembled: workers.NewOnce(),
		runs:    make(map[*slicing.Run]*sortedRun),
		primers: newInputPrimers(p.specs, &p.man, p.O.Memory), NameLinks: NewNameLinks(p.specs, &p.man)}
	var blockwise []slicing.Spec
	total := uint64(0)
	for _, s := range p.specs {
		total += s.Text
		if s.Run == nil {
			blockwise = append(blockwise, s)
		}
	}
	e.cache = slicing.NewCache(p.R, e.keeps, p.twoBit, blockwise, e.NameLinks.Ahead)
	e.readNames = func(input int, from uint64, n int) ([]byte, error) {
		c, err := e.cache.AcquireNames(input, from, n)
		if err != nil {
			return nil, err
		}
		return c.Names, nil
	}
	// Qualities are coded while the reads are laid out, which has stages of its own.
	e.progress = workers.NewMeter(p.O.Progress, "pack", total)
	e.progress.Silent.Store(true)
	p.laidOut.Store(e.progress)
	started := make([]bool, len(meta.Inputs))
	done := 0 // slices
	add := func(_ int, out *encoded) error {
		s := out.slice
		if err := p.w.AddSlice(done, &s, func(c archive.Column, m int) []byte { return out.sections[m][c] }); err != nil {
			return err
		}
		for m, mem := range s.Members() {
			in := &p.man.Inputs[mem.Input]
			if !started[mem.Input] || out.min[m] < in.MinLen {
				in.MinLen = out.min[m]
			}
			in.MaxLen = max(in.MaxLen, out.max[m])
			started[mem.Input] = true
		}
		p.man.Slices[done], p.checks[done] = s, out.check
		close(p.written[done])
		e.progress.Silent.Store(false)
		out.progress.End()
		done++
		return nil
	}
	g, c := errgroup.WithContext(ctx)
	if p.O.Ready != nil {
		g.Go(p.O.Ready)
	}
	coded := make(chan struct{}) // when all slices are
	g.Go(func() (err error) {
		select {
		case <-p.enc.Idle():
		case <-coded:
		case <-c.Done():
			return c.Err()
		}
		p.digests, err = p.enc.Digests(c, func(input int) bool {
			return !meta.Options.Exact(meta.Inputs[input].Kind)
		})
		return err
	})
	if p.early != nil {
		pieces := p.textPieces(e)
		g.Go(func() error { return p.hashEarly(c, e, pieces) })
	}
	g.Go(func() error {
		defer close(coded)
		for k, specs := range slicing.Phases(p.specs, p.enc.Parts, p.enc.Window) {
			if e.specs = specs; k > 0 {
				e.assembled = workers.NewOnce()
			}
			e.assembleEarly(c, g)
			if err := workers.InOrder(c, len(e.specs), p.flight, e.encode, add); err != nil {
				return err
			}
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		return err
	}
	p.man.Repeats, p.man.OneCoder = p.enc.Repeats(), p.enc.OneCoder()
	p.shared = p.enc.Shared()
	p.closeEncoder()
	for _, b := range p.shared {
		if err := p.w.AddShared(&p.man, b); err != nil {
			return err
		}
	}
	return p.w.End(&p.man)
}
