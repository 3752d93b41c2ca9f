package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"orcomgo/bins/crypt"
	"orcomgo/bins/vfs"
	"orcomgo/compress"
)

var recipientsCommand = command{
	name:     "recipients",
	group:    lookGroup,
	synopsis: "ARCHIVE...",
	about:    "let others read encrypted archives, or no more",
	help: `recipients writes the files of encrypted archives again with other headers, so that the holders of
other keys can read them; what is encrypted stays as it is, and parity is made again. Without --add
and --only it says for how many readers each file is: whose they are is in no file. Who could read a
file once may have kept it, or its key: --only takes nothing back. An ARCHIVE is a directory, for
all archives in it, or DIR/NAME.

Examples:
  orcomgo recipients run/                                 how many readers there are
  orcomgo recipients --key me.sec --add you.pub run/      one more
  orcomgo recipients --key me.sec --only me.pub run/      nobody else any more
`,
	flags: func(f *pflag.FlagSet) action {
		var o repairFlags
		var add, only []string
		f.StringArrayVar(&add, "add", nil, "add the holder of a public `KEY`; may be repeated")
		f.StringArrayVar(&only, "only", nil, "only the holder of a public `KEY`; may be repeated")
		o.resources.add(f)
		return func(ctx context.Context, s *streams, args []string) error {
			if len(add) > 0 && len(only) > 0 {
				return usagef("%s and %s exclude each other", "--add", "--only")
			}
			readers, err := publicKeys(append(add, only...))
			if err != nil {
				return err
			}
			change := (*crypt.Envelope).And
			if len(only) > 0 {
				change = (*crypt.Envelope).For
			}
			return o.run(ctx, s, "recipients", args, func(_ context.Context, a located) ([]compress.Repaired, []compress.FileStatus, error) {
				list, err := recipients(a, o.options(), readers, change)
				return list, nil, err
			})
		}
	},
}

// recipients changes who can read the files of an archive, if readers are given, and says for how many each is.
func recipients(a located, o compress.RepairOptions, readers []crypt.Key,
	change func(e *crypt.Envelope, readers ...crypt.Key) (*crypt.Envelope, error)) (list []compress.Repaired, err error) {
	paths := []string{a.path()}
	if a.archive != nil {
		paths = compress.FilesOf(*a.archive)
	}
	for _, path := range paths {
		if len(readers) > 0 {
			err := compress.ChangeReaders(path, func(e *crypt.Envelope) (*crypt.Envelope, error) { return change(e, readers...) }, o)
			if err != nil {
				return list, err
			}
		}
		f, err := vfs.OpenRegular(path)
		if err != nil {
			return list, err
		}
		e, err := crypt.ReadHeader(f)
		f.Close()
		if err != nil {
			return list, vfs.OfPath(path, err)
		}
		list = append(list, compress.Repaired{Path: path, Problem: fmt.Sprintf("for %s", plural(uint64(e.Readers()), "reader")), OK: true})
	}
	return list, nil
}
