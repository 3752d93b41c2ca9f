// Package gzexact describes a gzip file so that it can be made again, byte for byte, of its text.
package gzexact
