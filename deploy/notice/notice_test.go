package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNotice: NOTICE names every module that is linked, with its version and the text of its licence.
func TestNotice(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Version}}{{end}}", "orcomgo/cmd/orcomgo")
	out, err := list.Output()
	if err != nil {
		t.Skipf("go list: %v", err)
	}
	text, err := os.ReadFile("../NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	modules := 0
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if line == "" || line == "orcomgo" {
			continue
		}
		modules++
		path, _, _ := strings.Cut(line, " ")
		if !bytes.Contains(text, []byte("\n"+line+"\n")) {
			t.Errorf("deploy/NOTICE lacks %s: make notice", line)
		}
		if !regexp.MustCompile(`(?m)^-*=*\n.*\b` + regexp.QuoteMeta(path) + `\b.*: \S+$`).Match(text) {
			t.Errorf("deploy/NOTICE has no licence of %s: make notice", path)
		}
	}
	if modules < 10 {
		t.Fatalf("%d modules", modules)
	}
	var made bytes.Buffer
	if err := writeNotice(&made); err != nil {
		t.Skipf("the modules of other platforms are not all here: %v", err)
	}
	if !bytes.Equal(made.Bytes(), text) {
		t.Error("make notice makes another deploy/NOTICE")
	}
}

// TestSBOM: the bill of materials of a program has every module that the linker noted.
func TestSBOM(t *testing.T) {
	self := filepath.Join(t.TempDir(), "simreads")
	if out, err := exec.Command("go", "build", "-o", self, "orcomgo/cmd/simreads").CombinedOutput(); err != nil {
		t.Skipf("go build: %v: %s", err, out)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	var b bytes.Buffer
	if err := writeSBOM(&b, self); err != nil {
		t.Fatal(err)
	}
	var d struct {
		Version  string                   `json:"spdxVersion"`
		Creation struct{ Created string } `json:"creationInfo"`
		Packages []struct {
			ID string `json:"SPDXID"`
		}
		Relationships []any
	}
	if err := json.Unmarshal(b.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if d.Version != "SPDX-2.3" || d.Creation.Created != "2023-11-14T22:13:20Z" || len(d.Packages) != len(d.Relationships) {
		t.Errorf("%+v", d)
	}
	info, err := buildinfo.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 + len(info.Deps); len(d.Packages) != want || len(info.Deps) == 0 {
		t.Errorf("%d packages, want %d", len(d.Packages), want)
	}
	for _, m := range info.Deps {
		if !strings.Contains(b.String(), `"pkg:golang/`+m.Path+"@"+m.Version+`"`) {
			t.Errorf("%s is missing", m.Path)
		}
	}
	ids := map[string]bool{}
	for _, p := range d.Packages {
		if ids[p.ID] || !regexp.MustCompile(`^SPDXRef-[A-Za-z0-9.-]+$`).MatchString(p.ID) {
			t.Errorf("ID %q", p.ID)
		}
		ids[p.ID] = true
	}
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	if writeSBOM(&b, self) == nil {
		t.Error("a time that is none")
	}
}
