package sidefiles

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"orcomgo/compress/tables"
	"orcomgo/internal/tasks"
)

// Small tables whose columns are alike, as the same program writes them for each sample, are coded together: a table of a few kB costs
// more for what its models have to learn, and as much time for choosing these, as one of 100 kB.

const (
	leastAlike = 4        // files that are coded together, at least
	alikeTrial = 64 << 10 // bytes of such files that say whether tables are smaller than text
	// alikeBlock is how many bytes of such files, about, are in a block, all of which is decoded for one of them.
	alikeBlock = 2 << 20
	// maxAlikeKept is how many bytes of such files are kept in memory at most until all files were seen; in little memory it is one in
	// alikeShare of that.
	maxAlikeKept = 8 << 20
	alikeShare   = 28
)

// alike are the small tables of one kind.
type alike struct {
	files []int    // numbers of entries
	texts [][]byte // of the first ones
	size  int      // of texts
}

// alikes are the small tables of a set of files, by their kind. It is not safe for concurrent use.
type alikes struct {
	kinds map[string]*alike
	size  int // of all texts
	most  int // that size may be
}

// newAlikes returns alikes without files, for so much memory.
func newAlikes(memory uint64) alikes {
	return alikes{kinds: make(map[string]*alike), most: bounded(maxAlikeKept, memory, alikeShare)}
}

// bounded returns most, or one in share of memory if that is less.
func bounded(most int, memory, share uint64) int { return int(min(uint64(most), memory/share)) }

// alikeKind returns the kind of a small table, or false if a file with that sample is none.
func alikeKind(name string, sample []byte) (kind string, ok bool) {
	if len(sample) < minAlone || len(sample) >= maxTrial || !isText(sample) {
		return "", false
	}
	columns, ok := tables.Kind(sample)
	return kindOf(name) + "\x00" + columns, ok
}

// add adds file i, unless it is no small table, or it has to be classified by itself.
func (a *alikes) add(i int, name string, sample []byte) bool {
	kind, ok := alikeKind(name, sample)
	if !ok {
		return false
	}
	k, room := a.kinds[kind], a.size+len(sample) <= a.most
	if !room && (k == nil || len(k.texts) < leastAlike) {
		return false
	}
	if k == nil {
		k = &alike{}
		a.kinds[kind] = k
	}
	k.files = append(k.files, i)
	if len(k.texts) < leastAlike || k.size+len(sample) <= alikeTrial && room {
		k.texts = append(k.texts, sample)
		k.size += len(sample)
		a.size += len(sample)
	}
	return true
}

// classify sets the classes of all files that were added. Those of kinds of which there are few are classified one by one.
func (a *alikes) classify(entries []entry, threads int, alone func(i int, sample []byte)) {
	var jobs []func()
	for kind, k := range a.kinds {
		if len(k.files) >= leastAlike {
			jobs = append(jobs, func() { k.classify(entries, kind) })
			continue
		}
		for j, i := range k.files {
			jobs = append(jobs, func() { alone(i, k.texts[j]) })
		}
	}
	tasks.Each(len(jobs), threads, func(_, i int) { jobs[i]() })
}

// classify sets the classes of the files: tables, if these are so much smaller that they are not coded with other text.
func (k *alike) classify(entries []entry, kind string) {
	c := classText
	if isSmaller(slices.Concat(k.texts...), classTable) {
		c = classTable
	}
	for _, i := range k.files {
		if entries[i].class = c; c == classTable {
			entries[i].alike = kind
		}
	}
}

// compareEntries is the order of the files in a stream.
func compareEntries(a, b entry) int {
	return cmp.Or(cmp.Compare(a.class, b.class), strings.Compare(a.alike, b.alike), strings.Compare(kindOf(a.name), kindOf(b.name)),
		strings.Compare(path.Base(a.name), path.Base(b.name)), strings.Compare(a.name, b.name))
}
