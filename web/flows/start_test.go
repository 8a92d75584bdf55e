package flows

import (
	"context"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"wirebench/server"
	"wirebench/server/projects"
	"wirebench/server/relay"
	"wirebench/server/servertest"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
	"wirebench/web/browsertest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Main(m)) }

// Servers, which run until the test ends.

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

// serverOf has one project, from whose remote definitions can be pulled.
func serverOf(t testing.TB, w *workspace.Workspace) *server.Server {
	t.Helper()
	return newServer(t, server.Config{Projects: servertest.Fixed(t, w), GitRemote: "origin"})
}

// filesServer has a project "one" of files in a folder.
func filesServer(t testing.TB, files map[string]string) (s *server.Server, dir string) {
	t.Helper()
	dir = servertest.WriteFiles(t, files)
	return serverOf(t, servertest.OpenWorkspace(t, dir, nil)), dir
}

// captureServer has a project "one" that stores captures.
func captureServer(t testing.TB, dialect string, files map[string]string) *server.Server {
	t.Helper()
	return serverOf(t, servertest.CaptureWorkspace(t, dialect, files))
}

// demoServer has a project "one" with a demo game.
func demoServer(t testing.TB, demo func(context.Context, string) (*relay.Game, error)) *server.Server {
	t.Helper()
	w := servertest.CaptureWorkspace(t, "muta", map[string]string{"game.def": servertest.PingText})
	return newServer(t, server.Config{Projects: servertest.Fixed(t, w), Demo: demo})
}

// projectServer has the projects of a data folder.
func projectServer(t testing.TB, data string, o projects.Options) *server.Server {
	t.Helper()
	return newServer(t, server.Config{Projects: servertest.OpenProjects(t, data, o)})
}

// serve gives a server an address.
func serve(t testing.TB, s *server.Server) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); srv.Close() })
	return srv
}

// Pages.

const (
	listText  = "# who\narray members\n- uint32 id\n- string name\n\nuint16 flags\n"
	joinHex   = "12000100080039304c0061006e006e000000"
	wideText  = "uint64 big\nbool flag\nfloat speed\n"
	wideHex   = "11000300" + "0100000000000080" + "01" + "0000c03f"
	codesText = "C_JOIN 1\nC_LIST 2\nC_WIDE 3\nC_NOBODY 9\n"
)

// listBytes has two members, "A" and "BC", and flags 5.
const listBytes = "2e000200" + "0200" + "0a00" + "0500" +
	"0a00" + "1800" + "1400" + "07000000" + "41000000" +
	"1800" + "0000" + "2200" + "08000000" + "420043000000" + "00000000" + "0000"

// flowFiles are a few definitions, for pages on which it does not matter which.
func flowFiles() map[string]string {
	return map[string]string{
		"C_JOIN.1.def": servertest.JoinText, "C_LIST.1.def": listText, "C_WIDE.1.def": wideText, "protocol.1.map": codesText,
		"C_JOIN.1.samples.jsonl": `{"message":"C_JOIN.1","hex":"` + joinHex + `","about":"a text"}` + "\n",
	}
}

// begin opens the page of a project of files.
func begin(t *testing.T, files map[string]string, address string) (f flow, srv *httptest.Server, dir string) {
	t.Helper()
	s, dir := filesServer(t, files)
	srv = serve(t, s)
	return flow{t, browsertest.Open(t, srv.URL+address, openSelector)}, srv, dir
}

// beginAs is begin in a project of another dialect.
func beginAs(t *testing.T, dialect string, files map[string]string, address string) (f flow, dir string) {
	t.Helper()
	d, dir := workspacetest.Dir(t, files)
	home, _ := workspacetest.Dir(t, nil)
	srv := serve(t, serverOf(t, workspacetest.Open(t, workspace.Config{Dialect: dialect, Files: d, Home: home})))
	return flow{t, browsertest.OpenAllowing(t, srv.URL+address, openSelector, regexp.MustCompile(`status of 422`))}, dir
}

// captureFlow is the page of a capture in a browser.
type captureFlow struct {
	flow
	s *server.Server
}

// beginCapture opens the page of a capture of the first dialect; rest is appended to its address. The browser may complain as the expressions
// allow.
func beginCapture(t *testing.T, files map[string]string, data []byte, rest string, allowed ...string) captureFlow {
	t.Helper()
	return beginFrame(t, "tera", files, data, rest, allowed...)
}

// beginFrame is beginCapture in a project of any dialect.
func beginFrame(t *testing.T, dialect string, files map[string]string, data []byte, rest string, allowed ...string) captureFlow {
	t.Helper()
	s := captureServer(t, dialect, files)
	id := servertest.Keep(t, s, "chat.pcapng", data).ID
	// Leaving a page while the server closes its list is not an error of the page.
	complaints := regexp.MustCompile(strings.Join(append(allowed, "Close received after close"), "|"))
	return captureFlow{flow{t, browsertest.OpenAllowing(t, serve(t, s).URL+"/p/one/captures/"+id+rest, openSelector, complaints)}, s}
}
