package live

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const canMap = true

// mapNew extends a file and maps its new part. The blocks are allocated before: a full disk is an error here, not a signal at the first
// write.
func mapNew(file *os.File, from int64, size int) ([]byte, error) {
	fd := int(file.Fd())
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil {
		return nil, err
	}
	if free := int64(fs.Bavail) * int64(fs.Bsize); free < leaveFree+int64(size) {
		return nil, fmt.Errorf("only %d MiB of the disk are free", free>>20)
	}
	if err := unix.Fallocate(fd, 0, from, int64(size)); err != nil {
		if errors.Is(err, unix.EOPNOTSUPP) {
			return nil, errors.New("the file system of the data directory cannot reserve space")
		}
		return nil, err
	}
	return unix.Mmap(fd, from, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// letGo takes a block out of the memory of the program; it stays in the file, and in the cache of the system. Only whole pages are taken.
func letGo(b []byte) {
	page := os.Getpagesize()
	_ = unix.Madvise(b[:len(b)/page*page], unix.MADV_DONTNEED)
}

func unmap(b []byte) { _ = unix.Munmap(b) }
