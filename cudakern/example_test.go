//go:build !cuda

package cudakern_test

import (
	"errors"
	"fmt"

	"orcomgo/cudakern"
)

// Without the build tag cuda there is no GPU, and the error says so.
func ExampleProbe() {
	_, err := cudakern.Probe(0)
	fmt.Println(errors.Is(err, cudakern.ErrNotBuilt))
	// Output:
	// true
}
