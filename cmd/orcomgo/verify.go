package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync/atomic"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
	"orcomgo/compress"
	"orcomgo/compress/tree"

	"github.com/spf13/pflag"
	"golang.org/x/crypto/ssh"
)

var verifyCommand = command{
	name:     "verify",
	group:    lookGroup,
	synopsis: "DIR|DIR/NAME...",
	about:    "decode everything and compare checksums",
	help: `verify decodes the whole archive, compares it with the checksums that were taken of the original
text, and prints one line a file. It writes no files. The exit status is 1 unless every file is OK.
Of a directory with several archives it verifies all, and of several directories those of each; with
--json it prints one object after another. The side archive of a directory (DIR/NAME.ctree) has a
line for each of its files, and for each file of reads whose archive is missing or another one; that
it is missing itself is damage, too. --quick decodes nothing. It reads all of the archives and
compares the checksums of what is stored, which finds whatever has changed since it was written, as
fast as the disk reads. --certificate writes a statement of what was compared, for those who delete
the inputs: names, sizes, records, SHA-256 and MD5 of texts and of files as they were stored, and
the files of the archive with theirs. --sign signs it as ssh-keygen -Y sign -n file does. --check
says whether an archive is still what a certificate says, and the signature beside that is right.

Examples:
  orcomgo verify run/
  orcomgo verify archives/sample7            one of several archives in a directory
  orcomgo verify --quick archives/*/         many archives, from time to time
  orcomgo verify --json run/ | jq '.files[] | select(.ok | not)'
  orcomgo verify --quiet run/ && rm run_R1.fastq.gz run_R2.fastq.gz
  orcomgo verify --certificate run.json --sign ~/.ssh/id_ed25519 run/
  ssh-keygen -Y verify -f signers -I me@lab -n file -s run.json.sig < run.json
  orcomgo verify --check run.json run/
`,
	flags: func(f *pflag.FlagSet) action {
		var o verifyFlags
		f.BoolVar(&o.quick, "quick", false, "don't decode: compare the checksums of what is stored")
		f.StringVar(&o.certificate, "certificate", "", "write what was compared to `FILE`")
		f.StringVar(&o.sign, "sign", "", "private SSH `KEY` that signs the certificate, in FILE.sig")
		f.StringVar(&o.check, "check", "", "verify that all is as the certificate in `FILE` says")
		f.StringVar(&o.device, "device", "auto", "`WHERE` to decode qualities: auto, cpu or gpu")
		o.add(f)
		return o.run
	},
}

type verifyFlags struct {
	resources
	quick                    bool
	device                   string
	certificate, sign, check string
	signer                   ssh.Signer  // of sign
	certified                certificate // in check
	signedBy                 string      // who signed that
}

// prepare checks the flags, and reads what is needed for certificates.
func (o *verifyFlags) prepare(s *streams) (err error) {
	switch {
	case o.quick && o.device != "auto":
		return usagef("--quick and --device exclude each other: --quick decodes nothing")
	case o.quick && (o.certificate != "" || o.check != ""):
		return usagef("--quick decodes nothing: with --certificate or --check all is decoded")
	case o.sign != "" && o.certificate == "":
		return usagef("--sign needs --certificate")
	case o.certificate != "" && o.check != "":
		return usagef("--certificate and --check exclude each other")
	}
	if o.certificate != "" {
		if _, err := compress.CheckNew(o.certificate, false); err != nil {
			return err
		}
	}
	if o.sign != "" {
		if o.signer, err = readKey(o.sign, s); err != nil {
			return err
		}
	}
	if o.check != "" {
		o.certified, o.signedBy, err = readCertificate(o.check)
	}
	return err
}

func (o *verifyFlags) run(ctx context.Context, s *streams, args []string) (failed error) {
	args, err := checkArchives(s, args)
	if err != nil {
		return err
	}
	if err := o.prepare(s); err != nil {
		return err
	}
	var certified []certifiedArchive
	var all []commit.Entry
	for _, arg := range args {
		found, _ := commit.Find(arg) // else what follows says why
		all = append(all, found...)
	}
	ctx, onGPU, done, err := o.decodesOnGPU(ctx, o.device, all)
	if err != nil {
		return err
	}
	defer func() { failed = done(failed) }()
	files, damaged := 0, 0
	for _, arg := range args {
		found, err := findEach(arg)
		if err != nil {
			if len(args) == 1 || !compress.IsDamage(err) {
				return err
			}
			if err := o.unreadable(s, arg, arg+": ", err); err != nil {
				return err
			}
			files, damaged = files+1, damaged+1
		}
		bar, err := o.start(s, stageModel{name: "verify", unit: bytesUnit, group: 0, perUnit: 1})
		if err != nil {
			return err
		}
		defer bar.close()
		parts, before, bytes, all := make([]float64, len(found)), 0.0, uint64(0), 0.0
		for i, a := range found {
			n, weight := o.contentOf(a)
			parts[i] = float64(n) * weight
			bytes, all = bytes+n, all+parts[i]
		}
		for i, a := range found {
			name, prefix := filepath.Base(a.path()), ""
			if len(args) > 1 {
				name = a.path()
			}
			if len(found) > 1 || len(args) > 1 {
				prefix = oneLine(name) + ": "
			}
			var note func(string)
			if onGPU {
				note = gpuNote(o.device, bar)
			}
			status, err := o.verify(ctx, a, note, func(stage string, done, total uint64) {
				share := (before + parts[i]*float64(done)/float64(max(total, 1))) / max(all, 1)
				bar.report(stage, uint64(share*float64(bytes)), bytes)
			})
			if err == nil && countDamaged(status) == 0 && (o.certificate != "" || o.check != "") {
				var c certifiedArchive
				c, err = o.certify(ctx, a, status)
				certified = append(certified, c)
			}
			resume := bar.pause()
			if err == nil {
				err = o.tell(s, a, name, prefix, status)
				files += len(status)
				damaged += countDamaged(status)
			} else if prefix != "" && ctx.Err() == nil && compress.IsDamage(err) {
				err = o.unreadable(s, name, prefix, err)
				files, damaged = files+1, damaged+1
			}
			resume()
			before += parts[i]
			if err != nil {
				return err
			}
		}
		bar.close()
	}
	what := args[0]
	if len(args) > 1 {
		what = plural(uint64(len(args)), "path")
	}
	if damaged > 0 {
		return fmt.Errorf("%s: %d of %s damaged", what, damaged, plural(uint64(files), "file"))
	}
	switch {
	case o.certificate != "":
		return o.writeCertificate(s, certified)
	case o.check != "":
		return o.compareCertificate(s, certified)
	}
	return nil
}

// checkArchives returns the paths of archives as oneArchive does, of which there is one at least.
func checkArchives(s *streams, args []string) (paths []string, err error) {
	if len(args) == 0 {
		args = []string{""} // which oneArchive explains
	}
	for _, arg := range args {
		path, err := oneArchive(s, []string{arg})
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// located is what a path leads to: an archive of reads or a side archive. One of the two is nil.
type located struct {
	archive *commit.Entry
	tree    *commit.Tree
}

// path returns DIR/NAME of an archive, or the path of a side archive.
func (a *located) path() string {
	if a.tree != nil {
		return a.tree.Path()
	}
	return a.archive.Path()
}

// findEach is findAll in one list.
func findEach(path string) (list []located, err error) {
	found, trees, err := findAll(path)
	if err != nil {
		return nil, err
	}
	for i := range found {
		list = append(list, located{archive: &found[i]})
	}
	for i := range trees {
		list = append(list, located{tree: &trees[i]})
	}
	return list, nil
}

// findAll returns the archives and the side archives that a path leads to. Those are among them that archives of a directory belong to and
// that are missing: openTree says so.
func findAll(path string) ([]commit.Entry, []commit.Tree, error) {
	trees, err := commit.FindTrees(path)
	if err != nil {
		return nil, nil, err
	}
	found, err := commit.Find(path)
	if len(trees) > 0 && errors.Is(err, commit.ErrNotArchive) {
		err = nil
	}
	for _, e := range found {
		sides, err := compress.Sides(e)
		if err != nil || filepath.Clean(e.Dir) != filepath.Clean(path) { // it is named alone
			continue
		}
		for _, name := range sides {
			if t := (commit.Tree{Dir: path, Name: name}); !slices.Contains(trees, t) {
				trees = append(trees, t)
			}
		}
	}
	return found, trees, err
}

// openTree opens a side archive that findAll returned.
func openTree(t commit.Tree, o tree.Options) (*tree.Reader, error) {
	r, err := tree.Open(t, o)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: %w: it is missing, and archives beside it belong to it", t.Path(), parse.ErrCorrupt)
	}
	return r, err
}

// unreadable says, after a prefix, why an archive can't be read.
func (o *verifyFlags) unreadable(s *streams, name, prefix string, problem error) error {
	text := oneLine(problem.Error())
	if o.json {
		return writeJSON(s.out, verifyJSON{Archive: name, Problem: text, Files: []compress.FileStatus{}})
	}
	_, err := fmt.Fprintf(s.out, "%sDAMAGED: %s\n", prefix, text)
	return err
}

// contentOf returns about how many bytes an archive or a side archive has to verify, 0 if that is not known, and how many bytes of text of
// reads take the time of one.
func (o *verifyFlags) contentOf(a located) (n uint64, weight float64) {
	if a.tree == nil {
		if info, err := compress.Info(*a.archive); err == nil {
			exact := uint64(0)
			for i := range info.Inputs {
				if in := &info.Inputs[i]; in.Exact && !o.quick {
					exact += in.Bytes
				}
			}
			n, weight = info.TextBytes, 1+(tree.ExactWork-1)*float64(exact)/float64(max(info.TextBytes, 1))
			weight *= (1 + max(1, float64(o.threads)/float64(max(info.Slices, 1)))) / 2 // few slices leave threads idle
		}
		return n, weight
	}
	if r, err := openTree(*a.tree, tree.Options{Threads: 1}); err == nil {
		n, weight = r.Bytes(), float64(r.Weight())
		r.Close()
	}
	return n, weight
}

// verify returns the status of the files of an archive or a side archive.
func (o *verifyFlags) verify(ctx context.Context, a located, gpu func(note string),
	report compress.Progress) ([]compress.FileStatus, error) {
	options := compress.VerifyOptions{Threads: o.threads, Memory: uint64(o.memory), GPU: gpu, Progress: report,
		MD5: o.certificate+o.check != ""}
	switch {
	case a.tree != nil:
		return verifyTree(ctx, *a.tree, options, o.quick)
	case o.quick:
		return compress.VerifyQuick(ctx, *a.archive, options)
	}
	return compress.Verify(ctx, *a.archive, options)
}

// verifyTree returns the status of the files of a side archive.
func verifyTree(ctx context.Context, t commit.Tree, o compress.VerifyOptions, quick bool) ([]compress.FileStatus, error) {
	var done, total atomic.Uint64
	r, err := openTree(t, tree.Options{Threads: o.Threads, Memory: o.Memory, Progress: func(n int) {
		o.Progress("verify", done.Add(uint64(n)), max(total.Load(), 1))
	}})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	total.Store(r.Bytes())
	return r.Verify(ctx, quick)
}

// tell prints a line for each file of an archive, after a prefix, or with --json an object.
func (o *verifyFlags) tell(s *streams, a located, name, prefix string, status []compress.FileStatus) (err error) {
	if o.json {
		return writeJSON(s.out, verifyJSON{Archive: name, OK: countDamaged(status) == 0, Files: list(status)})
	}
	for i := range status {
		f := &status[i]
		switch {
		case !f.OK:
			_, err = fmt.Fprintf(s.out, "%s%s\n", prefix, damageText(f))
		case o.quiet:
		case a.tree != nil: // side files have no records
			_, err = fmt.Fprintf(s.out, "%s%s: OK (%s bytes, by %s)\n", prefix, oneLine(f.Name), countText(f.Bytes), f.Checked)
		default:
			_, err = fmt.Fprintf(s.out, "%s%s: OK (%s, %s bytes, by %s)\n",
				prefix, oneLine(f.Name), plural(f.Records, "record"), countText(f.Bytes), f.Checked)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// countDamaged returns how many files are damaged.
func countDamaged(status []compress.FileStatus) (n int) {
	for i := range status {
		if !status[i].OK {
			n++
		}
	}
	return n
}

// damageText returns a line about what is wrong with a file.
func damageText(f *compress.FileStatus) string {
	text := oneLine(f.Name) + ": DAMAGED: "
	if records := f.DamagedText(); records != "" {
		text += records + ": "
	}
	return text + oneLine(f.Problem)
}
