//go:build unix

package main

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// killed starts orcomgo and kills it after a random share of the time it takes, or lets
// it end if that is sooner.
func killed(t *testing.T, r *rand.Rand, takes time.Duration, args ...string) (finished bool) {
	return killedAs(t, "orcomgo", r, takes, args...)
}

// killedAs is killed for one of the programs.
func killedAs(t *testing.T, program string, r *rand.Rand, takes time.Duration, args ...string) (finished bool) {
	cmd, out := childAs(t, program, args...)
	timer := time.AfterFunc(time.Duration(r.Float64()*1.1*float64(takes)), func() { cmd.Process.Kill() })
	err := cmd.Wait()
	timer.Stop()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.Exited()) {
		t.Fatalf("orcomgo %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return err == nil
}

// A bin that is killed leaves no archive, or all of it, and the same command succeeds
// afterwards and leaves nothing else behind.
func TestKillBin(t *testing.T) {
	dir := t.TempDir()
	r1, r2 := simulated(t, dir, 3_000)
	command := func(out string) []string {
		return []string{"bin", "--quiet", "--block-size", "100KB", "-1", r1, "-2", r2, out}
	}
	whole := filepath.Join(dir, "whole")
	takes := timed(t, command(whole)...)
	want := contents(t, whole)
	others := map[string][]byte{"human.cdna": []byte(">x"), "r1.bdna.tmp": []byte("t"), ".orcomgo-0.tmp": []byte("o")}
	for name, b := range others {
		want[name] = b
	}

	r := rand.New(rand.NewPCG(1, 2))
	cut, done := 0, 0
	for i := 0; i < kills() || cut == 0 && i < 500; i++ {
		out := filepath.Join(dir, "out")
		if err := os.Mkdir(out, 0o777); err != nil {
			t.Fatal(err)
		}
		put(t, out, others)
		killed(t, r, takes, command(out)...)
		status, errs := runHere("verify", "--quiet", out)
		again := command(out)
		switch {
		case status == 0:
			done++
			again = append(again, "--force")
		case strings.Contains(errs, "not an archive") || strings.Contains(errs, "no such file"):
			cut++
		default:
			t.Fatalf("kill %d left something else: %s", i, errs)
		}
		mustRun(t, again...)
		same(t, contents(t, out), want)
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
	}
	someCut(t, cut, done)
}

// someCut says how many runs were killed, and how many were over before; the former must be some.
func someCut(t *testing.T, cut, done int) {
	t.Helper()
	t.Logf("%d runs were cut short, %d were over", cut, done)
	if cut == 0 {
		t.Error("no kill came in time to matter")
	}
}

// A pack that is killed leaves the bins, or a whole packed archive, or both, and the
// same command succeeds afterwards.
func TestKillPack(t *testing.T) {
	dir := t.TempDir()
	r1, r2 := simulated(t, dir, 800)
	binned := filepath.Join(dir, "binned")
	mustRun(t, "bin", "--quiet", "-1", r1, "-2", r2, binned)
	command := func(out string) []string { return []string{"pack", "--quiet", out} }
	fresh := func(out string) {
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(out, os.DirFS(binned)); err != nil {
			t.Fatal(err)
		}
	}
	whole := filepath.Join(dir, "whole")
	fresh(whole)
	takes := timed(t, command(whole)...)
	want := contents(t, whole)

	r := rand.New(rand.NewPCG(3, 4))
	cut, done := 0, 0
	for i := 0; i < kills() || cut == 0 && i < 500; i++ {
		out := filepath.Join(dir, "out")
		fresh(out)
		killed(t, r, takes, command(out)...)
		if status, errs := runHere("verify", "--quiet", out); status != 0 {
			t.Fatalf("kill %d left no archive: %s", i, errs)
		}
		if _, err := os.Stat(filepath.Join(out, "r1.cmeta")); err == nil {
			done++
		} else {
			cut++
		}
		mustRun(t, command(out)...)
		same(t, contents(t, out), want)
	}
	someCut(t, cut, done)
}

// An archive that is killed leaves nothing, or a whole packed archive, never bins, and the same command succeeds afterwards. The
// bins are in memory, or in a file.
func TestKillArchive(t *testing.T) {
	dir := t.TempDir()
	r1, r2 := simulated(t, dir, 800)
	command := func(out string) []string { return []string{"archive", "--quiet", "-1", r1, "-2", r2, out} }
	whole := filepath.Join(dir, "whole")
	takes := timed(t, command(whole)...)
	want := contents(t, whole)

	r := rand.New(rand.NewPCG(7, 8))
	cut, done := 0, 0
	for i := 0; i < kills()/2 || cut == 0 && i < 500; i++ {
		out := filepath.Join(dir, "out")
		killedAs(t, []string{"orcomgo", noneHeldCommand}[i%2], r, takes, command(out)...)
		left, err := os.ReadDir(out)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		again := command(out)
		if len(left) > 0 {
			done++
			if status, errs := runHere("verify", "--quiet", out); status != 0 {
				// The .cdna file is an archive before there is a .cmeta file.
				if _, err := os.Stat(filepath.Join(out, "r1.cmeta")); err == nil {
					t.Fatalf("kill %d left no archive: %s", i, errs)
				}
				mustRun(t, "unpack", "--quiet", out, "-o", t.TempDir())
			}
			again = append(again, "--force")
		} else {
			cut++
		}
		mustRun(t, again...)
		same(t, contents(t, out), want)
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
	}
	someCut(t, cut, done)
}

// An unpack that is killed leaves whole files or none, and the same command succeeds afterwards.
func TestKillUnpack(t *testing.T) {
	dir := t.TempDir()
	r1, r2 := simulated(t, dir, 3_000)
	archive := filepath.Join(dir, "archive")
	mustRun(t, "bin", "--quiet", "--block-size", "100KB", "-1", r1, "-2", r2, archive)
	command := func(out string) []string { return []string{"unpack", "--quiet", archive, "-o", out} }
	whole := filepath.Join(dir, "whole")
	takes := timed(t, command(whole)...)
	want := contents(t, whole)
	before := contents(t, archive)

	r := rand.New(rand.NewPCG(5, 6))
	cut, done := 0, 0
	for i := 0; i < kills() || cut == 0 && i < 500; i++ {
		out := filepath.Join(dir, "out")
		killed(t, r, takes, command(out)...)
		left := map[string][]byte{}
		if _, err := os.Stat(out); err == nil {
			left = contents(t, out)
		}
		for name, b := range left {
			if strings.HasPrefix(name, ".orcomgo-") { // where a file can't be without a name
				continue
			}
			if !bytes.Equal(b, want[name]) {
				t.Fatalf("kill %d left a part of %s", i, name)
			}
		}
		again := command(out)
		if len(left) > 0 {
			again = append(again, "--force")
		}
		if len(left) == len(want) {
			done++
		} else {
			cut++
		}
		mustRun(t, again...)
		same(t, contents(t, out), want)
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
	}
	same(t, contents(t, archive), before)
	someCut(t, cut, done)
}

// timed runs orcomgo in a process of its own and returns how long it took.
func timed(t *testing.T, args ...string) time.Duration {
	t.Helper()
	began := time.Now()
	cmd, out := child(t, args...)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("orcomgo %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return time.Since(began)
}
