package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"orcomgo/internal/testrun"
)

const (
	errorsPage = "../../docs/ERRORS.md"
	ellipsis   = "…" // a part of a message that varies, in the page
)

// pageError is an entry of the page.
type pageError struct {
	code        string
	texts       []string
	cause, mend bool
}

// readErrorsPage returns the entries of the page.
func readErrorsPage() (list []pageError, err error) {
	page, err := os.ReadFile(errorsPage)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSpace(line)
		if code, ok := strings.CutPrefix(line, "### "); ok {
			list = append(list, pageError{code: code})
		}
		if len(list) == 0 {
			continue
		}
		e := &list[len(list)-1]
		if text, ok := strings.CutPrefix(line, "- `"); ok {
			e.texts = append(e.texts, strings.TrimSuffix(text, "`"))
		}
		e.cause = e.cause || strings.HasPrefix(line, "Cause: ")
		e.mend = e.mend || strings.HasPrefix(line, "Mend: ")
	}
	return list, nil
}

// TestErrorsPage compares docs/ERRORS.md with the sources: each error of the program is there, and each entry is complete.
func TestErrorsPage(t *testing.T) {
	list, err := readErrorsPage()
	if err != nil || len(list) < 40 {
		t.Fatalf("%d entries: %v", len(list), err)
	}
	var all strings.Builder
	codes := map[string]bool{}
	for _, e := range list {
		if codes[e.code] || len(e.texts) == 0 || !e.cause || !e.mend {
			t.Errorf("%s: expected a code of its own, texts, a cause and how to mend it: %+v", e.code, e)
		}
		codes[e.code] = true
		all.WriteString(strings.Join(e.texts, "\n") + "\n")
	}
	texts := messageTexts(t)
	if len(texts) < 100 {
		t.Fatalf("only %d messages were found in the sources", len(texts))
	}
	for text, where := range texts {
		if binaryUnit.MatchString(text) {
			t.Errorf("%s: %q has a unit that is no power of 1000", where, text)
		}
		if !unreachable[text] && !strings.Contains(all.String(), text) {
			t.Errorf("%s: docs/ERRORS.md lacks %q", where, text)
		}
	}
}

// unreachable are texts of errors that users of the program don't meet, because the command line is checked before, or because another
// part of the program handles them.
var unreachable = map[string]bool{
	"a graph of … nodes: expected fewer than 2^32-1": true,
	"edge … joins nodes … and … of":                  true,
	"its mate is not the other one of a pair":        true,
	"nothing was found":                              true,
	"blocks of … bytes are too large: at most":       true,
	"not BGZF from here on":                          true,
	"this can't be the name of an archive":           true,
	"read at":                                        true,
	"was not started":                                true,
	"what was sent was written again":                true,
	"records … to … are not after record":            true,
	"the queries are nearly everywhere":              true,
	"it belongs to an input that has no first mates": true,
	"there is no input …: the archive has":           true,
	"too little free memory on the device":           true,
}

// makers are the functions whose first text is that of an error, or of what goes into one.
var makers = map[string]bool{"Errorf": true, "New": true, "usagef": true, "corrupt": true, "Fail": true, "fail": true, "mateErrorf": true}

// messageTexts returns the texts of all errors in the sources of orcomgo, with an ellipsis for each part that varies, and where each is.
func messageTexts(t *testing.T) map[string]string {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-f",
		"{{if not .Standard}}{{range .GoFiles}}{{$.ImportPath}} {{$.Dir}}/{{.}}\n{{end}}{{end}}", ".")
	out, err := list.Output()
	if err != nil {
		t.Skipf("go list: %v", err)
	}
	texts := map[string]string{}
	for line := range strings.Lines(string(out)) {
		pkg, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(pkg, "orcomgo/") {
			continue
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !makers[callee(call)] {
				return true
			}
			for _, arg := range call.Args {
				text, ok := constantText(arg)
				if !ok {
					continue
				}
				if text = messageText(text); text != "" && !isDetail(pkg, text, call) {
					texts[text] = filepath.Base(file) + ":" + strconv.Itoa(set.Position(call.Pos()).Line)
				}
				break
			}
			return true
		})
	}
	return texts
}

// callee returns the name of the function that is called, without its package or receiver.
func callee(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// constantText returns a string literal, or several that are added; what is added beside literals counts as a verb.
func constantText(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		a, okA := constantText(e.X)
		b, okB := constantText(e.Y)
		if !okA {
			a = "%s"
		}
		if !okB {
			b = "%s"
		}
		return a + b, okA || okB
	}
	return "", false
}

var (
	verbs   = regexp.MustCompile(`%(\[\d\])?[-+#.\d]*[a-z]`)
	letters = regexp.MustCompile(`[a-z]{2}`)
)

// messageText returns what of a format is the same in all its errors, or "" if nothing of it has letters.
func messageText(format string) string {
	text := strings.ReplaceAll(verbs.ReplaceAllString(format, ellipsis), "%%", "%")
	if text = strings.Trim(text, ellipsis+": ()"); letters.MatchString(text) {
		return text
	}
	return ""
}

// decoders are the packages that decode what is in archives. Their errors are details of "archive is damaged".
var decoders = regexp.MustCompile(`^orcomgo/(compress/[a-z]+|bins/(entropy|parse))$`)

// isDetail reports whether an error only says where an archive is damaged, or says that a package was used wrongly: then it begins with
// the name of the package, or in compress with what was to be done.
func isDetail(pkg, text string, call *ast.CallExpr) bool {
	name := pkg[strings.LastIndexByte(pkg, '/')+1:]
	switch f := callee(call); {
	case name != "orcomgo" && strings.HasPrefix(text, name+": "), name == "compress" && strings.HasPrefix(text, "unpack: "),
		name == "compress" && strings.HasPrefix(text, "find: "), f == "corrupt", f == "Fail":
		return true
	case strings.HasPrefix(text, "archive is "), strings.HasPrefix(text, "unknown format"):
		return false
	case decoders.MatchString(pkg):
		return true
	}
	return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		if s, ok := arg.(*ast.SelectorExpr); ok {
			arg = s.Sel
		}
		id, ok := arg.(*ast.Ident)
		return ok && id.Name == "ErrCorrupt"
	})
}

// seen are the lines that orcomgo printed on standard error in tests.
var seen struct {
	sync.Mutex
	lines map[string]bool
}

// see notes what a run of orcomgo printed on standard error.
func see(stderr string) {
	seen.Lock()
	defer seen.Unlock()
	if seen.lines == nil {
		seen.lines = map[string]bool{}
	}
	for line := range strings.Lines(stderr) {
		seen.lines[strings.TrimSpace(line)] = true
	}
}

// unseen returns the codes of the page of which no test has seen an error.
func unseen() (codes []string) {
	list, _ := readErrorsPage()
	for _, e := range list {
		if !slices.ContainsFunc(e.texts, seenText) {
			codes = append(codes, e.code)
		}
	}
	return codes
}

// seenText reports whether an error with a text of the page was seen. Texts with hardly any letters don't count.
func seenText(text string) bool {
	if len(strings.ReplaceAll(text, ellipsis, "")) < 10 {
		return false
	}
	is := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(text), ellipsis, ".*"))
	for line := range seen.lines {
		if is.MatchString(line) {
			return true
		}
	}
	return false
}

// allTests runs tests, and fails if all of them were run and an error of docs/ERRORS.md was not produced.
type allTests struct{ *testing.M }

// Run implements testscript.TestingM.
func (m allTests) Run() int {
	status := m.M.Run()
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.bench", "test.fuzz"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return status
		}
	}
	// Elsewhere than on Linux some scripts are skipped.
	if codes := unseen(); status == 0 && len(codes) > 0 && !testrun.Short() && runtime.GOOS == "linux" {
		fmt.Printf("FAIL: no test produces these errors of docs/ERRORS.md: %s\n", strings.Join(codes, ", "))
		return 1
	}
	return status
}
