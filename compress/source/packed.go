package source

import (
	"context"
	"fmt"
	"sync/atomic"

	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/quals"
	"orcomgo/compress/seqs"
	"orcomgo/compress/workers"
	"orcomgo/internal/tasks"
)

// Packed is the source that decodes .cdna.
type Packed struct {
	Archive *archive.Reader
	Man     *archive.Manifest
	Kept    []columns.Kept // by input
	Pool    workers.Pool
	Threads int
	Seqs    *seqs.Decoder   // nil until NeedShared or ShareIndex was called
	Device  *quals.Device   // decodes qualities, if not nil
	Decoded func(bases int) // if not nil, is told how many more bases of the pseudogenome are decoded, by any goroutine
	shared  *tasks.Once[*seqs.Decoder]
	memory  *workers.Buffers // of sections and sequences in two bits a base
	names   *sliceNames
	primers primers
	quals   atomic.Int64 // of ExpectQuals that are not decoded
}

// NewPacked returns the source of r, which keeps little of what it decodes if memory (0: the package's default) is little.
func NewPacked(r *archive.Reader, pool workers.Pool, memory uint64) *Packed {
	man := r.Manifest()
	return &Packed{Archive: r, Man: man, Kept: KeptOfAll(man.Options, man.BinsInputs()), Pool: pool, Threads: pool.Number,
		shared: tasks.NewOnce[*seqs.Decoder](), memory: &workers.Buffers{Keep: 2 * pool.Number}, names: newSliceNames(r, pool, memory),
		primers: primers{archive: r, pool: pool}}
}

// NeedShared has the shared sections decoded, if that was not done yet. It takes as long as the qualities of many slices do, so slices
// begin without it.
func (p *Packed) NeedShared(ctx context.Context) error {
	return p.share(ctx, func() (*seqs.Decoder, error) {
		shared := make([][]byte, len(p.Man.Shared))
		if n := len(shared); n > 0 {
			p.Archive.Fetch(p.Man.Shared[0].Off, p.Man.Shared[n-1].Off+p.Man.Shared[n-1].Len)
		}
		for i := range shared {
			var err error
			if shared[i], err = p.readShared(i); err != nil {
				return nil, err
			}
		}
		return seqs.NewDecoder(shared, p.seqsConfig()), nil
	})
}

// share sets Seqs to what decode returns, unless it was set before.
func (p *Packed) share(ctx context.Context, decode func() (*seqs.Decoder, error)) error {
	_, err := p.shared.Get(workers.Waiting(ctx), func() (*seqs.Decoder, error) {
		if p.Seqs != nil { // that of TakeIndex, or of the encoder while the archive is written
			return p.Seqs, nil
		}
		// All passes need it, so the end of one does not keep it from being done.
		err := p.Pool.Do(context.WithoutCancel(ctx), func() (err error) {
			p.Seqs, err = decode()
			return err
		})
		return p.Seqs, err
	})
	return err
}

// seqsConfig is how sequences are decoded.
func (p *Packed) seqsConfig() seqs.Config {
	return seqs.Config{Threads: p.Threads, Repeats: p.Man.Repeats, ReleaseWhile: p.Pool.ReleaseWhile, Hold: p.Pool.Hold,
		Decoded: p.Decoded}
}

// readShared reads a shared section.
func (p *Packed) readShared(i int) (data []byte, err error) {
	if data, err = p.Archive.Read(p.Man.Shared[i], nil, SharedName(i)); err != nil {
		err = &neededError{"the shared sections", err}
	}
	return data, err
}

// SharedName names a shared section, for errors.
func SharedName(i int) string { return fmt.Sprintf("shared section %d", i+1) }

func (p *Packed) Manifest() *archive.Manifest { return p.Man }
func (p *Packed) Paths() []string             { return p.Archive.Paths() }

func (p *Packed) Close() error {
	p.Device.Close()
	return p.Archive.Close()
}

// LeastOnGPU is how many slices there must be for a GPU, which codes the qualities of many side by side.
const LeastOnGPU = 32

// UseGPU has a GPU decode qualities, if the archive has enough slices. note is told why it can't be used.
func (p *Packed) UseGPU(note func(line string)) {
	if len(p.Man.Slices) >= LeastOnGPU {
		p.Device = quals.OpenDevice(p.Pool.ReleaseUntilIdle, note)
	}
}

// ExpectQuals notes the qualities of a demand. When all that were noted are decoded, the GPU is freed, which takes tenths of a second,
// while other columns are decoded.
func (p *Packed) ExpectQuals(d Demand) {
	s := &p.Man.Slices[d.Slice]
	if s.Halves() {
		d = d.ofHalves()
	}
	for m, mem := range s.Members() {
		if d.Want[m] && p.Kept[mem.Input].Wanted(d.Columns)[archive.Quals] {
			p.quals.Add(1)
		}
	}
}

// Pass keeps names if some records are asked for: mates, or the same records, may be asked for after them.
func (p *Packed) Pass(list []Demand) Decoder {
	if err := p.checkMemory(list); err != nil {
		return refused{err}
	}
	some := len(list) < len(p.Man.Slices)
	for _, d := range list {
		some = some || 0 < d.First && d.First < p.Man.Slices[d.Slice].Records
	}
	p.names.keepText.Store(some)
	return p
}

func (p *Packed) Place() (dir, name string) { return p.Archive.Dir(), p.Archive.Name() }
func (p *Packed) Problems() []error         { return p.Archive.Problems() }

// PrimersAhead decodes the primers of inputs side by side, before slices are decoded that need them. Errors are told where one is needed.
func (p *Packed) PrimersAhead(ctx context.Context, inputs []int) { p.primers.ahead(ctx, inputs) }

// WithQuals returns the inputs whose qualities are kept.
func (p *Packed) WithQuals() (inputs []int) {
	for input, keeps := range p.Kept {
		if keeps[archive.Quals] {
			inputs = append(inputs, input)
		}
	}
	return inputs
}

// Lead returns the slice of the first mates whose names those of slice s are coded given; nil if s has no further mates.
func (p *Packed) Lead(s *archive.Slice) *archive.Slice { return p.names.leads[s] }
