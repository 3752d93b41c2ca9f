package batches

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orcomgo/binning"
	"orcomgo/binning/samples"
)

// sampleFiles writes samples of a file each, and returns them.
func sampleFiles(t *testing.T, names ...string) (list []samples.Sample) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(t.TempDir(), name+".fasta")
		if err := os.WriteFile(path, []byte(">a\n"+strings.Repeat("ACGTTGCA", 50)+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		list = append(list, samples.Sample{Name: name, Inputs: []binning.InputSpec{{Path: path, Mate: -1}}})
	}
	return list
}

// TestListedGroups: samples are put together as a table says, under the names of the groups.
func TestListedGroups(t *testing.T) {
	for _, c := range []struct {
		table map[string]string
		want  string // names of archives, or a part of the error
	}{
		{map[string]string{}, "a b c"},
		{map[string]string{"a": "ab", "b": "ab"}, "ab c"},
		{map[string]string{"a": "c", "b": "c", "c": "c"}, "c"},
		{map[string]string{"a": "c", "b": "c"}, "has the name of a sample that is not in it"},
		{map[string]string{"d": "x"}, "there is no sample d"},
		{map[string]string{"a": "", "b": ""}, "a b c"},
	} {
		g := Grouping{By: "table.csv", Table: c.table, OutDir: t.TempDir(), Threads: 1, Samples: sampleFiles(t, "a", "b", "c")}
		err := g.Group(context.Background())
		var names []string
		for _, s := range g.Samples {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, " "); err == nil && got != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %s, %v", c.table, got, err)
		}
	}
}

// TestGroupNone: nothing is put together, and nothing is read.
func TestGroupNone(t *testing.T) {
	g := Grouping{By: GroupNone, OutDir: t.TempDir(), Threads: 1, Samples: []samples.Sample{{Name: "b"}, {Name: "a"}}}
	before := slices.Clone(g.Samples)
	if err := g.Group(context.Background()); err != nil || g.Samples[0].Name != before[0].Name || len(g.Samples) != 2 {
		t.Errorf("%v, %v", g.Samples, err)
	}
}

// TestCheckPaths: samples of a sheet are files.
func TestCheckPaths(t *testing.T) {
	for path, ok := range map[string]bool{"x.fastq": true, "-": false, "https://x/y.fastq": false, "a:b": true} {
		s := &samples.Sample{Inputs: []binning.InputSpec{{Path: path, Mate: -1}}}
		if err := CheckPaths(s); (err == nil) != ok {
			t.Errorf("%s: %v", path, err)
		}
	}
}
