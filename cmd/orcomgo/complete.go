package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orcomgo/bins/commit"
	"orcomgo/compress"
	"orcomgo/compress/tree"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// completion returns what the word that is being written may become, given the arguments before it.
type completion func(args []string, word string) ([]string, cobra.ShellCompDirective)

var completionCommand = command{
	name:     "completion",
	group:    selfGroup,
	synopsis: "SHELL",
	about:    "print a script that lets bash, zsh or fish complete",
	bare:     true,
	help: `completion prints a script for bash, zsh or fish. With it the Tab key completes commands, flags, their values, names of
archives and of files of reads.

Examples:
  source <(orcomgo completion bash)                                   in this shell; in ~/.bashrc for all
  orcomgo completion zsh > "${fpath[1]}/_orcomgo"                     for zsh, from its next start on
  orcomgo completion fish > ~/.config/fish/completions/orcomgo.fish   for fish
`,
	flags: func(*pflag.FlagSet) action {
		return func(_ context.Context, s *streams, args []string) error {
			if len(args) != 1 {
				return usagef("completion: give one shell: bash, zsh or fish")
			}
			root := commandTree(s)
			switch args[0] {
			case "bash":
				if _, err := fmt.Fprint(s.out, bashWords); err != nil {
					return err
				}
				return root.GenBashCompletionV2(s.out, true)
			case "zsh":
				return root.GenZshCompletion(s.out)
			case "fish":
				return root.GenFishCompletion(s.out, true)
			}
			return usagef("completion: the shell is bash, zsh or fish, not %q", args[0])
		}
	},
	complete: func(args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return words("bash", "zsh", "fish")(args, word)
	},
}

// bashWords defines, where the package bash-completion is not installed, the one of its functions that the script needs: it
// divides the command line up to the cursor at spaces.
const bashWords = `# Without the package bash-completion:
if ! declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref() {
        local line=${COMP_LINE:0:COMP_POINT}
        read -ra words <<< "$line"
        [[ $line == *[[:space:]] ]] && words+=("")
        cword=$((${#words[@]} - 1))
        cur=${words[cword]}
        prev=${words[cword - 1]}
    }
fi
`

// words completes one of a few words.
func words(list ...string) completion {
	return func(_ []string, word string) (found []string, _ cobra.ShellCompDirective) {
		for _, w := range list {
			if strings.HasPrefix(w, word) {
				found = append(found, w)
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// noWords completes nothing: a number or a text is expected.
func noWords([]string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// flagValues says what the values of flags may be. Those of flags that are not listed are not completed.
var flagValues = map[string]completion{
	"first": completeReads, "second": completeReads, "third": completeReads, "fourth": completeReads,
	"order":   words("original", "any"),
	"names":   words("keep", "drop"),
	"quality": words("keep", "bin8", "drop"),
	"source":  words("auto", "all", "time", "none"),
	"device":  words("auto", "cpu", "gpu"),
	"group":   words("auto", "none"),
	"level":   words("fast", "default", "max"),
	"output":  completeDirs, "tmpdir": completeDirs, "multiqc": completeDirs,
	"fasta": completeFiles, "mismatches": words("0", "1", "2", "3", "4"),
	"log": completeFiles, "samples": completeFiles,
	"input": completeInputs, "mate": words("1", "2"), "names-from": completeFiles,
}

// completeFlags registers what the values of a command's flags may be.
func completeFlags(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		values := flagValues[f.Name]
		if values == nil {
			values = noWords
		}
		c.RegisterFlagCompletionFunc(f.Name, func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			return values(args, word)
		}) // fails only for flags that don't exist
	})
}

// completeReads completes files of reads, by their names, and directories.
func completeReads(_ []string, word string) ([]string, cobra.ShellCompDirective) {
	return paths(word, func(_ string, e os.DirEntry) bool { return readsFile(e.Name()) })
}

// completeFiles completes any file.
func completeFiles(_ []string, word string) ([]string, cobra.ShellCompDirective) {
	return paths(word, func(string, os.DirEntry) bool { return true })
}

// completeDirs completes directories.
func completeDirs(_ []string, word string) ([]string, cobra.ShellCompDirective) {
	return paths(word, func(string, os.DirEntry) bool { return false })
}

// completeArchives completes archives, as many as are given.
func completeArchives(_ []string, word string) ([]string, cobra.ShellCompDirective) {
	return completeArchive(nil, word)
}

// completeArchive completes the only argument: a directory, or DIR/NAME for an archive in it.
func completeArchive(args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	found, how := completeDirs(nil, word)
	typed, prefix := filepath.Split(word)
	if archives, err := commit.Find(openable(typed)); err == nil {
		for _, a := range archives {
			if strings.HasPrefix(a.Name, prefix) && !slices.Contains(found, typed+a.Name) {
				found = append(found, typed+a.Name)
				how = cobra.ShellCompDirectiveNoFileComp
			}
		}
	}
	return found, how
}

// completeInputs completes the names of the inputs of the archive that was given, or the paths of the directory.
func completeInputs(args []string, word string) (found []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		if trees, err := commit.FindTrees(openable(args[0])); err == nil && len(trees) == 1 {
			return completeEntries(trees[0], word), cobra.ShellCompDirectiveNoFileComp
		}
		if r, err := compress.Open(openable(args[0]), compress.ReaderOptions{Threads: 1}); err == nil {
			defer r.Close()
			for _, in := range r.Inputs() {
				if strings.HasPrefix(in.Name, word) {
					found = append(found, in.Name)
				}
			}
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// completeEntries completes paths of a directory that was archived as a whole.
func completeEntries(t commit.Tree, word string) (found []string) {
	r, err := tree.Open(t, tree.Options{Threads: 1})
	if err != nil {
		return nil
	}
	defer r.Close()
	for i := range r.Entries {
		if strings.HasPrefix(r.Entries[i].Path, word) {
			found = append(found, r.Entries[i].Path)
		}
	}
	return found
}

// paths returns the directories, and the files that keep accepts, whose paths begin with what was typed. No space
// follows a directory, so that the path can go on.
func paths(word string, keep func(dir string, e os.DirEntry) bool) (found []string, _ cobra.ShellCompDirective) {
	how := cobra.ShellCompDirectiveNoFileComp
	typed, prefix := filepath.Split(word)
	dir := openable(typed)
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, how
	}
	for _, e := range list {
		if !strings.HasPrefix(e.Name(), prefix) || prefix == "" && strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.IsDir() {
			found = append(found, typed+e.Name()+"/")
			how |= cobra.ShellCompDirectiveNoSpace
		} else if keep(dir, e) {
			found = append(found, typed+e.Name())
		}
	}
	return found, how
}

// openable returns the directory that was typed as something that can be opened: shells expand ~ only later.
func openable(typed string) string {
	if rest, ok := strings.CutPrefix(typed, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if typed == "" {
		return "."
	}
	return typed
}
