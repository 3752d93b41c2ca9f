package main

import (
	"bytes"
	"crypto/md5"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The folders of deploy that are for pipelines: a workflow, modules for nf-core, and wrappers for Snakemake.
var pipelines = []string{"../../deploy/snakemake", "../../deploy/nf-core", "../../deploy/snakemake-wrapper"}

// pipelineFiles returns the files there with one of the extensions.
func pipelineFiles(t *testing.T, exts ...string) (list []string) {
	t.Helper()
	for _, dir := range pipelines {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && slices.Contains(exts, filepath.Ext(path)) {
				list = append(list, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(list) == 0 {
		t.Fatalf("no files %v in %v", exts, pipelines)
	}
	return list
}

// readYAML decodes a file of YAML, which may have no fields but those of v.
func readYAML(t *testing.T, path string, v any) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := yaml.NewDecoder(f)
	d.KnownFields(true)
	if err := d.Decode(v); err != nil {
		t.Errorf("%s: %v", path, err)
	}
}

// TestPipelineYAML parses all YAML; that of environments must ask for this version of orcomgo.
func TestPipelineYAML(t *testing.T) {
	for _, path := range pipelineFiles(t, ".yml", ".yaml") {
		if name := filepath.Base(path); name != "environment.yml" && name != "environment.yaml" {
			var any map[string]any
			readYAML(t, path, &any)
			continue
		}
		var env struct{ Channels, Dependencies []string }
		readYAML(t, path, &env)
		if len(env.Channels) < 2 || len(env.Dependencies) != 1 {
			t.Errorf("%s: %+v", path, env)
		} else if d := strings.ReplaceAll(env.Dependencies[0], " ", ""); strings.TrimPrefix(d, "bioconda::") != "orcomgo="+version {
			t.Errorf("%s: depends on %q, this is version %s", path, d, version)
		}
	}
}

// moduleMeta is meta.yml of a module as nf-core's schema has it.
type moduleMeta struct {
	Name, Description    string
	Keywords             []string
	Tools                []map[string]moduleTool
	Input                [][]map[string]moduleElement
	Output, Topics       map[string][][]map[string]moduleElement
	Authors, Maintainers []string
}

type moduleTool struct {
	Description, Doi, Identifier string
	Licence                      []string
}

type moduleElement struct {
	Type, Description, Pattern string
	Ontologies                 []map[string]string
}

// TestModules compares main.nf of the modules with what meta.yml says of it.
func TestModules(t *testing.T) {
	for _, module := range []string{"archive", "unpack"} {
		dir := filepath.Join("../../deploy/nf-core/modules/nf-core/orcomgo", module)
		text, err := os.ReadFile(filepath.Join(dir, "main.nf"))
		if err != nil {
			t.Fatal(err)
		}
		main := string(text)
		var meta moduleMeta
		readYAML(t, filepath.Join(dir, "meta.yml"), &meta)
		process := "ORCOMGO_" + strings.ToUpper(module)
		if strings.ToUpper(meta.Name) != process || !strings.HasPrefix(main, "process "+process+" {\n") {
			t.Errorf("%s: the names are %q and %.40q", module, meta.Name, main)
		}
		if meta.Description == "" || len(meta.Keywords) < 3 || len(meta.Tools) != 1 || len(meta.Authors) == 0 {
			t.Errorf("%s: meta.yml lacks something: %+v", module, meta)
		}
		if tool := meta.Tools[0]["orcomgo"]; tool.Doi == "" || !slices.Equal(tool.Licence, []string{"MIT"}) {
			t.Errorf("%s: tool %+v", module, tool)
		}
		if n := strings.Count(main, "orcomgo:"+version+"--"); n != 2 {
			t.Errorf("%s: %d containers of version %s", module, n, version)
		}
		inputs := section(main, "input", "output")
		for _, channel := range meta.Input {
			if got := elementNames(inputs); !slices.Equal(got[0], keys(t, channel)) {
				t.Errorf("%s: inputs %q, in meta.yml %q", module, got, keys(t, channel))
			}
		}
		outputs := section(main, "output", "when")
		var emitted []string
		for i, m := range regexp.MustCompile(`emit: (\w+)`).FindAllStringSubmatch(outputs, -1) {
			emitted = append(emitted, m[1])
			if len(meta.Output[m[1]]) != 1 {
				t.Errorf("%s: meta.yml lacks output %s", module, m[1])
			} else if got, want := elementNames(outputs)[i], keys(t, meta.Output[m[1]][0]); !slices.Equal(got, want) {
				t.Errorf("%s: output %s has %q, in meta.yml %q", module, m[1], got, want)
			}
		}
		if len(emitted) != len(meta.Output) || len(meta.Topics["versions"]) != 1 {
			t.Errorf("%s: outputs %q, in meta.yml %d", module, emitted, len(meta.Output))
		}
	}
}

// TestModuleTests: the tests of a module are those that its snapshots are of.
func TestModuleTests(t *testing.T) {
	for _, module := range []string{"archive", "unpack"} {
		path := filepath.Join("../../deploy/nf-core/modules/nf-core/orcomgo", module, "tests/main.nf.test")
		var names []string
		for _, m := range regexp.MustCompile(`(?m)^    test\("(.+)"\) \{$`).FindAllStringSubmatch(readFile(t, path), -1) {
			names = append(names, m[1])
		}
		var snapshots map[string]any
		if err := json.Unmarshal([]byte(readFile(t, path+".snap")), &snapshots); err != nil {
			t.Fatal(err)
		}
		slices.Sort(names)
		if have := slices.Sorted(maps.Keys(snapshots)); len(names) < 2 || !slices.Equal(names, have) {
			t.Errorf("%s has the tests %q, its snapshots are of %q", path, names, have)
		}
	}
}

// section returns the text between two labels of a process.
func section(text, from, to string) string {
	_, text, _ = strings.Cut(text, "\n    "+from+":\n")
	text, _, _ = strings.Cut(text, "\n    "+to+":\n")
	return text
}

// elementNames returns the arguments of val, path and eval in each line of inputs or outputs.
func elementNames(section string) (lines [][]string) {
	for line := range strings.Lines(section) {
		var names []string
		for _, m := range regexp.MustCompile(`(?:val|path|eval)\(("[^"]*"|[^)]*)\)`).FindAllStringSubmatch(line, -1) {
			name := m[1]
			if name[0] == '"' || name[0] == '\'' {
				name = name[1 : len(name)-1]
			}
			names = append(names, name)
		}
		if names != nil {
			lines = append(lines, names)
		}
	}
	return lines
}

// keys returns the names of the elements of a channel, each of which has a type and a description.
func keys(t *testing.T, channel []map[string]moduleElement) (names []string) {
	t.Helper()
	types := []string{"map", "file", "directory", "string", "integer", "float", "boolean", "list", "eval"}
	for _, element := range channel {
		for name, e := range element {
			names = append(names, name)
			if !slices.Contains(types, e.Type) || e.Description == "" {
				t.Errorf("%s: %+v", name, e)
			}
		}
	}
	return names
}

var updateSnapshots = flag.Bool("update", false, "write checksums of archives into the snapshots of deploy/nf-core")

// TestModuleSnapshots makes the archives that the tests of the modules make, and compares checksums with their snapshots.
func TestModuleSnapshots(t *testing.T) {
	dir, data := t.TempDir(), "../../testdata/"
	archive := func(name string, inputs ...string) {
		mustRun(t, append([]string{"archive", "--quiet", "--source", "none", "--as", "test"},
			append(inputs, filepath.Join(dir, name))...)...)
	}
	archive("pair", "-1", data+"pair41_R1.fastq", "-2", data+"pair41_R2.fastq")
	archive("single", data+"blocks.fastq.gz")
	mustRun(t, "unpack", "--quiet", "--gzip", filepath.Join(dir, "pair"), "-o", filepath.Join(dir, "restored"))
	for _, c := range []struct{ module, test, folder string }{
		{"archive", "simulated - fastq - paired_end", "pair"},
		{"archive", "simulated - fastq.gz - single_end", "single"},
		{"unpack", "simulated - archive - paired_end", "restored"},
	} {
		path := filepath.Join("../../deploy/nf-core/modules/nf-core/orcomgo", c.module, "tests/main.nf.test.snap")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var snapshots map[string]struct{ Content []map[string]any }
		if err := json.Unmarshal(text, &snapshots); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		files, err := filepath.Glob(filepath.Join(dir, c.folder, "*"))
		if err != nil || len(files) < 2 || len(snapshots[c.test].Content) != 1 {
			t.Fatal(files, err, snapshots[c.test])
		}
		have := fmt.Sprint(snapshots[c.test].Content[0])
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			sum := fmt.Sprintf("%s:md5,%x", filepath.Base(f), md5.Sum(b))
			if strings.Contains(have, sum) {
				continue
			}
			if !*updateSnapshots {
				t.Errorf("%s: test %q has no %s: %s (-update writes it)", path, c.test, sum, have)
				continue
			}
			old := regexp.MustCompile(regexp.QuoteMeta(filepath.Base(f)) + ":md5,[0-9a-f]{32}").FindString(have)
			text = bytes.ReplaceAll(text, []byte(old), []byte(sum))
			if err := os.WriteFile(path, text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.Contains(have, "orcomgo "+version+"]") {
			t.Errorf("%s: no version %s", path, version)
		}
	}
}

// TestPipelinePython has Python parse the scripts.
func TestPipelinePython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	parse := "import ast, sys\nfor f in sys.argv[1:]: ast.parse(open(f).read(), f)"
	if out, err := exec.Command(python, append([]string{"-c", parse}, pipelineFiles(t, ".py")...)...).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
