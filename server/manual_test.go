package server

import "testing"

func TestManual(t *testing.T) {
	run(t, testServer(t), []scenario{
		{name: "first page", method: "GET", path: "/docs", status: 200, contains: []string{"<h1", `href="/docs/filters"`, `aria-current="page">Start`}},
		{name: "page", method: "GET", path: "/docs/filters", status: 200, contains: []string{`<a href="#operators">`, `id="operators"`, `aria-current="page">Filters`}},
		{name: "search", method: "GET", path: "/docs?q=regular+expression", status: 200, contains: []string{" sections with", `href="/docs/filters#operators"`}},
		{name: "nothing found", method: "GET", path: "/docs?q=%3Cscript%3E+zyzzyva", status: 200, contains: []string{"&lt;script&gt;", "No page of the manual"}, lacks: []string{"<script> zy"}},
		{name: "no such page", method: "GET", path: "/docs/nothing", status: 404, contains: []string{"Nothing here"}},
	})
}
