package batches

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"orcomgo/binning"
	"orcomgo/binning/groups"
	"orcomgo/binning/samples"
	"orcomgo/bins/commit"
	"orcomgo/compress"
	"orcomgo/internal/tasks"
)

// The values of Grouping.By that are no file.
const (
	GroupAuto = "auto"
	GroupNone = "none"
)

// ComparingSamples is the name of the stage in which samples are compared with each other.
const ComparingSamples = "comparing samples"

// Grouping says which samples are to share an archive.
type Grouping struct {
	By      string            // GroupAuto, GroupNone, or the path of the table that Table was read from
	Table   map[string]string // the groups of samples, by their names
	OutDir  string            // may hold archives already
	Force   bool              // these do not count
	Threads int
	Samples []samples.Sample // Group changes them
	// Report and Finish say how far comparing samples is, Note prints a line; all of them are nil where samples are not to be read for notes.
	Report func(stage string, done, total uint64)
	Finish func(stage string)
	Note   func(line string)
}

// Group puts samples together that are to share an archive: those of a group that OUT holds already, then as By says. What has an
// archive of its own already keeps it. The samples of the batch are then groups, and what is left.
func (g *Grouping) Group(ctx context.Context) error {
	left := make(map[string]*samples.Sample) // by name
	for i := range g.Samples {
		if s := &g.Samples[i]; s.Problem == nil {
			left[s.Name] = s
		}
	}
	joined := make(map[string][]string) // the samples of each group
	present := g.present(left, joined)
	var err error
	switch g.By {
	case GroupNone:
	case GroupAuto:
		err = g.findGroups(ctx, left, joined, present)
	default:
		err = g.listedGroups(ctx, left, joined, present)
	}
	if err == nil && len(joined) == 0 && g.By == GroupAuto && g.Note != nil {
		g.Note("no samples have so much in common that they are to share an archive")
	}
	if err != nil || len(joined) == 0 {
		return err
	}
	var list []samples.Sample
	in := make(map[string]bool)
	for name, members := range joined {
		var of []samples.Sample
		for _, member := range members {
			i := slices.IndexFunc(g.Samples, func(s samples.Sample) bool { return s.Name == member })
			of = append(of, g.Samples[i])
			in[member] = true
		}
		list = append(list, samples.Join(name, of))
	}
	for _, s := range g.Samples {
		if !in[s.Name] {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(x, y samples.Sample) int { return strings.Compare(x.Name, y.Name) })
	g.Samples = list
	return nil
}

// present looks at the archives in OUT, and returns their names. Groups whose samples are all here are taken from left to joined, and
// samples that have an archive are taken from left. With --force nothing counts.
func (g *Grouping) present(left map[string]*samples.Sample, joined map[string][]string) map[string]bool {
	names := make(map[string]bool)
	if g.Force || !IsDirectory(g.OutDir) {
		return names
	}
	found, err := commit.Find(g.OutDir)
	if err != nil {
		return names // there are none
	}
	for _, e := range found {
		names[e.Name] = true
		n, err := compress.Info(e)
		if err != nil {
			continue // archiving says what is wrong, if it is in the way
		}
		files := make(map[string][]string) // the inputs of each sample
		var members []string
		for _, in := range n.Inputs {
			if in.Sample != "" && files[in.Sample] == nil {
				members = append(members, in.Sample)
			}
			files[in.Sample] = append(files[in.Sample], in.Name)
		}
		here := len(members) > 0 && files[""] == nil
		for _, name := range members {
			here = here && left[name] != nil && slices.Equal(RestoredNames(left[name]), files[name])
		}
		if here {
			joined[e.Name] = members
			for _, name := range members {
				delete(left, name)
			}
		}
	}
	for name := range names {
		delete(left, name)
	}
	return names
}

// RestoredNames returns the names that the inputs of a sample are restored under.
func RestoredNames(s *samples.Sample) (names []string) {
	for _, in := range s.Inputs {
		names = append(names, binning.RestoredName(in.Path))
	}
	return names
}

// findGroups puts samples together that are similar. A sample that can't be read is left alone: archiving it says why.
func (g *Grouping) findGroups(ctx context.Context, left map[string]*samples.Sample, joined map[string][]string,
	present map[string]bool) error {
	names := slices.Sorted(maps.Keys(left))
	list, err := g.sketches(ctx, names, left)
	if err != nil {
		return err
	}
	for _, part := range groups.Archives(list, g.Threads) {
		if len(part) < 2 {
			continue
		}
		var members []string
		for _, i := range part {
			members = append(members, names[i])
		}
		name := g.groupName(members[0], joined, present)
		joined[name] = members
	}
	return nil
}

// sketches returns sketches of samples. Those of samples that can't be read are empty.
func (g *Grouping) sketches(ctx context.Context, names []string, left map[string]*samples.Sample) ([]groups.Sample, error) {
	list := make([]groups.Sample, len(names))
	var total uint64
	sizes := make([]uint64, len(names))
	for i, name := range names {
		sizes[i] = binning.StoredSize(left[name].Inputs)
		total += sizes[i]
	}
	var done atomic.Uint64
	tasks.Each(len(names), g.Threads, func(_, i int) {
		s := left[names[i]]
		list[i] = groups.Sample{Sketch: new(groups.Sketch), Files: RestoredNames(s)}
		if ctx.Err() == nil && CheckPaths(s) == nil {
			if k, err := groups.SketchInputs(ctx, s.Inputs); err == nil {
				list[i].Sketch = k
			}
		}
		if g.Report != nil {
			g.Report(ComparingSamples, done.Add(sizes[i]), total)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if g.Finish != nil {
		g.Finish(ComparingSamples)
	}
	return list, nil
}

// groupName returns a name for a group that no archive has: that of its first sample with "_group", and a number if need be.
func (g *Grouping) groupName(first string, joined map[string][]string, present map[string]bool) string {
	base := binning.CutName(first + "_group")
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s%d", base, n)
		}
		taken := slices.ContainsFunc(g.Samples, func(s samples.Sample) bool { return s.Name == name })
		if joined[name] == nil && !present[name] && !taken {
			return name
		}
	}
}

// listedGroups puts samples together as the table of --group says, and prints a note for each that will take long to be restored.
func (g *Grouping) listedGroups(ctx context.Context, left map[string]*samples.Sample, joined map[string][]string,
	present map[string]bool) error {
	listed := make(map[string][]string)
	for _, sample := range slices.Sorted(maps.Keys(g.Table)) {
		group := g.Table[sample]
		if !slices.ContainsFunc(g.Samples, func(s samples.Sample) bool { return s.Name == sample }) {
			return fmt.Errorf("%s: there is no sample %s", g.By, sample)
		}
		if slices.ContainsFunc(g.Samples, func(s samples.Sample) bool { return s.Name == group && g.Table[s.Name] != group }) {
			return fmt.Errorf("%s: the group %s has the name of a sample that is not in it", g.By, group)
		}
		if group == "" || left[sample] == nil {
			continue
		}
		if present[group] {
			return fmt.Errorf("%s: group %s is archived already, without %s", g.By, group, sample)
		}
		joined[group] = append(joined[group], sample)
		listed[group] = append(listed[group], sample)
	}
	for group, members := range joined {
		of := make(map[string]string) // the sample that has a file
		for _, member := range members {
			if left[member] == nil {
				continue // in an archive that is there
			}
			for _, file := range RestoredNames(left[member]) {
				if other, ok := of[file]; ok {
					return fmt.Errorf("%s: group %s: %s and %s both have a file that is restored as %s: put them in two groups", g.By, group,
						other, member, file)
				}
				of[file] = member
			}
		}
	}
	return g.noteSlow(ctx, left, listed)
}

// slowSample is how many times longer than from an archive of its own restoring a sample of a group takes, at least, for a note about it.
const slowSample = 1.3

// noteSlow prints a note for each sample of the listed groups that is expected to take longer to be restored than --group auto allows. With
// --dry-run there is none, since the samples are not read.
func (g *Grouping) noteSlow(ctx context.Context, left map[string]*samples.Sample, listed map[string][]string) error {
	if g.Note == nil {
		return nil
	}
	var names []string
	for _, group := range slices.Sorted(maps.Keys(listed)) {
		names = append(names, listed[group]...)
	}
	list, err := g.sketches(ctx, names, left)
	if err != nil {
		return err
	}
	at := 0
	for _, group := range slices.Sorted(maps.Keys(listed)) {
		var part []int
		for range listed[group] {
			part = append(part, at)
			at++
		}
		for k, times := range groups.Restoring(list, part) {
			if times > slowSample {
				g.Note(fmt.Sprintf("%s: restoring it alone takes about %.1f times as long in group %s, with larger samples",
					listed[group][k], times, group))
			}
		}
	}
	return nil
}

// CheckPaths returns an error for a path of a sheet that is no file.
func CheckPaths(s *samples.Sample) error {
	for _, in := range s.Inputs {
		switch {
		case IsURL(in.Path):
			return fmt.Errorf("%s is a URL: only files are read", in.Path)
		case in.Path == "-":
			return fmt.Errorf("standard input can't be a file of a sample")
		}
	}
	return nil
}

var url = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// IsURL reports whether a path is none, but a URL.
func IsURL(path string) bool { return url.MatchString(path) }

// IsDirectory reports whether a path leads to a directory.
func IsDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
