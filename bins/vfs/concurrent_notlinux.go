//go:build !linux

package vfs

import (
	"os"
	"sync/atomic"
)

func canMapWrites(*os.File) bool { return false }

func copyToMapping(*os.File, []byte, int64, *atomic.Bool) bool { return false }
