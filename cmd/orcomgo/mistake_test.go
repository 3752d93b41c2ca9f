package main

import (
	"testing"

	"orcomgo/cmd/orcomgo/batches"
)

func TestReadsFile(t *testing.T) {
	for _, path := range []string{
		"a.fastq", "a.fq", "a.fasta", "a.fa", "a.fna", "a.fas", "a.bam", "a.cram", "a.sam", "a.sra", "A.FASTQ.GZ", "dir/a.fq.gz", "a.b.fq.bgz",
		"a.fa.bz2", "a.fa.xz", "a.fa.zst", ".fastq", "a.fastq/",
	} {
		if !readsFile(path) {
			t.Errorf("%s is not", path)
		}
	}
	for _, path := range []string{"run", "fastq", "run.gz", "a.fastq.d", "a.fastq/run", "fa", "run.2024", "run.cdna",
		"a.fastq.gz.gz", ".", "..", "/", ""} {
		if readsFile(path) {
			t.Errorf("%s is", path)
		}
	}
}

func TestIsURL(t *testing.T) {
	for _, path := range []string{"s3://bucket/x", "https://a/b", "FTP://a", "file:///a", "s3://", "git+ssh://x"} {
		if !batches.IsURL(path) {
			t.Errorf("%s is not", path)
		}
	}
	for _, path := range []string{"a:b", "s3:/x", "./s3://x", "/a//b", "C:/x", "3s://x", "://x", "a b://c", "x"} {
		if batches.IsURL(path) {
			t.Errorf("%s is", path)
		}
	}
}
