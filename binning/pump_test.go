package binning

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"orcomgo/internal/testrun"
)

func TestPumpDeliversEverything(t *testing.T) {
	text := strings.Repeat("sequence ", testrun.Pick(20_000, 100_000, 100_000))
	for name, in := range map[string]io.Reader{
		"whole":          strings.NewReader(text),
		"byte by byte":   iotest.OneByteReader(strings.NewReader(text)),
		"error with end": iotest.DataErrReader(strings.NewReader(text)),
	} {
		got, err := io.ReadAll(newPump(context.Background(), in))
		if err != nil || string(got) != text {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(text), err)
		}
	}
	broken := errors.New("broken")
	got, err := io.ReadAll(newPump(context.Background(), io.MultiReader(strings.NewReader("so far"), iotest.ErrReader(broken))))
	if string(got) != "so far" || !errors.Is(err, broken) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestPumpEndsWithItsContext(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	w.WriteString("something")
	ctx, cancel := context.WithCancel(context.Background())
	in := newPump(ctx, r)
	got := make([]byte, 9)
	if _, err := io.ReadFull(in, got); err != nil || string(got) != "something" {
		t.Fatalf("%q, %v", got, err)
	}
	time.AfterFunc(20*time.Millisecond, func() { cancel() })
	if n, err := in.Read(got); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d bytes, %v", n, err)
	}
}
