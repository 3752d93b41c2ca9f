package source

import (
	"context"
	"slices"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/slicing"
	"orcomgo/compress/workers"
)

// Binned is the source that reads bins which have not been packed yet. They hold every read,
// so records come back in input order even where the order may be lost.
type Binned struct {
	Bins  *bins.Reader
	Man   *archive.Manifest
	specs []slicing.Spec
	pool  workers.Pool
	keeps []columns.Kept

	problem []error
}

// NewBinned describes the bins of r as a manifest, whose slices fit in memory (0: no bound).
func NewBinned(r *bins.Reader, threads int, memory uint64) (*Binned, error) {
	meta := r.Meta()
	specs, err := slicing.Plan(meta, &slicing.Usual, slices.Repeat([]uint64{slicing.Usual.Text}, len(meta.Inputs)), memory, nil)
	if err != nil {
		return nil, err
	}
	b := &Binned{Bins: r, specs: specs, pool: workers.NewPool(threads), keeps: KeptOfAll(meta.Options, meta.Inputs)}
	for i := range specs {
		specs[i].Lead = -1 // bins have the names of each input
	}
	b.Man = ManifestOf(meta, meta.Tool)
	for i := range b.Man.Inputs {
		b.Man.Inputs[i].File = r.File(i)
	}
	for _, s := range specs {
		b.Man.Slices = append(b.Man.Slices, s.Slice())
	}
	return b, nil
}

// binnedPass decodes slices of bins.
type binnedPass struct {
	*Binned
	cache *slicing.Cache
}

// Pass expects the same columns in all demands.
func (b *Binned) Pass(demands []Demand) Decoder {
	specs := make([]slicing.Spec, len(demands))
	var wanted []columns.Kept
	for k, d := range demands {
		specs[k] = b.specs[d.Slice]
	}
	letters := false
	for _, k := range b.keeps {
		if len(demands) > 0 {
			k = k.Wanted(demands[0].Columns)
		}
		letters = letters || k[archive.Seqs]
		wanted = append(wanted, k)
	}
	return &binnedPass{b, slicing.NewCache(b.Bins, b.pool, wanted, slicing.OfAll(b.Bins.Meta(), letters), specs, nil)}
}

func (b *Binned) Place() (dir, name string)   { return b.Bins.Dir(), b.Bins.Name() }
func (b *Binned) Problems() []error           { return b.problem }
func (b *Binned) Manifest() *archive.Manifest { return b.Man }
func (b *Binned) Paths() []string             { return b.Bins.Paths() }
func (b *Binned) Close() error                { return b.Bins.Close() }

func (b *binnedPass) Decode(ctx context.Context, d Demand) (*Decoded, error) {
	s := b.specs[d.Slice]
	t := &Decoded{Slice: &b.Man.Slices[d.Slice]}
	records := s.Records
	if d.First > 0 {
		records = min(d.First, records)
	}
	err := b.pool.Do(ctx, func() error {
		for m, input := range s.Inputs() {
			if !d.Want[m] {
				continue
			}
			t.Cols[m], t.Err[m] = b.cache.Acquire(input, s.From, records, columns.Kept{})
		}
		return nil
	})
	b.cache.Release(&s)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// ManifestOf describes bins as a packed archive that tool wrote would.
func ManifestOf(meta *bins.Meta, tool string) *archive.Manifest {
	return &archive.Manifest{Source: meta.ID, Tool: tool, Options: meta.Options, Inputs: inputsOf(meta)}
}

// inputsOf describes the inputs of bins as a packed archive would.
func inputsOf(meta *bins.Meta) []archive.Input {
	ins := make([]archive.Input, len(meta.Inputs))
	for i := range ins {
		in := &ins[i]
		in.Input = meta.Inputs[i]
		in.SourceBytes = 0 // not known, and the same text packs to the same bytes from any source
		for _, b := range meta.BlocksOf(i) {
			in.Bases += meta.Blocks[b].Bases
		}
		if meta.Options.Exact(in.Kind) {
			in.Blocks = []archive.TextBlock{}
			for _, b := range meta.BlocksOf(i) {
				in.Blocks = append(in.Blocks, archive.TextBlock{Len: meta.Blocks[b].TextLen, Hash: meta.Blocks[b].TextHash})
			}
		}
	}
	return ins
}

// KeptOfAll returns the columns of each input.
func KeptOfAll(o record.Options, inputs []record.Input) []columns.Kept {
	ks := make([]columns.Kept, len(inputs))
	for i := range ks {
		ks[i] = columns.KeptOf(o, inputs[i].Kind)
	}
	return ks
}
