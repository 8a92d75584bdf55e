package store

import "golang.org/x/sys/windows"

// space returns the bytes available to this program on a folder's disk, and all bytes of the disk.
func space(folder string) (free, total int64, err error) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, 0, err
	}
	var available, all uint64
	err = windows.GetDiskFreeSpaceEx(name, &available, &all, nil)
	return int64(available), int64(all), err
}
