package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const deploy = "../../deploy/"

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// runTool runs a program that may not be installed: then the test is skipped.
func runTool(t *testing.T, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed", name)
	}
	c := exec.Command(name, args...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", c, err, out)
	}
	return string(out)
}

// TestGoreleaser: the configuration has no fields but those that goreleaser knows, builds what the program is built from otherwise, and
// the files that it packs are there.
func TestGoreleaser(t *testing.T) {
	var c struct {
		Version int
		Project string `yaml:"project_name"`
		Dist    string
		Before  struct{ Hooks []string }
		Builds  []struct {
			ID, Main, Binary    string
			Env, Flags, Ldflags []string
			Goos, Goarch        []string
			ModTimestamp        string `yaml:"mod_timestamp"`
		}
		Archives []struct {
			Formats      []string
			NameTemplate string `yaml:"name_template"`
			Wrap         bool   `yaml:"wrap_in_directory"`
			Files        []any
		}
		Checksum struct {
			NameTemplate string `yaml:"name_template"`
			Algorithm    string
		}
		SBOMs []struct {
			Artifacts string
			Documents []string
			Cmd       string
			Args, Env []string
		} `yaml:"sboms"`
		Changelog struct{ Disable bool }
	}
	readYAML(t, deploy+"goreleaser.yaml", &c)
	if len(c.Builds) != 1 || c.Builds[0].Main != "./cmd/orcomgo" || !slices.Contains(c.Builds[0].Env, "CGO_ENABLED=0") ||
		!strings.Contains(strings.Join(c.Builds[0].Ldflags, " "), "-X main.sourceCommit=") ||
		!slices.Equal(c.Builds[0].Goos, []string{"linux", "darwin"}) || !slices.Equal(c.Builds[0].Goarch, []string{"amd64", "arm64"}) {
		t.Errorf("builds %+v", c.Builds)
	}
	for _, f := range c.Archives[0].Files {
		path, ok := f.(string)
		if m, isMap := f.(map[string]any); isMap {
			path, ok = m["src"].(string)
		}
		if !ok || path == "bin/share/share" { // which make share makes
			continue
		}
		if _, err := os.Stat("../../" + path); err != nil {
			t.Error(err)
		}
	}
	if c.Checksum.Algorithm != "sha256" || len(c.SBOMs) != 1 || !slices.Contains(c.SBOMs[0].Args, "orcomgo/deploy/notice") {
		t.Errorf("checksum %+v, SBOMs %+v", c.Checksum, c.SBOMs)
	}
}

// instruction is a line of a Dockerfile.
var instruction = regexp.MustCompile(`(?m)^(ARG|FROM|WORKDIR|COPY|RUN|ENV|ENTRYPOINT|CMD)[ \t]+(.+)$`)

// TestDockerfiles: each line is an instruction, stages and arguments are defined before they are used, and what is copied is there.
func TestDockerfiles(t *testing.T) {
	for _, name := range []string{"Dockerfile", "Dockerfile.cuda"} {
		text := strings.ReplaceAll(readFile(t, deploy+"docker/"+name), "\\\n", " ")
		stages, args, froms := map[string]bool{}, map[string]bool{}, 0
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			m := instruction.FindStringSubmatch(line)
			if m == nil {
				t.Errorf("%s: no instruction: %s", name, line)
				continue
			}
			words := strings.Fields(m[2])
			switch m[1] {
			case "ARG":
				variable, _, _ := strings.Cut(words[0], "=")
				args[variable] = true
			case "FROM":
				froms++
				if image, ok := strings.CutPrefix(words[0], "${"); ok && !args[strings.TrimSuffix(image, "}")] {
					t.Errorf("%s: %s is not defined", name, words[0])
				}
				if len(words) == 3 && words[1] == "AS" {
					stages[words[2]] = true
				}
			case "COPY":
				if from, ok := strings.CutPrefix(words[0], "--from="); ok && !stages[from] {
					t.Errorf("%s: there is no stage %s", name, from)
				}
			case "ENTRYPOINT", "CMD":
				if !json.Valid([]byte(m[2])) {
					t.Errorf("%s: %s is no list: %s", name, m[1], m[2])
				}
			}
		}
		if froms < 2 || len(stages) == 0 {
			t.Errorf("%s has %d stages", name, froms)
		}
	}
}

// TestCondaRecipe renders the recipe, which must have the version of the program.
func TestCondaRecipe(t *testing.T) {
	if !strings.Contains(readFile(t, deploy+"conda/meta.yaml"), `{% set version = "`+version+`" %}`) {
		t.Errorf("the Conda recipe is not of version %s", version)
	}
	if exec.Command("python3", "-c", "import jinja2, yaml").Run() != nil {
		t.Skip("Python with Jinja and YAML is not installed")
	}
	if out := runTool(t, "python3", deploy+"check/conda_render.py", deploy+"conda/meta.yaml"); !strings.Contains(out, "orcomgo verify") {
		t.Errorf("tests of the recipe: %s", out)
	}
}

// TestApptainer: the definition has its sections, and what they run is shell.
func TestApptainer(t *testing.T) {
	text := readFile(t, deploy+"apptainer/orcomgo.def")
	head, rest, _ := strings.Cut(text, "\n%")
	if !strings.HasPrefix(head, "Bootstrap: ") || !strings.Contains(head, "\nFrom: ") {
		t.Errorf("the head of the definition: %s", head)
	}
	known := []string{"files", "post", "runscript", "test", "labels", "help"}
	for section := range strings.SplitSeq(rest, "\n%") {
		name, body, _ := strings.Cut(section, "\n")
		if !slices.Contains(known, name) {
			t.Errorf("no section %q", name)
		}
		if slices.Contains([]string{"post", "runscript", "test"}, name) {
			runTool(t, "sh", "-n", "-c", body)
		}
	}
}

// TestDeployScripts: scripts are those of a POSIX shell, and what shellcheck says of them is mended.
func TestDeployScripts(t *testing.T) {
	var scripts []string
	for _, pattern := range []string{"*.sh", "deb/*.sh", "check/*.sh", "conda/*.sh"} {
		found, _ := filepath.Glob(deploy + pattern)
		scripts = append(scripts, found...)
	}
	if len(scripts) < 8 {
		t.Fatalf("scripts %v", scripts)
	}
	for _, s := range scripts {
		if info, err := os.Stat(s); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("%s is not executable: %v", s, err)
		}
	}
	runTool(t, "shellcheck", scripts...)
}

// TestCosts: the page for facilities has the table that the script makes, whose sums are those of its formula.
func TestCosts(t *testing.T) {
	for _, name := range []string{"PRICE", "CPU_PRICE", "SHARE", "COPIES", "YEARS", "SCRUBS", "ARCHIVE_H", "VERIFY_H"} {
		t.Setenv(name, "")
	}
	page := readFile(t, "../../docs/FACILITIES.md")
	_, rest, _ := strings.Cut(page, "<!-- costs: begin -->\n")
	table, _, ok := strings.Cut(rest, "<!-- costs: end -->")
	if got := runTool(t, deploy+"costs.sh"); !ok || got != table {
		t.Errorf("the page has\n%s, the script makes\n%s", table, got)
	}
	t.Setenv("PRICE", "10")
	t.Setenv("COPIES", "3")
	t.Setenv("SHARE", "0.25")
	t.Setenv("YEARS", "1")
	t.Setenv("CPU_PRICE", "0.1")
	t.Setenv("SCRUBS", "2")
	// 0.25 TB in 3 copies at 10 for 12 months; 190 h and twice 70 h at 0.1
	if got := runTool(t, deploy+"costs.sh"); !strings.Contains(got, "| orcomgo, share 0.25 | 0.75 | 90.00 | 33.00 | 123.00 |") ||
		!strings.Contains(got, "saved: 237.00 ") {
		t.Errorf("%s", got)
	}
	t.Setenv("COPIES", "two")
	out, err := exec.Command(deploy + "costs.sh").CombinedOutput()
	if err == nil || string(out) != "costs.sh: COPIES is \"two\": expected a number, at least 1\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// TestDebianPackage builds the package of a program, the test itself in place of orcomgo, and looks at what it holds.
func TestDebianPackage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("dpkg is for Linux")
	}
	out := filepath.Join(t.TempDir(), "orcomgo.deb")
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("dpkg-deb is not installed")
	}
	// A script with the name of the program, which runs this test as orcomgo: a package of the test itself would be large.
	program := filepath.Join(t.TempDir(), "orcomgo")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexec "+playedBy(t, "orcomgo")+" \"$@\"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	runTool(t, deploy+"deb/build.sh", program, "amd64", out)
	control := runTool(t, "dpkg-deb", "--info", out)
	if !strings.Contains(control, "Version: "+version+"\n") || !strings.Contains(control, "Architecture: amd64\n") ||
		regexp.MustCompile(`@[A-Z]+@`).MatchString(control) {
		t.Errorf("%s", control)
	}
	files := runTool(t, "dpkg-deb", "--contents", out)
	want := []string{"/usr/bin/orcomgo", "/bash-completion/completions/orcomgo", "/vendor-completions/_orcomgo",
		"/vendor_completions.d/orcomgo.fish", "/doc/orcomgo/copyright", "/doc/orcomgo/NOTICE.gz", "/doc/orcomgo/changelog.gz",
		"/man1/orcomgo.1.gz"}
	for _, c := range commands {
		if c.flags != nil {
			want = append(want, "/man1/orcomgo-"+c.name+".1.gz")
		}
	}
	for _, w := range want {
		if !strings.Contains(files, w+"\n") {
			t.Errorf("the package lacks %s:\n%s", w, files)
		}
	}
	first := readFile(t, out)
	runTool(t, deploy+"deb/build.sh", program, "amd64", out)
	if readFile(t, out) != first {
		t.Error("the same program gives another package")
	}
}
