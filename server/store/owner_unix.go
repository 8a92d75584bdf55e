//go:build unix

package store

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a new file the owner of the file that it replaces, where permitted: a server that runs as root must not take files away
// from the users who edit them with other programs.
func keepOwner(f *os.File, was fs.FileInfo) {
	if stat, ok := was.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(stat.Uid), int(stat.Gid))
	}
}
