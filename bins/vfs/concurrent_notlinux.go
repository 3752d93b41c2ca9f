//go:build !linux

package vfs

import "os"

func canMapWrites(*os.File) bool { return false }

func copyToMapping(*os.File, []byte, int64, *largeWrites) bool { return false }
