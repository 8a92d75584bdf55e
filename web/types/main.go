// Command types writes web/src/api/api.ts: TypeScript types of the messages, requests and responses that the scripts of the pages exchange with
// the server, generated from Go structs; and web/src/api/operations.ts: the operations of the HTTP API, from their table. Run it by go generate.
package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"

	"wirebench/server"
	"wirebench/server/api"
)

// Files that are written, relative to the folder of server/messages.go, in which go generate runs this command.
const (
	types      = "../web/src/api/api.ts"
	operations = "../web/src/api/operations.ts"
)

func main() {
	said, err := commentsIn("wirebench", os.DirFS(".."), "server", "defs", "codec")
	if err == nil {
		w := newWriter(said)
		for _, v := range server.Messages() {
			w.name(reflect.TypeOf(v))
			w.structs()
		}
		called := w.operations(new(api.Client).Groups())
		w.structs()
		err = errors.Join(os.WriteFile(types, []byte(w.String()), 0o644), os.WriteFile(operations, []byte(called), 0o644))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "types:", err)
		os.Exit(1)
	}
}
