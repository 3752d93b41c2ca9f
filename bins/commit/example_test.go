package commit_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"orcomgo/bins/commit"
)

// Find lists the archives of a directory and ignores all other files.
func ExampleFind() {
	archives, err := commit.Find("../../testdata/golden/pair")
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range archives {
		fmt.Println(a.Name, "bins:", a.Has[commit.Bins], "packed:", a.Has[commit.Packed])
	}
	_, err = commit.Find("../../testdata/vectors")
	fmt.Println(errors.Is(err, commit.ErrNotArchive))
	// Output:
	// pair_1 bins: true packed: true
	// true
}

// A Temp has its name only when it is complete, and does not replace a file unless asked to.
func ExampleTemp() {
	dir, err := os.MkdirTemp("", "commit")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "reads.fastq")
	write := func(text string, replace bool) error {
		t, err := commit.NewTemp(path)
		if err != nil {
			return err
		}
		defer t.Discard()
		if _, err := t.Write([]byte(text)); err != nil {
			return err
		}
		if err := t.Sync(); err != nil {
			return err
		}
		return t.Install(path, replace)
	}

	fmt.Println(write("first", false))
	fmt.Println(errors.Is(write("second", false), fs.ErrExist))
	text, _ := os.ReadFile(path)
	fmt.Printf("%s\n", text)
	// Output:
	// <nil>
	// true
	// first
}
