package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

// The parts of an SPDX document, https://spdx.github.io/spdx-spec/v2.3/.
type (
	spdxDocument struct {
		Version       string             `json:"spdxVersion"`
		DataLicense   string             `json:"dataLicense"`
		ID            string             `json:"SPDXID"`
		Name          string             `json:"name"`
		Namespace     string             `json:"documentNamespace"`
		Creation      spdxCreation       `json:"creationInfo"`
		Packages      []spdxPackage      `json:"packages"`
		Relationships []spdxRelationship `json:"relationships"`
	}
	spdxCreation struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	spdxPackage struct {
		Name         string         `json:"name"`
		ID           string         `json:"SPDXID"`
		Version      string         `json:"versionInfo,omitempty"`
		Location     string         `json:"downloadLocation"`
		Analyzed     bool           `json:"filesAnalyzed"`
		FileName     string         `json:"packageFileName,omitempty"`
		Checksums    []spdxChecksum `json:"checksums,omitempty"`
		ExternalRefs []spdxRef      `json:"externalRefs,omitempty"`
	}
	spdxChecksum struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"checksumValue"`
	}
	spdxRef struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	spdxRelationship struct {
		Element string `json:"spdxElementId"`
		Type    string `json:"relationshipType"`
		Related string `json:"relatedSpdxElement"`
	}
)

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
	created, err := commitTime(os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	const main = "SPDXRef-Package-orcomgo"
	d := spdxDocument{Version: "SPDX-2.3", DataLicense: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: filepath.Base(program),
		Namespace: "urn:orcomgo:sbom:" + sum, Creation: spdxCreation{created, []string{"Tool: orcomgo-notice"}}}
	d.Packages = []spdxPackage{{Name: "orcomgo", ID: main, Location: "NOASSERTION", FileName: filepath.Base(program),
		Checksums: []spdxChecksum{{"SHA256", sum}}}}
	d.Relationships = []spdxRelationship{{d.ID, "DESCRIBES", main}}
	add := func(name, version, purl string) {
		id := "SPDXRef-Package-" + notInIDs.ReplaceAllString(name, "-")
		d.Packages = append(d.Packages, spdxPackage{Name: name, ID: id, Version: version, Location: "NOASSERTION",
			ExternalRefs: []spdxRef{{"PACKAGE-MANAGER", "purl", purl}}})
		d.Relationships = append(d.Relationships, spdxRelationship{main, "DEPENDS_ON", id})
	}
	add("stdlib", info.GoVersion, "pkg:golang/stdlib@"+info.GoVersion)
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		add(m.Path, m.Version, "pkg:golang/"+m.Path+"@"+m.Version)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(d)
}
