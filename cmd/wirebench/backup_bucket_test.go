package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirebench/server/objects/objectstest"
)

// TestToolBackupBucket: a data folder goes through a bucket, whole.
func TestToolBackupBucket(t *testing.T) {
	at := "?region=us-east-1&endpoint=" + url.QueryEscape(objectstest.Gateway(t))
	data, again := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "again")
	if _, errs, status := cli(t, "", "project", "list", "--data", data); status != exitOK { // fills it with samples
		t.Fatal(errs)
	}
	if _, errs, status := cli(t, "", "backup", "--data", data, "s3://kept/monday/x.tar.gz"+at); status != exitOK {
		t.Fatal(errs)
	}
	if _, errs, status := cli(t, "", "restore", "--data", again, "s3://kept/monday/x.tar.gz"+at); status != exitOK {
		t.Fatal(errs)
	}
	files := 0
	err := filepath.WalkDir(data, func(name string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || e.Name() == "wirebench.lock" {
			return err
		}
		files++
		rel, _ := filepath.Rel(data, name)
		want, _ := os.ReadFile(name)
		if got, err := os.ReadFile(filepath.Join(again, rel)); err != nil || string(got) != string(want) {
			t.Errorf("%s: %v", rel, err)
		}
		return nil
	})
	if err != nil || files < 50 {
		t.Error(files, err)
	}
	for _, place := range []string{"s3://kept/none.tar.gz" + at, "s3://kept" + at, "s3://other/x" + at} {
		if _, errs, status := cli(t, "", "restore", "--data", filepath.Join(t.TempDir(), "new"), place); status == exitOK || strings.Contains(errs, "a long secret") {
			t.Errorf("%s: %d %s", place, status, errs)
		}
	}
}
