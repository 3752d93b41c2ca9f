package compress

import (
	"path/filepath"
	"testing"

	"orcomgo/bins"
	"orcomgo/compress/archive"
	"orcomgo/internal/testrun"
)

const format3Dir = "../testdata/format3"

// TestFormat3: archives of the former versions, bins of version 1 and packed archives of version 3, give back their texts. Packing
// the bins makes packed archives of version 3, which give them back as well. (Their bytes are others, as reads are laid out otherwise now.)
func TestFormat3(t *testing.T) {
	testrun.NoRace(t)
	n := 0
	for i := range goldens {
		g := &goldens[i]
		files := folder(t, filepath.Join(format3Dir, g.name))
		if files == nil {
			continue
		}
		n++
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			want := texts(g.load(t))
			sameFiles(t, decodeStage(t, files, ".bdna", ".bmeta"), want)
			sameFiles(t, decodeStage(t, files, ".cdna", ".cmeta"), want)
			dir := t.TempDir()
			for _, ext := range []string{".bdna", ".bmeta"} {
				name := onlyFile(t, files, ext)
				writeFile(t, filepath.Join(dir, name), files[name])
			}
			r, err := bins.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if v := r.Meta().Version; v != 1 {
				t.Errorf("bins of version %d", v)
			}
			r.Close()
			p := g.pack
			p.Threads, p.Tool, p.KeepBins = 2, "golden", true
			packTo(t, dir, p)
			a, err := archive.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if v := a.Manifest().FormatVersion(); v != 3 {
				t.Errorf("packed archive of version %d", v)
			}
			a.Close()
			sameFiles(t, decodeStage(t, filesIn(t, dir), ".cdna", ".cmeta"), want)
		})
	}
	if n < 20 {
		t.Errorf("only %d archives", n)
	}
}

// onlyFile returns the name of the file with an extension.
func onlyFile(t *testing.T, files map[string]string, ext string) (found string) {
	t.Helper()
	for name := range files {
		if filepath.Ext(name) == ext {
			found = name
		}
	}
	if found == "" {
		t.Fatalf("no %s file", ext)
	}
	return found
}

// TestFormat4: archives of version 4 with what is of a newer version now, long reads and mates, give back their texts.
func TestFormat4(t *testing.T) {
	for _, name := range []string{"long-reads", "pair"} {
		files := folder(t, filepath.Join("../testdata/format4", name))
		if v := files[onlyFile(t, files, ".cmeta")][8]; v != 4 {
			t.Errorf("%s: packed archive of version %d", name, v)
		}
		for i := range goldens {
			if g := &goldens[i]; g.name == name {
				sameFiles(t, decodeStage(t, files, ".cdna", ".cmeta"), texts(g.load(t)))
			}
		}
	}
}
