//go:build linux || darwin

package store

import "golang.org/x/sys/unix"

// space returns the bytes available to this program on a folder's disk, and all bytes of the disk.
func space(folder string) (free, total int64, err error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(folder, &fs); err != nil {
		return 0, 0, err
	}
	return int64(fs.Bavail) * int64(fs.Bsize), int64(fs.Blocks) * int64(fs.Bsize), nil
}
