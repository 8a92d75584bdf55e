package flows

import (
	"testing"

	"wirebench/server"
	"wirebench/server/projects"
	"wirebench/server/servertest"
	"wirebench/server/workspace"
)

// newServer starts a server, until the test ends.
func newServer(t testing.TB, c server.Config) *server.Server {
	t.Helper()
	c.Version = "test"
	s, err := server.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func serverOf(t testing.TB, w *workspace.Workspace) *server.Server {
	t.Helper()
	return newServer(t, server.Config{Projects: servertest.Fixed(t, w), GitRemote: "origin"})
}

// serverOfFiles has one workspace of files in a directory.
func testServerOf(t testing.TB, files map[string]string) (s *server.Server, dir string) {
	t.Helper()
	dir = servertest.WriteFiles(t, files)
	return serverOf(t, servertest.OpenWorkspace(t, dir, nil)), dir
}

// captureServer has a workspace "one" that stores captures.
func captureServer(t testing.TB, dialect string, files map[string]string, stored ...string) *server.Server {
	t.Helper()
	return serverOf(t, servertest.CaptureWorkspace(t, dialect, files, stored...))
}

// projectServer has a data folder.
func projectServer(t testing.TB, data string, o projects.Options) *server.Server {
	t.Helper()
	return newServer(t, server.Config{Projects: servertest.OpenProjects(t, data, o)})
}
