package main

import (
	"context"

	"github.com/spf13/pflag"

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
			return o.run(ctx, s, "recipients", args, func(_ context.Context, a located) ([]compress.Repaired, []compress.FileStatus, error) {
				if a.archive != nil {
					list, err := compress.Recipients(*a.archive, readers, len(only) > 0, o.options())
					return list, nil, err
				}
				one, err := compress.RecipientsOf(a.path(), readers, len(only) > 0, o.options())
				return []compress.Repaired{one}, nil, err
			})
		}
	},
}
