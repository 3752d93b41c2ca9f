//go:build unix && !cuda

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orcomgo/binning"
)

// beside puts the test binary as orcomgo and a script as orcomgo-cuda into a directory,
// and returns the path of the first.
func beside(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	program := filepath.Join(dir, "orcomgo")
	to, err := os.OpenFile(program, os.O_CREATE|os.O_WRONLY, 0o777)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	if script != "" {
		if err := os.WriteFile(filepath.Join(dir, cudaProgram), []byte("#!/bin/sh\n"+script), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return program
}

// sameSource is how a script answers as orcomgo-cuda of the same source does.
const sameSource = `[ "$1" = version ] && { "${0%-cuda}" "$@" | sed 's/"cuda": false/"cuda": true/'; exit; }; `

func TestOtherProgram(t *testing.T) {
	for _, c := range []struct {
		name, script string
		status       int
		output       string
	}{
		{"no program beside it", "", 1, "orcomgo: --device gpu: this build has no GPU support, and there is no orcomgo-cuda beside it\n"},
		{"no GPU", "echo libcuda.so.1: cannot open shared object file; exit 127", 1,
			"orcomgo: --device gpu: no usable GPU: libcuda.so.1: cannot open shared object file\n"},
		{"another version", `[ "$1" = version ] && { "${0%-cuda}" "$@"; exit; }`, 1,
			"orcomgo: --device gpu: PROGRAM-cuda is not of the same source (its commit is unknown, expected unknown)\n"},
		{"a GPU", sameSource + `shift 3; echo "became $0 with $*"; exit 5`, 5,
			"became PROGRAM-cuda with " + input + " OUT\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			program, out := beside(t, c.script), filepath.Join(t.TempDir(), "out")
			got, err := exec.Command(program, "bin", "--device", "gpu", input, out).CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != c.status {
				t.Errorf("%v, want exit status %d", err, c.status)
			}
			want := strings.NewReplacer("PROGRAM", program, "OUT", out).Replace(c.output)
			if string(got) != want {
				t.Errorf("%q, want %q", got, want)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("something was written")
			}
		})
	}
}

// TestPackByOtherProgram: pack --device gpu becomes orcomgo-cuda, and auto does so for enough bases for the threads.
func TestPackByOtherProgram(t *testing.T) {
	program, out := beside(t, sameSource+`echo "became $*"; exit 5`), filepath.Join(t.TempDir(), "out")
	if got, err := exec.Command(program, "bin", "--quiet", "--device", "cpu", input, out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	got, err := exec.Command(program, "pack", "--device", "gpu", out).CombinedOutput()
	if want := "became pack --device gpu " + out + "\n"; err == nil || string(got) != want {
		t.Errorf("%v: %q, want %q", err, got, want)
	}
	if bases := binnedBases(out); bases == 0 || bases >= minGPUBases {
		t.Errorf("the bins have %d bases", bases)
	}
	if binnedBases(filepath.Join(out, "missing")) != 0 {
		t.Error("bins that are not there have bases")
	}
	if got, err := exec.Command(program, "pack", "--quiet", out).CombinedOutput(); err != nil || len(got) != 0 {
		t.Errorf("small bins: %v: %s", err, got)
	}
}

// TestWhenGPUIsUsed: auto asks for a GPU only for large inputs, and goes on without; gpu fails without.
func TestWhenGPUIsUsed(t *testing.T) {
	defer func(g *gpuBuild) { gpu = g }(gpu)
	missing := errors.New("no GPU")
	for _, c := range []struct {
		device string
		large  bool
		probe  error
		use    bool
		fails  bool
	}{
		{"cpu", true, nil, false, false}, {"auto", false, nil, false, false}, {"auto", true, nil, true, false},
		{"auto", true, missing, false, false}, {"gpu", false, nil, true, false}, {"gpu", false, missing, false, true},
	} {
		gpu = &gpuBuild{probe: func() (string, error) { return "", c.probe }}
		use, err := useGPU(t.Context(), c.device, func() bool { return c.large })
		if use != c.use || (err != nil) != c.fails {
			t.Errorf("%+v: %t, %v", c, use, err)
		}
		want, err := wantGPU(t.Context(), c.device, func() bool { return c.large })
		o := (&packFlags{device: c.device}).options(want, nil)
		use = o.GPU && c.probe == nil // else there is none when Pack looks for one
		if o.Ready != nil {
			err = o.Ready()
		}
		if use != c.use || (err != nil) != c.fails {
			t.Errorf("%+v, while reads are loaded: %t, %v", c, use, err)
		}
	}
}

// TestRequiredGPUIsMissing: work goes on until it turns out that there is no GPU, which is the error then.
func TestRequiredGPUIsMissing(t *testing.T) {
	defer func(g *gpuBuild) { gpu = g }(gpu)
	missing, work := errors.New("no GPU"), errors.New("work ended")
	gpu = &gpuBuild{probe: func() (string, error) { return "", missing }}
	ctx, done := requireGPU(t.Context())
	<-ctx.Done()
	if err := done(work); !errors.Is(err, missing) {
		t.Errorf("without a GPU the error is %v", err)
	}
	var out bytes.Buffer
	if _, err := (checkedWriter{&out, done}).Write([]byte("text")); !errors.Is(err, missing) || out.Len() > 0 {
		t.Errorf("without a GPU %q is written, error %v", &out, err)
	}
	gpu = &gpuBuild{probe: func() (string, error) { return "", nil }}
	ctx, done = requireGPU(t.Context())
	if err := done(work); err != work || ctx.Err() != nil {
		t.Errorf("with a GPU the error is %v, that of the context %v", err, ctx.Err())
	}
	if _, err := (checkedWriter{&out, done}).Write([]byte("text")); err != nil || out.String() != "text" {
		t.Errorf("with a GPU %q is written, error %v", &out, err)
	}
	started, released := make(chan struct{}), make(chan struct{})
	defer close(released)
	gpu = &gpuBuild{probe: func() (string, error) { close(started); <-released; return "", nil }} // a driver that hangs
	parent, stop := context.WithCancel(t.Context())
	_, done = requireGPU(parent)
	<-started
	stop()
	if err := done(work); err != work {
		t.Errorf("after an interrupt the error is %v", err)
	}
}

func TestAutoStaysOnTheCPUForSmallInputs(t *testing.T) {
	program, out := beside(t, "echo asked >&2; exit 5"), filepath.Join(t.TempDir(), "out")
	if got, err := exec.Command(program, "bin", "--quiet", input, out).CombinedOutput(); err != nil || len(got) != 0 {
		t.Errorf("%v: %s", err, got)
	}
}

func TestWorthwhile(t *testing.T) {
	dir := t.TempDir()
	half := func(name, begin string) binning.InputSpec {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(begin), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, minGPUBytes*4/2); err != nil {
			t.Fatal(err)
		}
		return binning.InputSpec{Path: path}
	}
	in := []binning.InputSpec{half("reads", "@r"), {Path: "-"}, {Path: "missing"}, {Path: dir}, half("fasta", ">r"), half("gzip", "\x1f\x8b")}
	if largeEnoughForGPU(in, 4) {
		t.Error("half the size of FASTQ is worth a GPU")
	}
	if !largeEnoughForGPU(append(in, in[0]), 4) {
		t.Error("twice half the size is not worth a GPU")
	}
	if largeEnoughForGPU(append(in, in[0]), 5) {
		t.Error("with more threads it still is")
	}
	bgzf := half("bgzf", "\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\xff\x06\x00BC\x02\x00\x1b\x00\x03\x00"+strings.Repeat("\x00", 8))
	if !largeEnoughForGPU([]binning.InputSpec{bgzf}, 2*bgzfWeight) || largeEnoughForGPU([]binning.InputSpec{bgzf}, 2*bgzfWeight+1) {
		t.Error("BGZF does not count as much as it should")
	}
	for _, in := range append(in, bgzf) {
		if _, is := gpuBytes(in.Path); is != (in == bgzf) {
			t.Errorf("%s is BGZF: %t", in.Path, is)
		}
	}
}
