package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"orcomgo/bins"
	"orcomgo/compress"

	"github.com/spf13/pflag"
)

// version is the version of the program.
const version = "0.1.0"

// sourceCommit is the commit of the source, and a + for one with changes, set by the Makefile. A build by go alone has it in its
// build information.
var sourceCommit string

var versionCommand = command{
	name:  "version",
	group: selfGroup,
	about: "print version, commit, platform and formats",
	bare:  true,
	help: `version prints what the program was built from and for, and which versions of the formats it reads
and writes. orcomgo --version prints the same.

Examples:
  orcomgo version
  orcomgo version --json | jq -r .commit
`,
	flags: func(f *pflag.FlagSet) action {
		asJSON := f.Bool("json", false, "as JSON, for scripts")
		return func(_ context.Context, s *streams, args []string) error {
			if len(args) > 0 {
				return usagef("version takes no arguments")
			}
			if *asJSON {
				return writeJSON(s.out, programVersion())
			}
			_, err := io.WriteString(s.out, versionText())
			return err
		}
	},
}

// programInfo is what version prints.
type programInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"` // "unknown" if the build does not say
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	CUDA     bool   `json:"cuda"`
	Bins     int    `json:"bins"`    // .bdna and .bmeta
	Archive  int    `json:"archive"` // .cdna and .cmeta
}

func programVersion() programInfo {
	p := programInfo{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, CUDA: gpu != nil}
	p.Commit, p.Modified = strings.CutSuffix(sourceCommit, "+")
	p.Bins, p.Archive = bins.Version, compress.Version
	if build, ok := debug.ReadBuildInfo(); ok && p.Commit == "" {
		for _, s := range build.Settings {
			switch s.Key {
			case "vcs.revision":
				p.Commit = s.Value
			case "vcs.modified":
				p.Modified = s.Value == "true"
			}
		}
	}
	if p.Commit == "" {
		p.Commit = "unknown"
	}
	return p
}

// versionText is what version prints.
func versionText() string {
	p, device, modified := programVersion(), "CPU only", ""
	if p.CUDA {
		device = "CPU and CUDA"
	}
	if p.Modified {
		modified = ", with changes"
	}
	return fmt.Sprintf("orcomgo %s (%s, %s, %s)\ncommit %s%s\nbins: version %d\narchives: version %d\n",
		p.Version, p.Go, p.Platform, device, p.Commit, modified, p.Bins, p.Archive)
}
