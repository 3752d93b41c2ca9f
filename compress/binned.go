package compress

import (
	"context"

	"orcomgo/bins"
	"orcomgo/compress/archive"
)

// binned is the source that reads bins which have not been packed yet. They hold every read,
// so records come back in input order even where the order may be lost.
type binned struct {
	r     *bins.Reader
	man   *archive.Manifest
	specs []sliceSpec
	pool  workers
	keeps []keeps

	problem []error
}

// newBinned describes the bins of r as a manifest, whose slices fit in memory (0: no bound).
func newBinned(r *bins.Reader, threads int, memory uint64) (*binned, error) {
	meta := r.Meta()
	specs, err := planSlices(meta, nil, memory, nil)
	if err != nil {
		return nil, err
	}
	b := &binned{r: r, specs: specs, pool: newWorkers(threads), keeps: keepsOfAll(meta)}
	for i := range specs {
		specs[i].lead = -1 // bins have the names of each input
	}
	b.man = manifestOf(meta, meta.Tool)
	for _, s := range specs {
		b.man.Slices = append(b.man.Slices, s.slice())
	}
	return b, nil
}

// binnedPass decodes slices of bins.
type binnedPass struct {
	*binned
	cache *blockCache
}

// pass expects the same columns in all demands.
func (b *binned) pass(demands []demand) sliceDecoder {
	specs := make([]sliceSpec, len(demands))
	var wanted []keeps
	for k, d := range demands {
		specs[k] = b.specs[d.slice]
	}
	letters := false
	for _, k := range b.keeps {
		if len(demands) > 0 {
			k = demands[0].columnsOf(k)
		}
		letters = letters || k[archive.Seqs]
		wanted = append(wanted, k)
	}
	return &binnedPass{b, newBlockCache(b.r, wanted, ofAll(b.r.Meta(), letters), specs, nil)}
}

func (b *binned) place() (dir, name string)   { return b.r.Dir(), b.r.Name() }
func (b *binned) release(*batch)              {}
func (b *binned) problems() []error           { return b.problem }
func (b *binned) manifest() *archive.Manifest { return b.man }
func (b *binned) Close() error                { return b.r.Close() }

func (b *binned) paths() []string {
	data, meta := b.r.Paths()
	return []string{data, meta}
}

func (b *binnedPass) decode(ctx context.Context, d demand) (*batch, error) {
	s := b.specs[d.slice]
	t := &batch{slice: &b.man.Slices[d.slice]}
	records := s.records
	if d.first > 0 {
		records = min(d.first, records)
	}
	err := b.pool.do(ctx, func() error {
		for m, input := range s.inputs() {
			if !d.want[m] {
				continue
			}
			t.cols[m], t.err[m] = b.cache.acquire(input, s.from, records)
		}
		return nil
	})
	b.cache.release(&s)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// manifestOf describes bins as a packed archive that tool wrote would.
func manifestOf(meta *bins.Meta, tool string) *archive.Manifest {
	return &archive.Manifest{Source: meta.ID, Tool: tool, Options: meta.Options, Inputs: inputsOf(meta),
		ChunkedHashes: true}
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

func keepsOfAll(meta *bins.Meta) []keeps {
	ks := make([]keeps, len(meta.Inputs))
	for i := range ks {
		ks[i] = keepsOf(meta.Options, meta.Inputs[i].Kind)
	}
	return ks
}
