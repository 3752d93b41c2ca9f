package samples

import (
	"fmt"
	"path"
	"strings"
)

// Glob is a pattern of paths in a tree.
//
// A pattern without a slash matches the name of a file or a directory, wherever it is; one with a slash matches paths from the root of the
// tree on. Its parts are patterns as of path.Match; the part ** matches any number of directories. A path matches as well if a
// directory above it does. Slashes at the ends of a pattern say nothing but that there is one.
type Glob struct {
	parts    []string
	anywhere bool // it has no slash
}

// NewGlob parses a pattern. The error says what is wrong with it.
func NewGlob(pattern string) (Glob, error) {
	trimmed := strings.Trim(strings.TrimPrefix(pattern, "./"), "/")
	if trimmed == "" {
		return Glob{}, fmt.Errorf("%q is no pattern of paths", pattern)
	}
	g := Glob{parts: strings.Split(trimmed, "/"), anywhere: !strings.Contains(strings.TrimRight(pattern, "/"), "/")}
	for _, p := range g.parts {
		if _, err := path.Match(p, ""); err != nil {
			return Glob{}, fmt.Errorf("%q is no valid pattern: a [ without ]?", pattern)
		}
	}
	return g, nil
}

// Match reports whether a path matches: one relative to the root of the tree, with slashes.
func (g Glob) Match(rel string) bool {
	names := strings.Split(rel, "/")
	if !g.anywhere {
		return matchParts(g.parts, names)
	}
	for i := range names {
		if matchParts(g.parts, names[i:]) {
			return true
		}
	}
	return false
}

// matchParts reports whether the names of a path, or the first of them, match parts of a pattern.
func matchParts(parts, names []string) bool {
	for i, p := range parts {
		if p == "**" {
			for k := i; k <= len(names); k++ {
				if k < len(names) && matchParts(parts[i+1:], names[k:]) {
					return true
				}
			}
			return false
		}
		if i >= len(names) {
			return false
		}
		if ok, _ := path.Match(p, names[i]); !ok && p != names[i] {
			return false
		}
	}
	return true
}
