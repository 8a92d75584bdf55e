package store

import "fmt"

// Reserve of the disk, which recordings leave for definitions, notes and settings.
const (
	reserveBytes = 64 << 20
	reservePart  = 20 // of the disk: the reserve is at most a 20th
)

// Room returns an error if a folder's disk has no room for a recording, apart from a reserve of 64 MiB, or a 20th of a small disk. With
// resume it demands twice the reserve, so that a recording does not pause again at once. Where the free space is unknown, it returns nil.
func Room(folder string, resume bool) error {
	free, total, err := space(folder)
	if err != nil || total == 0 {
		return nil
	}
	reserve := min(reserveBytes, total/reservePart)
	needed := reserve
	if resume {
		needed *= 2
	}
	if free < needed {
		return fmt.Errorf("no space left on the disk but a reserve of %s", megabytes(reserve))
	}
	return nil
}

func megabytes(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// Space returns the bytes of a folder's disk that this program may still write, and all of them; an error where that is unknown.
func Space(folder string) (free, total int64, err error) { return space(folder) }
