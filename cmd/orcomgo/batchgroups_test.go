package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestListedGroupNote: of the samples that a table puts together, one that is much smaller than the others is told, by plan as well.
func TestListedGroupNote(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "run")
	if err := os.Mkdir(run, 0o777); err != nil {
		t.Fatal(err)
	}
	strains(t, run, 2, 200_000)
	text, err := os.ReadFile(filepath.Join(run, "strain0.fasta"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, run, map[string][]byte{"small.fasta": append(bytes.Clone(text[:40_000]), '\n')})
	put(t, dir, map[string][]byte{"groups.csv": []byte("sample,group\nsmall,all\nstrain0,all\nstrain1,all\n"),
		"pair.csv": []byte("sample,group\nstrain0,pair\nstrain1,pair\n")})
	const note = "small: restoring it alone takes about "
	for _, c := range []struct {
		args []string
		want bool
	}{
		{[]string{"plan", "--group", filepath.Join(dir, "groups.csv"), run}, true},
		{[]string{"archive", "--group", filepath.Join(dir, "groups.csv"), run, filepath.Join(dir, "all")}, true},
		{[]string{"archive", "--group", filepath.Join(dir, "pair.csv"), run, filepath.Join(dir, "pair")}, false},
	} {
		cmd, out := child(t, c.args...)
		if err := cmd.Wait(); err != nil || strings.Contains(out.String(), note) != c.want ||
			strings.Contains(out.String(), "strain0: restoring") {
			t.Errorf("%v: %v, %s", c.args, err, out)
		}
	}
}
