package cudakern

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPTXAgrees: block.ptx begins with the SHA-256 of what it was made from: shared.h, and then
// the kernels' sources and the compiler's flags, in the order of their names. make ptx renews it.
func TestPTXAgrees(t *testing.T) {
	files, err := filepath.Glob("kernels/*")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d sources, %v", len(files), err)
	}
	slices.Sort(files)
	files = slices.Insert(files, 0, "shared.h")
	h := sha256.New()
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		h.Write(b)
	}
	ptx, err := os.ReadFile("block.ptx")
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(string(ptx), "\n")
	if want := "// source-sha256 " + hex.EncodeToString(h.Sum(nil)); first != want {
		t.Errorf("block.ptx was made from other sources:\n%s, want\n%s\n(run make ptx)", first, want)
	}
	for _, k := range []string{"lines", "scan", "records", "columns", "signature", "exceptions", "sort_count", "sort_scatter", "arrange",
		"bin_starts", "pack", "map_quals", "text_sums", "name_chunks", "name_sizes", "name_streams", "streams", "count_symbols", "code_tables",
		"measure", "choose", "place_chunks", "write_plain", "write_codes", "inflate", "count_lines", "index_count",
		"index_insert", "place_select", "place", "kmer_count", "kmer_write", "kmer_groups", "kmer_first", "partners",
		"partners_large", "vote_count", "vote", "vote_poor",
		"suffix_symbols", "suffix_keys", "suffix_count", "suffix_scatter", "suffix_heads", "suffix_carry",
		"suffix_groups", "suffix_divide_count", "suffix_divide", "suffix_small", "suffix_large_keys", "suffix_starts"} {
		if !strings.Contains(rest, ".entry "+k+"(") {
			t.Errorf("block.ptx has no kernel %s", k)
		}
	}
}
