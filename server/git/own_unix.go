//go:build unix

package git

import (
	"os/exec"
	"syscall"
)

// own puts git into a process group of its own, so that what it has started ends with it.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
