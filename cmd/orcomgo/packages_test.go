package main

import (
	"encoding/json"
	"io/fs"
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

// TestTarball: install.sh of a release puts files below a folder, over those of another version, and removes those that are its own.
func TestTarball(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	install := func(args ...string) string {
		out, err := exec.Command(filepath.Join(from, "install.sh"), args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	below := func(dir string) map[string][]byte {
		files := map[string][]byte{}
		err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files[path] = []byte(readFile(t, filepath.Join(dir, path)))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	program := "#!/bin/sh\necho orcomgo 1\n"
	write(filepath.Join(from, "install.sh"), readFile(t, deploy+"tarball/install.sh"))
	write(filepath.Join(from, "bin/orcomgo"), program)
	write(filepath.Join(from, "share/man/man1/orcomgo.1.gz"), "page")
	write(filepath.Join(from, "share/doc/orcomgo/LICENSE"), "licence")
	write(filepath.Join(from, "README.md"), "read")
	write(filepath.Join(to, "bin/orcomgo"), "older")
	write(filepath.Join(to, "bin/other"), "not ours")
	want := "orcomgo 1\n" + to + "/bin is not in PATH: export PATH=\"" + to + "/bin:$PATH\"\n"
	if got := install(to); got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	same(t, below(to), map[string][]byte{"bin/orcomgo": []byte(program), "bin/other": []byte("not ours"),
		"share/man/man1/orcomgo.1.gz": []byte("page"), "share/doc/orcomgo/LICENSE": []byte("licence")})
	write(filepath.Join(to, "share/man/man1/orcomgo.1.gz"), "changed")
	if got, want := install("--remove", to), "install.sh: "+to+"/share/man/man1/orcomgo.1.gz is another version and stays\n"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	same(t, below(to), map[string][]byte{"bin/other": []byte("not ours"), "share/man/man1/orcomgo.1.gz": []byte("changed")})
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
