package main

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// object is one of an SPDX document, https://spdx.github.io/spdx-spec/v2.3/.
type object map[string]any

// notInIDs matches what an SPDX identifier can't have.
var notInIDs = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// writeSBOM lists the modules of a program by what the Go linker wrote into it. Nothing depends on the time: the document is created at
// the time of the commit, $SOURCE_DATE_EPOCH, or else at the beginning of 1970.
func writeSBOM(w io.Writer, program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	created, err := strconv.ParseInt(cmp.Or(os.Getenv("SOURCE_DATE_EPOCH"), "0"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: expected seconds since 1970: %w", err)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	const document, main = "SPDXRef-DOCUMENT", "SPDXRef-Package-orcomgo"
	packages := []object{{"name": "orcomgo", "SPDXID": main, "downloadLocation": "NOASSERTION", "filesAnalyzed": false,
		"packageFileName": filepath.Base(program), "checksums": []object{{"algorithm": "SHA256", "checksumValue": sum}}}}
	relationships := []object{{"spdxElementId": document, "relationshipType": "DESCRIBES", "relatedSpdxElement": main}}
	add := func(name, version, purl string) {
		id := "SPDXRef-Package-" + notInIDs.ReplaceAllString(name, "-")
		packages = append(packages, object{"name": name, "SPDXID": id, "versionInfo": version, "downloadLocation": "NOASSERTION",
			"filesAnalyzed": false,
			"externalRefs":  []object{{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}}})
		relationships = append(relationships, object{"spdxElementId": main, "relationshipType": "DEPENDS_ON", "relatedSpdxElement": id})
	}
	add("stdlib", info.GoVersion, "pkg:golang/stdlib@"+info.GoVersion)
	for _, m := range info.Deps {
		add(m.Path, m.Version, "pkg:golang/"+m.Path+"@"+m.Version)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(object{"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": document, "name": filepath.Base(program),
		"documentNamespace": "urn:orcomgo:sbom:" + sum, "packages": packages, "relationships": relationships,
		"creationInfo": object{"created": time.Unix(created, 0).UTC().Format(time.RFC3339), "creators": []string{"Tool: orcomgo-notice"}}})
}
