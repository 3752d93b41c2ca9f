package main

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// forAll are the packages that all others may import.
var forAll = []string{"bases", "internal/deflate", "internal/largepages", "internal/prefetch", "internal/tasks"}

// TestImports compares what packages import with the list in docs/ARCHITECTURE.md.
func TestImports(t *testing.T) {
	page, err := os.ReadFile("../../docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`,\n {20,}`).ReplaceAllString(string(page), ", ") // a long list goes on in the next line
	allowed := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^    (\S+) +-> (.*)$`).FindAllStringSubmatch(text, -1) {
		text := regexp.MustCompile(` \([^)]*\)`).ReplaceAllString(m[2], "")
		// a/{b, c} is a/b and a/c.
		text = regexp.MustCompile(`(\S+)/\{([^}]*)\}`).ReplaceAllStringFunc(text, func(s string) string {
			dir, names, _ := strings.Cut(strings.TrimSuffix(s, "}"), "/{")
			return dir + "/" + strings.ReplaceAll(names, ", ", ", "+dir+"/")
		})
		allowed[m[1]] = strings.Split(text, ", ")
	}
	if len(allowed) < 10 {
		t.Fatalf("only %d packages found in the page", len(allowed))
	}
	list := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Skipf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		imports := strings.Fields(line)
		name := strings.TrimPrefix(imports[0], "orcomgo/")
		for _, i := range imports[1:] {
			if i, ours := strings.CutPrefix(i, "orcomgo/"); ours && !slices.Contains(forAll, i) && !slices.Contains(allowed[name], i) {
				t.Errorf("%s imports %s, which docs/ARCHITECTURE.md does not allow", name, i)
			}
		}
	}
}
