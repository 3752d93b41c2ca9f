package main

import (
	"context"
	"errors"
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
	help: `recipients writes the headers of encrypted files anew, so that the holders of other keys can read
them, or some no more; what is encrypted stays as it is, and parity is made again. Without --add and
--remove it says for how many readers each file is: whose they are is in no file. Who could read a
file once may have kept it, or its key: --remove takes back nothing. An ARCHIVE is a directory, for
all archives in it, or DIR/NAME.

Examples:
  orcomgo recipients run/                                 how many readers there are
  orcomgo recipients --key me.sec --add you.pub run/
  orcomgo recipients --key me.sec --remove you.pub run/
`,
	flags: func(f *pflag.FlagSet) action {
		var o recipientsFlags
		f.StringArrayVar(&o.add, "add", nil, "add the holder of a public `KEY`; may be repeated")
		f.StringArrayVar(&o.remove, "remove", nil, "remove the holder of a public `KEY`, whom orcomgo has added; may be repeated")
		o.resources.add(f)
		return o.run
	},
}

type recipientsFlags struct {
	resources
	add, remove []string
}

func (o *recipientsFlags) run(ctx context.Context, s *streams, args []string) error {
	if len(args) == 0 {
		return usagef("give an archive, or a directory of archives")
	}
	add, err := publicKeys(o.add)
	if err != nil {
		return err
	}
	remove, err := publicKeys(o.remove)
	if err != nil {
		return err
	}
	bar, err := o.start(s)
	if err != nil {
		return err
	}
	defer bar.close()
	var paths []string
	for _, arg := range args {
		list, err := findEach(arg)
		if err != nil {
			return err
		}
		for _, a := range list {
			if a.tree != nil {
				paths = append(paths, a.tree.Path())
			} else {
				paths = append(paths, compress.FilesOf(*a.archive)...)
			}
		}
	}
	removed := make([]bool, len(remove)) // from a file at least: an interrupted run may have done so for others
	change := func(e *crypt.Envelope) error {
		for _, key := range add {
			if err := e.Add(key); err != nil {
				return err
			}
		}
		for i, key := range remove {
			removed[i] = e.Remove(key) || removed[i]
		}
		if e.Readers() == 0 {
			return errors.New("nobody could read it any more")
		}
		return nil
	}
	files := []readersJSON{}
	for _, path := range paths {
		if len(add)+len(remove) > 0 && ctx.Err() == nil {
			if err := compress.ChangeReaders(path, change, compress.RepairOptions{Threads: o.threads, Memory: uint64(o.memory) / 8}); err != nil {
				return err
			}
		}
		n, err := readers(path)
		if err != nil {
			return err
		}
		if files = append(files, readersJSON{path, n}); !o.json && !o.quiet {
			fmt.Fprintf(s.out, "%s: %s\n", oneLine(path), plural(uint64(n), "reader"))
		}
	}
	for i := range remove {
		if !removed[i] {
			return fmt.Errorf("%s: no file is for this reader, or another program made it so", o.remove[i])
		}
	}
	if o.json {
		return writeJSON(s.out, filesJSON[readersJSON]{o.runJSON("recipients"), files})
	}
	return ctx.Err()
}

// readersJSON says for how many readers a file is encrypted; 0: it is not.
type readersJSON struct {
	Path    string `json:"path"`
	Readers int    `json:"readers"`
}

// readers returns for how many readers a file is encrypted.
func readers(path string) (int, error) {
	f, err := vfs.OpenRegular(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n, err := crypt.Readers(f)
	return n, vfs.OfPath(path, err)
}
