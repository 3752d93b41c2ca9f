package packing

import (
	"cmp"
	"context"

	"orcomgo/bins"
	"orcomgo/bins/commit"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/nameranges"
	"orcomgo/compress/seqs"
	"orcomgo/compress/slicing"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
)

// packer is what the stages of one run of Pack share: what is packed, and what was chosen for it before slices are coded.
type packer struct {
	bins  *bins.Reader
	o     Options
	pool  workers.Pool
	kept  []columns.Kept // by input
	specs []slicing.Spec
	// phases are the slices that may be in work together.
	phases [][]slicing.Spec
	enc    *seqs.Encoder // nil once closed
	w      *archive.Writer
	// man describes what is known of the archive so far; that of a slice from when it is written.
	man     archive.Manifest
	written []written // by slice
	early   earlyQuals
	digests []uint64    // by input: seqs.Encoder.Digests, where the text is not the one binned
	shared  [][]byte    // the shared sections, once all slices are coded
	files   []*fileText // by input
}

// written is what is known of a slice that was written.
type written struct {
	done chan struct{} // closed when all other fields, and the slice in the manifest, are set
	sliceCheck
	quals [2]source.KnownQuals // by member, until they are verified
}

// sliceCheck is what verification compares a slice with where its text need not be the
// one that was binned.
type sliceCheck struct {
	perm []uint32 // see columns.Columns
	from uint64
	sums [2]columns.Sums
}

// newPacker begins the archive, and chooses for each input how its sequences are coded. Abort ends w.
func newPacker(ctx context.Context, r *bins.Reader, o Options) (*packer, error) {
	twoBit, err := chooseTwoBit(ctx, r, o.TwoBit)
	if err != nil {
		return nil, err
	}
	p := &packer{bins: r, o: o, pool: workers.NewPool(o.Threads), kept: source.KeptOfAll(r.Meta().Options, r.Meta().Inputs),
		man: *source.ManifestOf(r.Meta(), o.Tool)}
	p.man.Sides, p.man.OneFile = o.Sides, o.OneFile
	for i := range p.man.Inputs {
		p.man.Inputs[i].TwoBit = twoBit[i]
	}
	dir, name := cmp.Or(o.OutDir, r.Dir()), cmp.Or(o.OutName, r.Name())
	p.w, err = archive.Create(dir, name, commit.Forced(o.Force, o.MayReplace), r.Unnamed())
	return p, err
}

// cut cuts the records, which are laid out by enc, into slices.
func (p *packer) cut(ctx context.Context, enc *seqs.Encoder) (err error) {
	p.enc = enc
	if p.specs, err = slicing.Plan(p.bins.Meta(), &p.o.limits().Sizes, sliceTexts(&p.man, &p.o), p.o.Memory, enc.Parts); err != nil {
		return err
	}
	p.phases = slicing.Phases(p.specs, &p.o.limits().Sizes, enc.Parts, enc.Window)
	p.man.Slices, p.written = make([]archive.Slice, len(p.specs)), make([]written, len(p.specs))
	for i := range p.specs {
		if p.man.Slices[i] = p.specs[i].Slice(); p.specs[i].Run == nil {
			p.specs[i].Turn = i + 1
		}
		p.written[i].done = make(chan struct{})
	}
	p.man.NameRanges = nameranges.Worthwhile(&p.man)
	for i := range p.man.Inputs {
		err := p.pool.Do(ctx, func() (err error) {
			p.man.Inputs[i].QualsByBases, err = worthBases(p.bins, i, p.kept[i])
			return err
		})
		if err != nil {
			return err
		}
	}
	return p.w.Begin(&p.man)
}

// twoBit returns which inputs have sequences in two bits a base.
func (p *packer) twoBit() (all []bool) {
	for i := range p.man.Inputs {
		all = append(all, p.man.Inputs[i].TwoBit)
	}
	return all
}

// memoryBeside returns how much memory there is beside bins that are in memory; 0 for no bound.
func (p *packer) memoryBeside() uint64 {
	if p.o.Memory == 0 {
		return 0
	}
	return max(p.o.Memory-min(p.bins.Held(), p.o.Memory), 1)
}

// wantsMD5 reports whether the MD5 of an input's text is to be recorded.
func wantsMD5(in *archive.Input) bool { return in.Source != nil && in.Source.TextMD5 }

func (p *packer) closeEncoder() {
	if p.enc != nil {
		p.enc.Close()
		p.enc = nil
	}
}
