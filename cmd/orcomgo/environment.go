package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/pflag"
)

// variables of the environment are defaults of flags. One that is empty counts as not set.
var variables = []struct {
	name, flag, about string
	check             func(text string) error
}{
	{"ORCOMGO_THREADS", "threads", "the default of --threads", checkThreads},
	{"ORCOMGO_MEMORY", "memory", "the default of --memory", checkMemory},
	{"ORCOMGO_TMPDIR", "tmpdir", "the default of --tmpdir", checkTempDir},
}

// fromEnvironment gives the flags that are not in the command line the values of the environment. Flags that a command
// does not have are left out. An error names the variable.
func fromEnvironment(f *pflag.FlagSet) error {
	for _, v := range variables {
		flag, text := f.Lookup(v.flag), os.Getenv(v.name)
		if flag == nil || flag.Changed || text == "" {
			continue
		}
		err := v.check(text)
		if err == nil {
			err = flag.Value.Set(text)
		}
		if err != nil {
			return fmt.Errorf("%s is %q: %w", v.name, text, err)
		}
	}
	return nil
}

func checkThreads(text string) error {
	if n, err := strconv.Atoi(text); err != nil || n < 1 || n > maxThreads {
		return fmt.Errorf("expected a number of threads, from 1 to %d", maxThreads)
	}
	return nil
}

func checkMemory(text string) error {
	var n size
	if err := n.Set(text); err != nil {
		return err
	}
	if n < minMemory {
		return errors.New("expected at least 96MB")
	}
	return nil
}

// checkTempDir returns an error unless path is a directory.
func checkTempDir(path string) error {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return errors.New("expected a directory that exists")
	}
	return nil
}
