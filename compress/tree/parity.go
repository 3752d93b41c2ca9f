package tree

import (
	"cmp"
	"context"

	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/compress/parity"
)

// Repair makes a side archive what it was when it was written, as far as its parity and the copies of o.From allow. Where there is no
// parity, it is only looked at.
func Repair(ctx context.Context, t commit.Tree, o parity.RepairOptions) ([]parity.Repaired, error) {
	list, err := parity.Repair(t.Path(), o)
	if err == nil && !list[0].OK && whole(ctx, t, o) == nil {
		list = []parity.Repaired{{Path: t.Path(), OK: true}}
	}
	return list, err
}

// Protect writes the parity of a side archive, o.Share of it. The error wraps parse.ErrCorrupt if that is damaged.
func Protect(ctx context.Context, t commit.Tree, o parity.RepairOptions) (parity.Repaired, error) {
	if err := whole(ctx, t, o); err != nil {
		return parity.Repaired{}, err
	}
	return parity.ProtectAnew(t.Path(), [16]byte{}, o)
}

// whole returns the first damage of a side archive, by the checksums of what is stored.
func whole(ctx context.Context, t commit.Tree, o parity.RepairOptions) error {
	r, err := Open(t, Options{Threads: o.Threads, Memory: o.Memory})
	if err != nil {
		return err
	}
	defer r.Close()
	damage, err := r.check(ctx, true)
	for _, d := range append(damage, r.Damage()) {
		err = cmp.Or(err, d)
	}
	return err
}

// mostChecked is up to how many bytes a side archive is compared with its parity whenever it is opened. A larger one is if its listing
// can't be read.
const mostChecked = 256 << 20

// openMended is newReader for a file that may be damaged, which its parity mends.
func openMended(f *vfs.File, size int64, o Options) (*Reader, error) {
	r, failed := newReader(f, f, f.Name(), size, o)
	if failed == nil && size > mostChecked {
		return r, nil
	}
	whole, size, problem, err := parity.RestoreFile(f)
	if err != nil || whole == nil {
		return r, failed
	}
	if r, err = newReader(f, whole, f.Name(), size, o); err != nil {
		return nil, err
	}
	r.mended = problem
	return r, nil
}
