//go:build cuda

package cudakern

import "os"

// underSanitizer reports whether the tests run under compute-sanitizer, see sanitize.sh. It makes kernels many times slower, so tests
// take fewer and smaller inputs then, of which each kernel and each kind of input is still one.
func underSanitizer() bool { return os.Getenv("ORCOMGO_SANITIZER") != "" }

// underRacecheck reports whether the tool is racecheck, under which kernels take ten times as long as under the others.
func underRacecheck() bool { return os.Getenv("ORCOMGO_SANITIZER") == "racecheck" }
