package flows

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirebench/server"
	"wirebench/server/access"
	"wirebench/server/servertest"
)

// servedFolder is the folder of definitions that TestFlowRandomServer serves.
const servedFolder = "WIREBENCH_RANDOM_FOLDER"

// accountsFile stores accounts in a file.
type accountsFile string

func (name accountsFile) Read() ([]byte, error) {
	text, err := os.ReadFile(string(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

func (name accountsFile) Write(text []byte) error {
	if err := os.WriteFile(string(name)+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(string(name)+".new", string(name))
}

// accountsOf returns the accounts of the people of a folder of definitions.
func accountsOf(t *testing.T, dir string) *access.Accounts {
	t.Helper()
	all, err := access.OpenAccounts(accountsFile(filepath.Join(filepath.Dir(dir), "accounts.json")))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestFlowRandomServer is the process that TestFlowRandom kills: a server, at the address that it prints, until its input ends.
func TestFlowRandomServer(t *testing.T) {
	dir := os.Getenv(servedFolder)
	if dir == "" {
		t.Skip("it is started by TestFlowRandom")
	}
	ws := servertest.OpenWorkspace(t, dir, nil)
	s := newServer(t, server.Config{Projects: servertest.Fixed(t, ws), Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})), Door: access.NewDoor(access.Config{Accounts: accountsOf(t, dir)})})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/reload" {
			s.ServeHTTP(w, r)
		} else if err := ws.Reload(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	fmt.Println("serving " + srv.URL)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// served is a server in a process of its own.
type served struct {
	*httputil.ReverseProxy // its requests, as if they came to this process
	cmd                    *exec.Cmd
	input                  io.Closer
	address                string
}

// startServed starts a server of a folder of definitions, which runs until kill. It writes to a log.
func startServed(t *testing.T, dir string, log io.Writer) *served {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestFlowRandomServer$")
	cmd.Env = append(os.Environ(), servedFolder+"="+dir)
	cmd.Stderr = log
	input, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &served{cmd: cmd, input: input}
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "serving ")
	to, wrong := url.Parse(address)
	if err := errors.Join(err, wrong); err != nil || !ok {
		t.Fatalf("the server says %q: %v", line, err)
	}
	s.address = address
	s.ReverseProxy = &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	return s
}

// kill ends the process as a loss of power does, except that the files have what was written.
func (s *served) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // also after an earlier kill
	_ = s.input.Close()
}

// reload tells the server that another program has written a file.
func (s *served) reload(t *testing.T) {
	t.Helper()
	answer, err := http.Get(s.address + "/reload")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != 200 {
		t.Fatal(answer.Status)
	}
}

// killAfterWrite kills the server once a file is written, and some time has passed; after two seconds in any case.
func (s *served) killAfterWrite(file string, pause time.Duration) (done chan struct{}) {
	state := func() string {
		info, err := os.Stat(file)
		if err != nil {
			return ""
		}
		return fmt.Sprint(info.ModTime().UnixNano(), info.Size())
	}
	before := state()
	done = make(chan struct{})
	go func() {
		defer close(done)
		for end := time.Now().Add(2 * time.Second); state() == before && time.Now().Before(end); {
			time.Sleep(100 * time.Microsecond)
		}
		time.Sleep(pause)
		s.kill()
	}()
	return done
}
