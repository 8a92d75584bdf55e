package live

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const canMap = true

// mapNew writes a block to a file, at the start of a page, and maps it for reading.
func mapNew(file *os.File, from int64, block []byte) ([]byte, error) {
	fd := int(file.Fd())
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil {
		return nil, err
	}
	if free := int64(fs.Bavail) * int64(fs.Bsize); free < leaveFree+int64(len(block)) {
		return nil, fmt.Errorf("only %d MiB of the disk are free", free>>20)
	}
	if _, err := file.WriteAt(block, from); err != nil {
		return nil, err
	}
	return unix.Mmap(fd, from, len(block), unix.PROT_READ, unix.MAP_SHARED)
}

// letGo takes a block out of the memory of the program; it stays in the file, and in the cache of the system. Only whole pages are taken.
func letGo(b []byte) {
	page := os.Getpagesize()
	_ = unix.Madvise(b[:len(b)/page*page], unix.MADV_DONTNEED)
}

func unmap(b []byte) { _ = unix.Munmap(b) }
