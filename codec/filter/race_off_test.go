//go:build !race

package filter_test

const raced = false
