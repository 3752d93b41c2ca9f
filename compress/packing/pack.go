// Package packing turns the bins of an archive into a packed archive. Names, qualities, sequences, lengths and forms of a slice of
// records are columns coded each for itself, except that sequences are coded given the qualities, or qualities of long reads given the
// sequences, and the names of second mates given those of the first. What was written is decoded and compared before the bins are removed.
package packing

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"orcomgo/bins"
	"orcomgo/bins/commit"
	"orcomgo/compress/archive"
	"orcomgo/compress/parity"
	"orcomgo/compress/restoring"
	"orcomgo/compress/seqs"
	"orcomgo/compress/slicing"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
)

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
	if !fitsBeside(r, o.Memory) {
		if err := r.Spill(); err != nil {
			return nil, err
		}
	}
	return pack(ctx, r, o)
}

// fitsBeside reports whether bins that are in memory may stay there while they are packed with so much memory (0: no bound). They may
// if they take a sixth of it at most, and five eighths together with what laying out the reads is expected to take. So
// the process stays within a sixth more than memory even for reads that take all that laying out may use, three quarters.
func fitsBeside(r *bins.Reader, memory uint64) bool {
	held := r.Held()
	return memory == 0 || held <= memory/6 && held+seqs.LayoutMemory(r.Meta()) <= memory/8*5
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
			src := source.NewPacked(p, workers.NewPool(o.Threads), o.Memory)
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
	if o.Parity == 0 || len(r.Problems()) > 0 || r.Manifest().OneFile {
		return nil
	}
	return r.RestoreParity(parity.Options{Share: o.Parity, Threads: o.Threads, Memory: o.Memory / 16})
}

// needed returns how many bytes slices need that are not their own, roughly: names that others go on from, the first qualities of inputs,
// and the shared sections.
func needed(man *archive.Manifest, sizes *slicing.Sizes) (sum uint64) {
	if len(man.Slices) < 2 {
		return 0
	}
	sum = man.SharedLen()
	for i := range man.Slices {
		s := &man.Slices[i]
		for _, m := range s.Members() {
			sum += m.Sections[archive.Names].Len
			if in := &man.Inputs[m.Input]; s.From == 0 && m.Bases < in.Bases {
				sum += workers.Share(m.Sections[archive.Quals].Len, min(uint64(sizes.PrimerSize(in.Bases)), m.Bases), m.Bases)
			}
		}
	}
	return sum
}

// besideLayout is about how much memory the program, and garbage in little memory, take beside reads that are laid out.
const besideLayout = 24 << 20

// tablesFrom is from how many bytes of bins on the archive has a megabyte or more, usually, so that parity needs its tables.
const tablesFrom = 16 << 20

// pack makes the bins of r a packed archive: laid out, cut into slices, encoded, written, verified.
func pack(ctx context.Context, r *bins.Reader, o Options) (_ *restoring.Summary, failed error) {
	if o.OutDir != "" {
		made, err := commit.MakeDir(o.OutDir)
		if err != nil {
			return nil, err
		}
		defer func() {
			if failed != nil {
				made.Undo()
			}
		}()
	}
	p, err := newPacker(ctx, r, o)
	if err != nil {
		return nil, err
	}
	defer p.w.Abort() // after success it closes the file
	ctx, cancel := context.WithCancel(ctx)
	defer p.readFiles(ctx)()
	defer cancel()
	if !r.Unnamed() {
		o.Access = commit.AccessTo(filepath.Join(r.Dir(), r.Name()+commit.BinsDataExt), filepath.Join(r.Dir(), r.Name()+commit.BinsMetaExt))
	}
	p.w.Restrict(o.Access)
	p.w.SendEarly(o.Memory)
	if err := p.w.EncryptAs(r.Envelope()); err != nil {
		return nil, err
	}
	runs, reads, bases := true, uint64(0), uint64(0)
	for _, in := range p.man.Inputs {
		runs = runs && slicing.WholeOrder(p.man.Options, in.Kind)
		reads, bases = reads+in.Records, bases+in.Bases
	}
	if o.Sized != nil {
		stored := r.Meta().StoredBytes()
		o.Sized(reads, bases, stored-min(stored, bases/4), r.FileBytes()) // the bins have two bits for a base
	}
	if err := p.describeGzips(ctx); err != nil {
		return nil, err
	}
	enc, err := seqs.Build(ctx, r, seqs.Config{
		Threads: max(o.Threads, 1), Memory: o.Memory - min(o.Memory/4, besideLayout), Runs: runs, Skip: p.twoBit(), Progress: o.Progress,
		GPU: o.GPU, Note: o.Note, ReleaseWhile: p.pool.ReleaseWhile, Work: p.pool.Do, Hold: p.pool.Hold,
	})
	if err != nil {
		return nil, err
	}
	defer p.closeEncoder()
	if err := p.cut(ctx, enc); err != nil {
		return nil, err
	}
	if r.Meta().StoredBytes() >= tablesFrom {
		go parity.Prepare()
	}
	e := newEncoder(p)
	defer e.device.Close()
	if err := e.run(ctx); err != nil {
		return nil, err
	}
	protect := archive.ParityOptions{Share: o.Parity, Needed: needed(&p.man, &p.o.limits().Sizes), Threads: o.Threads, Memory: o.Memory / 16}
	if err := p.w.Commit(&p.man, protect); err != nil {
		return nil, err
	}
	if !o.KeepBins {
		if err := r.Remove(); err != nil {
			return nil, &commit.AfterCommitError{Archive: filepath.Join(r.Dir(), r.Name()), Err: err}
		}
	}
	return restoring.SummaryOf(&p.man, p.w.Paths(), false)
}

// run writes the archive, but for the manifest, and verifies it: each slice once it is written, while the next ones are coded,
// or, if memory is too small for that, all of them at the end.
func (e *encoder) run(ctx context.Context) error {
	var dec *seqs.Decoder
	if !e.o.NoVerify && !e.single {
		dec = e.enc.Follow()
		if e.device != nil || e.o.Threads >= manyThreads {
			e.early.most = cmp.Or(e.memoryBeside(), workers.DefaultMemory) / earlyShare
		}
	}
	f := newFlight(e.specs, e.o.Threads, e.memoryBeside(), dec != nil, e.device != nil)
	if dec == nil {
		if err := e.write(ctx, f.coded); err != nil || e.o.NoVerify {
			return err
		}
		e.shared = nil // they are read from the file
		v, err := e.afterwards()
		if err == nil {
			defer v.close()
			err = v.slices(ctx)
		}
		if err == nil {
			err = v.end()
		}
		return e.verificationError(ctx, err)
	}
	v := e.following(dec, f.verified)
	defer v.close()
	v.src.Device = e.device
	for _, j := range v.jobs {
		v.src.ExpectQuals(j.Demand)
	}
	g, c := errgroup.WithContext(ctx)
	g.Go(func() error { return e.write(c, f.coded) })
	g.Go(func() error { return e.verificationError(c, v.slices(c)) })
	if err := g.Wait(); err != nil {
		return err
	}
	return e.verificationError(ctx, v.end())
}
