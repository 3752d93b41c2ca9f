package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"orcomgo/binning"
	"orcomgo/binning/samples"
	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/cmd/orcomgo/batches"
	"orcomgo/compress"
	"orcomgo/compress/tree"

	"golang.org/x/sync/errgroup"
)

// batch is a run of archive over many samples.
type batch struct {
	*archiveFlags
	config  binning.Config // but for what each sample has of its own
	list    []samples.Sample
	results []result // of list
	trees   []*samples.Tree
	groups  map[string]string // of samples, by their names, as the table of --group says
	unread  []error           // what can't be read
	others  []string          // files of a directory that are not archived
	bar     *progress
	log     *runLog

	sideResults []*sideResult // of trees

	needs *tree.Needs // of the side archives in OUT that are not of trees

	sideOf  map[string]string      // the side archives that list files of reads, by the paths of these
	allowed map[string]fs.FileMode // the modes of files in directories, less what the directories above them don't allow

	mu      sync.Mutex
	parts   []*progress // of samples
	sideSum uint64      // bytes of side files
	sum     uint64      // of them, and of inputs, as they are stored
	// sideBytes is how many bytes of side files were looked at, coded or decoded, each once.
	sideBytes atomic.Uint64
}

// result is what became of a sample.
type result struct {
	outcome batches.Outcome
	summary *compress.Summary // nil if it failed
	err     error
	took    time.Duration
	tried   bool // false if the run ended before
}

// batch archives the samples of directories or of a sheet.
func (o *archiveFlags) batch(ctx context.Context, s *streams, args []string) error {
	b := &batch{archiveFlags: o, log: s.log}
	if err := b.prepare(args); err != nil {
		return err
	}
	if b.dryRun {
		if err := b.group(ctx); err != nil {
			return err
		}
		return b.tellPlan(s)
	}
	device, err := b.chooseDevice(ctx)
	if err != nil {
		return err
	}
	b.begin() // so that the work is known while samples are compared, after which there may be fewer
	if b.bar, err = o.start(s, b.stages("archive", b.costs)...); err != nil {
		return err
	}
	defer b.bar.close()
	if err := o.checkJobs(); err != nil {
		return err
	}
	if err := b.group(ctx); err != nil {
		return err
	}
	if n := max(len(b.list), 1); o.jobs > n {
		b.bar.note(fmt.Sprintf("%s at a time, not %d: there are no more archives to make", plural(uint64(n), "archive"), o.jobs))
		o.jobs = n
	}
	b.begin()
	b.bar.report("archive", 0, b.sum)
	b.archiveAll(ctx, device)
	b.sides(ctx)
	b.bar.report("archive", b.sum, b.sum)
	b.bar.close()
	if err := ctx.Err(); err != nil {
		return err
	}
	return b.tell(s)
}

// checkJobs returns a usage error if the jobs have too little memory.
func (o *archiveFlags) checkJobs() error {
	if o.memory/size(o.jobs) < minMemory {
		return usagef("--memory %s is too little for --jobs %d: each takes at least 96MB", o.memory.String(), o.jobs)
	}
	return nil
}

// archiveAll makes the archives of all samples, as many at a time as there are jobs.
func (b *batch) archiveAll(ctx context.Context, device string) {
	var jobs errgroup.Group
	jobs.SetLimit(b.jobs)
	threads := make(chan int, b.jobs) // of the jobs that are free
	for i := range b.jobs {
		threads <- max((b.threads+i)/b.jobs, 1)
	}
	for i := range b.list {
		jobs.Go(func() error {
			n := <-threads
			defer func() { threads <- n }()
			if ctx.Err() == nil {
				b.archive(ctx, i, n, device)
			}
			return nil
		})
	}
	jobs.Wait()
}

// prepare checks the command line and finds the samples.
func (b *batch) prepare(args []string) (err error) {
	o := b.archiveFlags
	switch {
	case len(o.first)+len(o.second)+len(o.third)+len(o.fourth) > 0:
		return usagef("-1 to -4 can't be combined with samples")
	case o.sheet != "" && len(args) != 1:
		return usagef("give nothing but the output directory with --samples")
	case o.given("as"):
		return usagef("--as can't be combined with samples, which have names")
	case o.jobs < 1:
		return usagef("--jobs must be at least 1")
	case o.jobs > 1 && o.device == "gpu":
		return usagef("--jobs and --device gpu exclude each other: one sample at a time can use a GPU")
	}
	b.config.OutDir = args[len(args)-1]
	if err := checkArchiveOutput(b.config.OutDir); err != nil {
		return err
	}
	if err := o.settings(&b.config); err != nil {
		return err
	}
	if o.sheet != "" {
		b.list, err = samples.ReadSheet(o.sheet)
	} else {
		err = b.scan(args[:len(args)-1])
	}
	if err != nil {
		return err
	}
	for i := range b.list {
		b.gzips += storedAs(b.list[i].Inputs, binning.GzipExts)
	}
	return b.checkGroup()
}

// begin makes room for the results of all archives, and guesses how much work they are.
func (b *batch) begin() {
	b.mu.Lock()
	b.results, b.parts, b.sum, b.sideSum = make([]result, len(b.list)), nil, b.sideTotal(), b.sideTotal()
	for i := range b.list {
		part := &progress{out: io.Discard, now: time.Now}
		part.prepare(packStages(b.noVerify, binModel))
		part.sized(b.guessed(b.list[i].Inputs))
		b.parts = append(b.parts, part)
		b.sum += binning.StoredSize(b.list[i].Inputs)
	}
	b.mu.Unlock()
	var own []string
	b.sideOf, b.allowed = make(map[string]string), make(map[string]fs.FileMode)
	for _, t := range b.trees {
		name := sideName(t.Root)
		own = append(own, name)
		above := map[string]fs.FileMode{".": searchable(t.Info.Mode())} // by the path of a directory below the root
		for i := range t.Files {
			f := &t.Files[i]
			allowed := above[path.Dir(f.Rel)]
			b.allowed[f.Path] = f.Info.Mode() & allowed
			switch f.Class {
			case samples.Reads:
				b.sideOf[f.Path] = name
			case samples.Directory:
				above[f.Rel] = allowed & searchable(f.Info.Mode())
			}
		}
	}
	b.needs = tree.NewNeeds(b.config.OutDir, own...)
}

// searchable returns the permissions that files in a directory of this mode have at most: nobody reads them who can't search it.
func searchable(mode fs.FileMode) fs.FileMode {
	allowed := fs.FileMode(0o777)
	for _, who := range []fs.FileMode{0o001, 0o010} {
		if mode&who == 0 {
			allowed &^= 7 * who
		}
	}
	return allowed
}

// stages returns the stages of a batch, of which the last one has this name, and costs if these are not nil.
func (b *batch) stages(last string, costs func() (done, all float64)) (list []stageModel) {
	if b.groupBy != batches.GroupNone {
		list = append(list, stageModel{name: batches.ComparingSamples, unit: bytesUnit, group: 0, perUnit: 5})
	}
	return append(list, stageModel{name: last, unit: bytesUnit, group: 0, perUnit: 95, costs: costs})
}

// scan finds the samples of directories.
func (b *batch) scan(dirs []string) error {
	o := samples.Options{Out: b.config.OutDir, Log: b.log.info()}
	for _, p := range []struct {
		flag     string
		patterns []string
		globs    *[]samples.Glob
	}{{"include", b.include, &o.Include}, {"exclude", b.exclude, &o.Exclude}, {"as-is", b.asIs, &o.AsIs}} {
		for _, text := range p.patterns {
			g, err := samples.NewGlob(text)
			if err != nil {
				return usagef("--%s: %w", p.flag, err)
			}
			*p.globs = append(*p.globs, g)
		}
	}
	names := make(map[string]string)
	for _, dir := range dirs {
		if !batches.IsDirectory(dir) {
			return usagef("%s is no directory: give directories of samples, or files, but not both", dir)
		}
		t, err := samples.Scan(dir, o)
		if err != nil {
			return err
		}
		name := sideName(dir)
		if other, ok := names[name]; ok && binning.SameFile(dir, other) {
			return usagef("the directory %s is given twice", dir)
		} else if ok {
			return usagef("the side archives of %s and %s would have the same name: archive one at a time", other, dir)
		}
		names[name] = dir
		b.trees, b.unread = append(b.trees, t), append(b.unread, t.Unread...)
		archived := 0
		for _, f := range t.Files {
			if f.Class != samples.Other {
				continue
			}
			b.others = append(b.others, f.Path)
			ext := filepath.Ext(f.Path)
			if f.NoReads && ext == binning.BAMExt {
				b.notes = append(b.notes, f.Path+": BAM of aligned reads, or damaged: it is stored as it is. "+
					"samtools view -C makes aligned reads smaller")
			} else if f.NoReads {
				b.notes = append(b.notes, f.Path+": its name is one of reads, but it holds none: it is stored as it is")
			}
			if (ext == commit.BinsDataExt || ext == commit.PackedDataExt || ext == commit.TreeExt) && commit.IsArchiveFile(f.Path) {
				archived++
			}
		}
		if archived > 0 {
			b.notes = append(b.notes, fmt.Sprintf("%s: %s in it, stored as any other files", dir, plural(uint64(archived), "archive")))
		}
	}
	b.list = samples.Samples(b.formerNames(), b.trees...)
	return nil
}

// chooseDevice returns the device for all samples: auto is a GPU where a sample is large enough for one. It may replace the process.
func (b *batch) chooseDevice(ctx context.Context) (string, error) {
	use, err := useGPU(ctx, b.device, b.enoughForGPU(func() bool {
		large := func(s samples.Sample) bool { return largeEnoughForGPU(s.Inputs, b.threads) }
		return b.jobs == 1 && slices.ContainsFunc(b.list, large)
	}))
	if err == nil && !use {
		return "cpu", nil
	}
	return b.device, err
}

// About how many nanoseconds of a thread a byte of a side file takes until its class is known, when it is coded, and when it is decoded.
const sideSeen, sideCoded, sideDecoded = 15, 70, 30

// costs returns how much of the work is done, and how much there is, as those of its parts.
func (b *batch) costs() (done, all float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, p := range b.parts {
		p.mu.Lock()
		d, a := p.costs()
		p.mu.Unlock()
		if b.results[i].tried {
			a = d // there may have been nothing to do
		}
		done, all = done+d, all+a
	}
	side, n := float64(b.sideSum), float64(b.sideBytes.Load())
	done += sideSeen*min(n, side) + sideCoded*min(max(n-side, 0), side) + sideDecoded*max(n-2*side, 0)
	return done, all + (sideSeen+sideCoded+sideDecoded)*side
}

// archive makes the archive of a sample with so many threads.
func (b *batch) archive(ctx context.Context, i, threads int, device string) {
	sample, began := &b.list[i], time.Now()
	part := b.parts[i]
	b.log.event("sample begins", "sample", sample.Name)
	r := result{tried: true}
	if r.err = sample.Problem; r.err == nil {
		r.err = batches.CheckPaths(sample)
	}
	if r.err == nil {
		c := b.config
		c.Inputs, c.Threads, c.Memory = sample.Inputs, threads, uint64(b.memory)/uint64(b.jobs)
		if r.err = useDevice(ctx, device, &c); r.err == nil {
			a := b.archiving(c)
			a.Pack.Access = batches.AccessTo(c.Inputs, b.allowed)
			for _, in := range c.Inputs {
				if side, ok := b.sideOf[in.Path]; ok && !slices.Contains(a.Pack.Sides, side) { // a group may be of several directories
					a.Pack.Sides = append(a.Pack.Sides, side)
				}
			}
			a.MayReplace(b.needs)
			a.Report, a.Finish, a.Pack.Sized = part.report, part.finish, part.sized
			a.Note = func(line string) { b.bar.note(sample.Name + ": " + line) }
			r.summary, r.outcome, r.err = b.runNamed(ctx, a, sample)
			collectGarbage() // before the next one
		}
	}
	r.err, r.took = hint(r.err), time.Since(began)
	b.mu.Lock()
	b.results[i] = r
	b.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	b.log.event("sample ends", "sample", sample.Name, "result", r.text(), "seconds", r.took.Seconds())
	if r.err != nil {
		b.bar.note(sample.Name + ": " + r.text())
	}
}

// word says what became of a sample, for scripts.
func (r *result) word() (word, problem string) {
	switch {
	case r.err != nil:
		return "failed", oneLine(r.err.Error())
	case r.outcome == batches.WasThere:
		return "present", ""
	}
	return "archived", ""
}

// text says what became of a sample.
func (r *result) text() string {
	switch word, problem := r.word(); word {
	case "failed":
		return "FAILED: " + problem
	case "present":
		return "there already"
	}
	return "archived"
}

// path returns DIR/NAME of the archive of a sample.
func (b *batch) path(i int) string { return vfs.Shown(filepath.Join(b.config.OutDir, b.list[i].Name)) }

// checkGroup checks --group, and reads the table if it is one.
func (b *batch) checkGroup() (err error) {
	switch b.groupBy {
	case batches.GroupAuto, batches.GroupNone:
	case "":
		return usagef("--group is auto, none or a file")
	default:
		b.groups, err = samples.ReadGroups(b.groupBy)
	}
	if err == nil && b.groupBy != batches.GroupNone && b.config.Record == binning.RecordNothing {
		return usagef("--group and --source none exclude each other: the names of the samples are recorded with the files")
	}
	return err
}

// group puts samples together that are to share an archive.
func (b *batch) group(ctx context.Context) error {
	g := batches.Grouping{By: b.groupBy, Table: b.groups, OutDir: b.config.OutDir, Force: b.force, Threads: b.threads, Samples: b.list}
	if b.bar != nil {
		g.Report, g.Finish, g.Note = b.bar.report, b.bar.finish, b.bar.note
		for _, n := range b.notes {
			b.bar.note(n)
		}
	}
	err := g.Group(ctx)
	b.list = g.Samples
	return err
}
