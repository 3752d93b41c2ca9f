package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"orcomgo/bins/commit"
)

// A scenario is a command in a directory, run with something going wrong. The directory
// holds, beside what the command works on, files of others that nobody may touch.
type scenario struct {
	name string
	args []string
	// prepare fills an empty directory with what is there before.
	prepare func(t *testing.T, w *world, dir string)
	// check looks at what is there afterwards.
	check func(t *testing.T, w *world, dir string, status int) error
}

func scenarios() []scenario {
	inputs := func(t *testing.T, w *world, dir string) { put(t, dir, w.texts()) }
	with := func(files func(w *world) map[string][]byte) func(t *testing.T, w *world, dir string) {
		return func(t *testing.T, w *world, dir string) {
			inputs(t, w, dir)
			put(t, dir, files(w))
		}
	}
	inputsStay := func(t *testing.T, w *world, dir string) error {
		now := contents(t, dir)
		for name, b := range w.texts() {
			if !bytes.Equal(now[name], b) {
				return fmt.Errorf("the input %s changed", name)
			}
		}
		return nil
	}
	bin := []string{"bin", "--quiet", "--block-size", "4KB", "run.fastq", "b.fastq", "."}
	pack := []string{"pack", "--quiet", "run"}
	// oldOrNew reports an error if an input changed, or the archive is neither the old one (none, if old is nil) nor the new one.
	oldOrNew := func(t *testing.T, w *world, dir string, status int, old func(w *world) map[string][]byte) error {
		if err := inputsStay(t, w, dir); err != nil {
			return err
		}
		got, err := restored(t, dir)
		switch {
		case err != nil:
			return err
		case equal(got, w.texts()):
		case status == 0:
			return fmt.Errorf("status 0, and the archive is not there")
		case got == nil && old == nil:
		case got == nil || old == nil || !equal(got, old(w)):
			return fmt.Errorf("the archive is neither the old one nor the new one")
		}
		return nil
	}
	checkBin := func(old func(w *world) map[string][]byte) func(t *testing.T, w *world, dir string, status int) error {
		return func(t *testing.T, w *world, dir string, status int) error {
			if err := oldOrNew(t, w, dir, status, old); err != nil {
				return err
			}
			// The same command works afterwards.
			mustRun(t, "bin", "--quiet", "--force", "--block-size", "4KB", filepath.Join(dir, "run.fastq"), filepath.Join(dir, "b.fastq"), dir)
			if got, err := restored(t, dir); err != nil || !equal(got, w.texts()) {
				return fmt.Errorf("after the same command again: other texts (%v)", err)
			}
			return nil
		}
	}
	checkPack := func(t *testing.T, w *world, dir string, status int) error {
		got, err := restored(t, dir)
		if err != nil || !equal(got, w.texts()) {
			return fmt.Errorf("the archive is lost: %v", err)
		}
		now := contents(t, dir)
		is := func(file string, files map[string][]byte) bool { return bytes.Equal(now[file], files[file]) }
		if status == 0 && (now["run.bmeta"] != nil || !is("run.cdna", w.packed) || !is("run.cmeta", w.packed)) {
			return fmt.Errorf("status 0, and it is not packed")
		}
		if now["run.cdna"] != nil && !is("run.cdna", w.packed) && !is("run.cdna", w.oldPacked) {
			return fmt.Errorf("run.cdna is neither the old one nor the new one")
		}
		mustRun(t, "pack", "--quiet", filepath.Join(dir, "run"))
		now = contents(t, dir)
		for name, b := range w.packed {
			if !bytes.Equal(now[name], b) {
				return fmt.Errorf("after the same command again: %s differs", name)
			}
		}
		return nil
	}
	checkPackOver := func(t *testing.T, w *world, dir string, status int) error {
		if status != 0 { // then --force is needed again, if the old one is still there
			got, err := restored(t, dir)
			if err != nil || !equal(got, w.texts()) {
				return fmt.Errorf("the archive is lost: %v", err)
			}
			if e, err := commit.One(filepath.Join(dir, "run")); err == nil && e.Has[commit.Bins] {
				mustRun(t, "pack", "--quiet", "--force", filepath.Join(dir, "run"))
			}
		}
		return checkPack(t, w, dir, status)
	}
	checkUnpack := func(before map[string]string) func(t *testing.T, w *world, dir string, status int) error {
		return func(t *testing.T, w *world, dir string, status int) error {
			now := map[string][]byte{}
			if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
				now = contents(t, filepath.Join(dir, "out"))
				if len(now) == 0 && before == nil && status <= exitFailure { // else the Go runtime gave up
					return fmt.Errorf("an empty directory is left")
				}
			}
			for name, b := range w.texts() {
				is, there := now[name]
				was, wasThere := before[name]
				switch {
				case there && bytes.Equal(is, b):
				case status == 0:
					return fmt.Errorf("status 0, and %s is not right", name)
				case there != wasThere || there && string(is) != was:
					return fmt.Errorf("%s is neither what was there nor what should be", name)
				}
			}
			after := contentsOfFiles(t, dir)
			for name, b := range w.packed {
				if !bytes.Equal(after[name], b) {
					return fmt.Errorf("unpack changed the archive: %s", name)
				}
			}
			return nil
		}
	}
	// Nothing but the old archive or the new one may be there, the new one packed.
	checkArchive := func(old func(w *world) map[string][]byte) func(t *testing.T, w *world, dir string, status int) error {
		return func(t *testing.T, w *world, dir string, status int) error {
			if err := oldOrNew(t, w, dir, status, old); err != nil {
				return err
			}
			if status != 0 {
				mustRun(t, append([]string{"archive", "--quiet", "--force", "--block-size", "4KB"},
					filepath.Join(dir, "run.fastq"), filepath.Join(dir, "b.fastq"), dir)...)
			}
			now := contents(t, dir)
			for name, b := range w.packed {
				if !bytes.Equal(now[name], b) {
					return fmt.Errorf("in the end %s differs (status %d)", name, status)
				}
			}
			if now["run.bdna"] != nil || now["run.bmeta"] != nil {
				return fmt.Errorf("bins are left (status %d)", status)
			}
			return nil
		}
	}
	// The older index or the new one is there, and the archive as it was.
	checkIndex := func(t *testing.T, w *world, dir string, status int) error {
		now := contents(t, dir)
		for name, b := range w.packed {
			if !bytes.Equal(now[name], b) {
				return fmt.Errorf("index changed the archive: %s", name)
			}
		}
		if x := now["run.cfm"]; !bytes.Equal(x, w.index) && (status == 0 || !bytes.Equal(x, w.oldIndex)) {
			return fmt.Errorf("the index has %d bytes (status %d)", len(x), status)
		}
		return nil
	}
	archive := []string{"archive", "--quiet", "--block-size", "4KB", "run.fastq", "b.fastq", "."}
	archiveOver := append(archive[:len(archive):len(archive)], "--force")
	oldPacked := func(w *world) map[string][]byte { return w.oldPacked }
	binned := func(w *world) map[string][]byte { return w.binned }
	packed := func(w *world) map[string][]byte { return w.packed }
	return []scenario{
		{"bin", bin, inputs, checkBin(nil)},
		{"bin over a packed archive", append(bin[:len(bin):len(bin)], "--force"),
			with(oldPacked), checkBin((*world).oldTexts)},
		{"bin over bins", append(bin[:len(bin):len(bin)], "--force"), with(binned), checkBin((*world).texts)},
		{"pack", pack, with(binned), checkPack},
		{"pack over another", append(pack[:len(pack):len(pack)], "--force"), with(func(w *world) map[string][]byte {
			files := maps.Clone(w.binned)
			maps.Copy(files, w.oldPacked)
			return files
		}), checkPackOver},
		{"pack, packed already", pack, with(func(w *world) map[string][]byte {
			files := maps.Clone(w.binned)
			maps.Copy(files, w.packed)
			return files
		}), checkPack},
		{"archive", archive, inputs, checkArchive(nil)},
		{"archive over a packed archive", archiveOver, with(oldPacked), checkArchive((*world).oldTexts)},
		{"archive over bins", archiveOver, with(binned), checkArchive((*world).texts)},
		{"unpack", []string{"unpack", "--quiet", "run", "-o", "out"}, with(packed), checkUnpack(nil)},
		{"unpack over a file", []string{"unpack", "--quiet", "--force", "run", "-o", "out"}, func(t *testing.T, w *world, dir string) {
			with(packed)(t, w, dir)
			if err := os.Mkdir(filepath.Join(dir, "out"), 0o777); err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(dir, "out"), map[string][]byte{"b.fastq": []byte("was here")})
		}, checkUnpack(map[string]string{"b.fastq": "was here"})},
		{"index over another", []string{"index", "--quiet", "run"}, with(func(w *world) map[string][]byte {
			files := maps.Clone(w.packed)
			files["run.cfm"] = w.oldIndex
			return files
		}), checkIndex},
		{"verify", []string{"verify", "run"}, with(packed), func(t *testing.T, w *world, dir string, status int) error {
			return nil // that nothing changes is checked for all
		}},
	}
}
