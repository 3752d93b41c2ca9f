//go:build !unix

package bins

// Lock makes this process the only one to write an archive to dir, where the system has
// such locks; here it has not.
func Lock(dir string) (unlock func(), err error) { return func() {}, nil }

// syncDir makes the names in a directory durable, where the system has a call for it.
func syncDir(dir string) error { return nil }
