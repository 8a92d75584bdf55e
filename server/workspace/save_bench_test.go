package workspace_test

import (
	"fmt"
	"testing"

	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// BenchmarkSave measures saving one definition of a library, as a shared text does every second while somebody types.
func BenchmarkSave(b *testing.B) {
	for _, n := range []int{1, 836, 19_980} {
		b.Run(fmt.Sprintf("%d files", n), func(b *testing.B) {
			files := map[string]string{}
			for i := range n {
				files[fmt.Sprintf("C_MESSAGE_%d.1.def", i)] = "uint32 id\nstring name\narray items\n- uint32 item\n- string name\n"
			}
			d, _ := workspacetest.Dir(b, files)
			home, _ := workspacetest.Dir(b, nil)
			w := workspacetest.Open(b, workspace.Config{Files: d, Home: home})
			for i := 0; b.Loop(); i++ {
				if _, err := w.Save("C_MESSAGE_0.1.def", fmt.Appendf(nil, "uint32 id%d\nstring name\n", i), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
