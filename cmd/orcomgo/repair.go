package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"orcomgo/bins/commit"
	"orcomgo/compress"
	"orcomgo/compress/tree"
)

var repairCommand = command{
	name:     "repair",
	group:    lookGroup,
	synopsis: "ARCHIVE...",
	about:    "mend damaged archives by their parity",
	help: `repair makes the files of archives what they were when they were written: NAME.cdna, NAME.cmeta,
NAME.cpar, search indexes and side archives. By NAME.cpar it mends changed and lost bytes, cut off
and zeroed stretches, and places where bytes were inserted or removed, as long as no more sectors of
4,096 bytes are damaged than --parity of archive said. Without it, the parity within NAME.cdna mends
a damaged sector or a few; if both copies of the manifest are lost, it is made again of what the
sections say. A file is replaced only when all of the new one is written and compared. An ARCHIVE is
a directory, for all archives in it, or DIR/NAME. The exit status is 1 unless every file is whole
now.

Examples:
  orcomgo repair run/
  orcomgo repair --from /backup/run run/     take what is whole from another damaged copy
`,
	flags: func(f *pflag.FlagSet) action {
		var o repairFlags
		f.StringArrayVar(&o.from, "from", nil, "`COPY` of the archive, a directory or DIR/NAME, to take sectors from; may be repeated")
		o.add(f)
		return func(ctx context.Context, s *streams, args []string) error {
			return o.run(ctx, s, "repair", args, o.repair)
		}
	},
}

var protectCommand = command{
	name:     "protect",
	group:    lookGroup,
	synopsis: "ARCHIVE...",
	about:    "add parity to archives that have none, or more",
	help: `protect writes NAME.cpar beside packed archives, side archives and search indexes, by which orcomgo
repair mends them if they are damaged. archive, pack and index write it unless they are told
--parity none. What is compared with its checksums first, and is not protected if it is damaged.
Where there is as much parity already, nothing is done.

Examples:
  orcomgo protect archives/
  orcomgo protect --parity 5% archives/sample7
`,
	flags: func(f *pflag.FlagSet) action {
		var o repairFlags
		o.parity.define(f)
		o.add(f)
		return func(ctx context.Context, s *streams, args []string) error {
			if o.parity == 0 {
				return usagef("--parity is a part of the archive, not none")
			}
			return o.run(ctx, s, "protect", args, o.protect)
		}
	},
}

type repairFlags struct {
	resources
	from   []string
	parity share
}

func (o *repairFlags) run(ctx context.Context, s *streams, command string, args []string,
	do func(ctx context.Context, a located) ([]compress.Repaired, []compress.FileStatus, error)) error {
	if len(args) == 0 {
		return usagef("give an archive, or a directory of archives")
	}
	bar, err := o.start(s)
	if err != nil {
		return err
	}
	defer bar.close()
	var found []located
	for _, arg := range args {
		list, err := findEach(arg)
		if err != nil {
			return err
		}
		found = append(found, list...)
	}
	all, damaged := []compress.Repaired{}, 0
	failed, err := eachArchive(ctx, s, found, func(a located) error {
		results, lost, err := do(ctx, a)
		for i := range results {
			if !results[i].OK {
				damaged++
			}
			if !o.json {
				if err := o.print(s, &results[i]); err != nil {
					return err
				}
			}
		}
		for i := range lost {
			fmt.Fprintf(s.err, "orcomgo: %s\n", damageText(&lost[i]))
		}
		all = append(all, results...)
		return err
	})
	if err != nil {
		return err
	}
	if o.json {
		if err := writeJSON(s.out, filesJSON[compress.Repaired]{o.runJSON(command), all}); err != nil {
			return err
		}
	}
	if failed+damaged > 0 {
		return fmt.Errorf("%s: %d of %s could not be made whole", args[0], failed+damaged, plural(uint64(failed+len(all)), "file"))
	}
	return nil
}

// print prints a line about a file.
func (o *repairFlags) print(s *streams, r *compress.Repaired) error {
	text := "OK"
	switch {
	case !r.OK:
		text = "DAMAGED: " + r.Problem
	case o.quiet:
		return nil
	case r.Written && r.Problem != "":
		text = "repaired: " + r.Problem
	case r.Written:
		text = "written"
	case r.Problem != "":
		text = r.Problem
	}
	_, err := fmt.Fprintf(s.out, "%s: %s\n", oneLine(r.Path), oneLine(text))
	return err
}

func (o *repairFlags) options() compress.RepairOptions {
	return compress.RepairOptions{From: o.from, Share: float64(o.parity), Threads: o.threads, Memory: uint64(o.memory) / 8}
}

// repair repairs a. Of an archive that is beyond repair it returns which records are lost.
func (o *repairFlags) repair(ctx context.Context, a located) (list []compress.Repaired, lost []compress.FileStatus, err error) {
	if a.tree != nil {
		list, err = tree.Repair(ctx, *a.tree, o.options())
		return list, nil, err
	}
	if !a.archive.Has[commit.Packed] {
		return nil, nil, fmt.Errorf("%s: there is only parity of packed archives, and these are bins", a.archive.Path())
	}
	if list, err = compress.Repair(*a.archive, o.options()); err != nil || list[0].OK {
		return list, nil, err
	}
	status, err := compress.VerifyQuick(ctx, *a.archive, compress.VerifyOptions{Threads: o.threads, Memory: uint64(o.memory)})
	if err != nil && !compress.IsDamage(err) {
		return list, nil, err
	}
	for _, f := range status {
		if f.Damaged != nil {
			lost = append(lost, f)
		}
	}
	return list, lost, nil
}

func (o *repairFlags) protect(ctx context.Context, a located) ([]compress.Repaired, []compress.FileStatus, error) {
	if a.archive != nil {
		list, err := compress.Protect(ctx, *a.archive, o.options())
		return list, nil, err
	}
	one, err := tree.Protect(ctx, *a.tree, o.options())
	if errors.Is(err, compress.ErrCorrupt) {
		err = fmt.Errorf("%w: it is damaged, so it is not protected as it is (orcomgo repair)", err)
	}
	return []compress.Repaired{one}, nil, err
}
