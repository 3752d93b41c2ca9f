// Command notice lists the modules that are linked into orcomgo, with their licences.
//
//	go run ./deploy/notice > deploy/NOTICE     licences of all modules, for any platform, with a GPU and without
//	go run ./deploy/notice -sbom PROGRAM       a bill of materials of a built program, as SPDX 2.3 in JSON
//
// It is run in the module, and reads licences from the module cache.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	program := flag.String("sbom", "", "write a bill of materials of `PROGRAM`")
	flag.Parse()
	if err := run(*program); err != nil {
		fmt.Fprintf(os.Stderr, "notice: %v\n", err)
		os.Exit(1)
	}
}

func run(program string) error {
	if program != "" {
		return writeSBOM(os.Stdout, program)
	}
	return writeNotice(os.Stdout)
}

// module is a module that is linked.
type module struct {
	Path, Version, Dir string
	Licences           []licence
}

type licence struct {
	name string // of the file
	text string
}

// builds are the programs that are distributed: for each, what go list needs.
var builds = []struct{ goos, goarch, cgo, tags string }{
	{"linux", "amd64", "0", ""}, {"linux", "arm64", "0", ""}, {"darwin", "amd64", "0", ""}, {"darwin", "arm64", "0", ""},
	{"linux", "amd64", "1", "cuda"},
}

// modules returns the modules that are linked into any of builds, and Go itself, by path.
func modules() (list []module, err error) {
	known := make(map[string]bool)
	for _, b := range builds {
		c := exec.Command("go", "list", "-deps", "-tags", b.tags, "-json=ImportPath,Module", "orcomgo/cmd/orcomgo")
		c.Env = append(os.Environ(), "GOOS="+b.goos, "GOARCH="+b.goarch, "CGO_ENABLED="+b.cgo)
		c.Stderr = os.Stderr
		out, err := c.Output()
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		d := json.NewDecoder(bytes.NewReader(out))
		for d.More() {
			var p struct{ Module *module }
			if err := d.Decode(&p); err != nil {
				return nil, err
			}
			if m := p.Module; m != nil && m.Path != "orcomgo" && !known[m.Path] {
				known[m.Path] = true
				list = append(list, *m)
			}
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	list = append(list, module{Path: "the Go standard library and runtime", Dir: strings.TrimSpace(string(root))})
	for i := range list {
		if list[i].Licences, err = licencesIn(list[i].Dir); err != nil {
			return nil, err
		}
		if len(list[i].Licences) == 0 {
			return nil, fmt.Errorf("%s %s: there is no licence in %s", list[i].Path, list[i].Version, list[i].Dir)
		}
	}
	slices.SortFunc(list, func(a, b module) int { return cmp.Compare(a.Path, b.Path) })
	return list, nil
}

// licenceFile matches the names of files that hold licences.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|ftl|ofl|unlicense)`)

// licencesIn returns the licences in the first directory of a module.
func licencesIn(dir string) (list []licence, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if !licenceFile.MatchString(f.Name()) {
			continue
		}
		path := filepath.Join(dir, f.Name())
		if f.IsDir() {
			below, err := licencesIn(path)
			if err != nil {
				return nil, err
			}
			list = append(list, below...)
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		list = append(list, licence{f.Name(), strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))})
	}
	return list, nil
}

const heading = `orcomgo is under the MIT licence; see LICENSE. The program contains code of the modules below, each under
the licence that follows it. Those that only orcomgo-cuda contains, or only the program for macOS, are listed, too.
github.com/golang/freetype gives the choice of two licences: it is used under the FreeType licence. "make notice" makes
this file; a test compares it.
`

// writeNotice writes the licences of all modules. One that several have is written once.
func writeNotice(w io.Writer) error {
	list, err := modules()
	if err != nil {
		return err
	}
	fmt.Fprint(w, heading)
	for _, m := range list {
		fmt.Fprintf(w, "\n%s", m.Path)
		if m.Version != "" {
			fmt.Fprintf(w, " %s", m.Version)
		}
	}
	fmt.Fprintln(w)
	written := make(map[string]bool)
	for _, m := range list {
		for _, l := range m.Licences {
			if written[l.text] {
				continue
			}
			written[l.text] = true
			fmt.Fprintf(w, "\n%s\n%s: %s\n%s\n\n%s\n", strings.Repeat("=", 100), strings.Join(sharing(list, l.text), ", "), l.name,
				strings.Repeat("-", 100), l.text)
		}
	}
	return nil
}

// sharing returns the modules with a licence of this text.
func sharing(list []module, text string) (paths []string) {
	for _, m := range list {
		if slices.ContainsFunc(m.Licences, func(l licence) bool { return l.text == text }) {
			paths = append(paths, m.Path)
		}
	}
	return paths
}
