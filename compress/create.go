package compress

import (
	"context"

	"orcomgo/bins"
	"orcomgo/compress/packing"
)

// PackOptions control Pack. The zero value packs on one thread.
type PackOptions = packing.Options

// GzipStage is the stage of progress in which it is found out how .gz are made again of their texts. It counts their bytes.
const GzipStage = packing.GzipStage

// Pack compresses the bins of the archive that path leads to, decodes the result again and
// compares before it commits, and removes the bins. Killed at any moment, it leaves the bins
// or the packed archive, and can be called again. If there is a packed archive of that name
// already, made from the same bins, it is left as it is; any other is replaced only with Force.
func Pack(ctx context.Context, path string, o PackOptions) (*Summary, error) {
	return packing.Pack(ctx, path, o)
}

// PackUnnamed is Pack for bins without a name, see bins.Writer.Finish: it makes them the packed archive that they were
// created for. An archive of that name, packed or not, is replaced only with Force; KeepBins is ignored. The caller closes
// r. What is written is what Pack writes of the same bins with the same options. Bins in memory are moved to a file if they
// and the reads would take too much of Memory together.
func PackUnnamed(ctx context.Context, r *bins.Reader, o PackOptions) (*Summary, error) {
	return packing.PackUnnamed(ctx, r, o)
}

// MemoryFor returns about how many bytes PackOptions.Memory must be so that so many reads, of so many bases together, are laid out at
// once. With less, shares of them are, one after another, and the archive is a little larger.
func MemoryFor(reads, bases uint64) uint64 { return packing.MemoryFor(reads, bases) }
