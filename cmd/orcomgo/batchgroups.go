package main

import (
	"context"
	"fmt"
	"maps"
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

// The values of --group that are no file.
const (
	groupAuto = "auto"
	groupNone = "none"
)

// comparingSamples is the name of the stage in which samples are compared with each other.
const comparingSamples = "comparing samples"

// checkGroup checks --group, and reads the table if it is one.
func (b *batch) checkGroup() (err error) {
	switch b.groupBy {
	case groupAuto, groupNone:
	case "":
		return b.usagef("--group is auto, none or a file")
	default:
		b.groups, err = samples.ReadGroups(b.groupBy)
	}
	if err == nil && b.groupBy != groupNone && b.config.Record == binning.RecordNothing {
		return b.usagef("--group and --source none exclude each other: the names of the samples are recorded with the files")
	}
	return err
}

// group puts samples together that are to share an archive: those of a group that OUT holds already, then as --group says. What has an
// archive of its own already keeps it. The samples of the batch are then groups, and what is left.
func (b *batch) group(ctx context.Context) error {
	left := make(map[string]*samples.Sample) // by name
	for i := range b.list {
		if s := &b.list[i]; s.Problem == nil {
			left[s.Name] = s
		}
	}
	joined := make(map[string][]string) // the samples of each group
	present := b.present(left, joined)
	var err error
	switch b.groupBy {
	case groupNone:
	case groupAuto:
		err = b.findGroups(ctx, left, joined, present)
	default:
		err = b.listedGroups(ctx, left, joined, present)
	}
	if err != nil || len(joined) == 0 {
		return err
	}
	var list []samples.Sample
	in := make(map[string]bool)
	for name, members := range joined {
		var of []samples.Sample
		for _, member := range members {
			i := slices.IndexFunc(b.list, func(s samples.Sample) bool { return s.Name == member })
			of = append(of, b.list[i])
			in[member] = true
		}
		list = append(list, samples.Join(name, of))
	}
	for _, s := range b.list {
		if !in[s.Name] {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b samples.Sample) int { return strings.Compare(a.Name, b.Name) })
	b.list = list
	return nil
}

// present looks at the archives in OUT, and returns their names. Groups whose samples are all here are taken from left to joined, and
// samples that have an archive are taken from left. With --force nothing counts.
func (b *batch) present(left map[string]*samples.Sample, joined map[string][]string) map[string]bool {
	names := make(map[string]bool)
	if b.force || !isDirectory(b.config.OutDir) {
		return names
	}
	found, err := commit.Find(b.config.OutDir)
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
			here = here && left[name] != nil && slices.Equal(restoredNames(left[name]), files[name])
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

// restoredNames returns the names that the inputs of a sample are restored under.
func restoredNames(s *samples.Sample) (names []string) {
	for _, in := range s.Inputs {
		names = append(names, binning.RestoredName(in.Path))
	}
	return names
}

// findGroups puts samples together that are similar. A sample that can't be read is left alone: archiving it says why.
func (b *batch) findGroups(ctx context.Context, left map[string]*samples.Sample, joined map[string][]string,
	present map[string]bool) error {
	names := slices.Sorted(maps.Keys(left))
	list, err := b.sketches(ctx, names, left)
	if err != nil {
		return err
	}
	for _, part := range groups.Archives(list, b.threads) {
		if len(part) < 2 {
			continue
		}
		var members []string
		for _, i := range part {
			members = append(members, names[i])
		}
		name := b.groupName(members[0], joined, present)
		joined[name] = members
	}
	return nil
}

// sketches returns sketches of samples. Those of samples that can't be read are empty.
func (b *batch) sketches(ctx context.Context, names []string, left map[string]*samples.Sample) ([]groups.Sample, error) {
	list := make([]groups.Sample, len(names))
	var total uint64
	sizes := make([]uint64, len(names))
	for i, name := range names {
		sizes[i] = storedSize(left[name].Inputs)
		total += sizes[i]
	}
	var done atomic.Uint64
	tasks.Each(len(names), b.threads, func(_, i int) {
		s := left[names[i]]
		list[i] = groups.Sample{Sketch: new(groups.Sketch), Files: restoredNames(s)}
		if ctx.Err() == nil && b.checkPaths(s) == nil {
			if k, err := groups.SketchInputs(ctx, s.Inputs, 1); err == nil {
				list[i].Sketch = k
			}
		}
		b.bar.report(comparingSamples, done.Add(sizes[i]), total)
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.bar.finish(comparingSamples)
	return list, nil
}

// groupName returns a name for a group that no archive has: that of its first sample with "_group", and a number if need be.
func (b *batch) groupName(first string, joined map[string][]string, present map[string]bool) string {
	base := binning.CutName(first + "_group")
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s%d", base, n)
		}
		taken := slices.ContainsFunc(b.list, func(s samples.Sample) bool { return s.Name == name })
		if joined[name] == nil && !present[name] && !taken {
			return name
		}
	}
}

// listedGroups puts samples together as the table of --group says, and prints a note for each that will take long to be restored.
func (b *batch) listedGroups(ctx context.Context, left map[string]*samples.Sample, joined map[string][]string,
	present map[string]bool) error {
	listed := make(map[string][]string)
	for _, sample := range slices.Sorted(maps.Keys(b.groups)) {
		group := b.groups[sample]
		if !slices.ContainsFunc(b.list, func(s samples.Sample) bool { return s.Name == sample }) {
			return fmt.Errorf("%s: there is no sample %s", b.groupBy, sample)
		}
		if slices.ContainsFunc(b.list, func(s samples.Sample) bool { return s.Name == group && b.groups[s.Name] != group }) {
			return fmt.Errorf("%s: the group %s has the name of a sample that is not in it", b.groupBy, group)
		}
		if group == "" || left[sample] == nil {
			continue
		}
		if present[group] {
			return fmt.Errorf("%s: group %s is archived already, without %s", b.groupBy, group, sample)
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
			for _, file := range restoredNames(left[member]) {
				if other, ok := of[file]; ok {
					return fmt.Errorf("%s: group %s: %s and %s both have a file that is restored as %s: put them in two groups", b.groupBy, group,
						other, member, file)
				}
				of[file] = member
			}
		}
	}
	return b.noteSlow(ctx, left, listed)
}

// slowSample is how many times longer than from an archive of its own restoring a sample of a group takes, at least, for a note about it.
const slowSample = 1.3

// noteSlow prints a note for each sample of the listed groups that is expected to take longer to be restored than --group auto allows. With
// --dry-run there is none, since the samples are not read.
func (b *batch) noteSlow(ctx context.Context, left map[string]*samples.Sample, listed map[string][]string) error {
	if b.bar == nil {
		return nil
	}
	var names []string
	for _, group := range slices.Sorted(maps.Keys(listed)) {
		names = append(names, listed[group]...)
	}
	list, err := b.sketches(ctx, names, left)
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
				b.bar.note(fmt.Sprintf("%s: restoring it alone takes about %.1f times as long in group %s, with larger samples",
					listed[group][k], times, group))
			}
		}
	}
	return nil
}
