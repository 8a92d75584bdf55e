// Command types writes web/src/api.ts: TypeScript types of the messages, requests and responses that the scripts of the pages exchange with
// the server, generated from Go structs. Run it by go generate.
package main

import (
	"fmt"
	"os"

	"wirebench/server"
)

// target is relative to the folder of server/messages.go, in which go generate runs this command.
const target = "../web/src/api.ts"

func main() {
	said, err := commentsIn("wirebench", os.DirFS(".."), "server", "defs", "codec")
	if err == nil {
		err = os.WriteFile(target, []byte(typescript(server.Messages(), said)), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "types:", err)
		os.Exit(1)
	}
}
