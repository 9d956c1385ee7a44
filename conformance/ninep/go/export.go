package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path"
	"sort"
	"strings"
)

// exportChecks work on a read-write export, in a directory of their own.
var exportChecks = []check{
	{"mkdir", scratch(func(t tree, at string) {
		must(t.mkdir(at+"/d", 0755), "mkdir")
		found, err := t.stat(at + "/d")
		must(err, "stat")
		want(found.dir, "what mkdir made is no directory")
		refuse(t.mkdir(at+"/d", 0755), "a second mkdir")
	})},
	{"create-write-read", scratch(func(t tree, at string) {
		put(t, at+"/f", "one line\n")
		want(text(t, at+"/f") == "one line\n", "it reads back '%s'", text(t, at+"/f"))
	})},
	{"create-existing", scratch(createExisting)},
	{"offsets", scratch(offsets)},
	{"stat", scratch(func(t tree, at string) {
		put(t, at+"/f", "0123456789")
		found, err := t.stat(at + "/f")
		must(err, "stat")
		want(found.length == 10, "the length is %d, not 10", found.length)
		want(found.mode == 0644, "the mode is %o, not 644", found.mode)
		want(!found.dir, "a file is a directory")
		other, err := t.stat(at)
		must(err, "stat of the directory")
		want(found.path != other.path, "file and directory have one qid path")
	})},
	{"rename", scratch(func(t tree, at string) {
		put(t, at+"/old", "kept")
		before, err := t.stat(at + "/old")
		must(err, "stat")
		must(t.rename(at+"/old", "new"), "rename")
		want(text(t, at+"/new") == "kept", "the text is lost")
		_, err = t.stat(at + "/old")
		refuse(err, "stat of the old name")
		after, err := t.stat(at + "/new")
		must(err, "stat of the new name")
		want(before.path == after.path, "the qid path changed with the name")
	})},
	{"chmod", scratch(func(t tree, at string) {
		put(t, at+"/f", "")
		must(t.chmod(at+"/f", 0600), "chmod")
		found, err := t.stat(at + "/f")
		must(err, "stat")
		want(found.mode == 0600, "the mode is %o, not 600", found.mode)
	})},
	{"truncate", scratch(func(t tree, at string) {
		put(t, at+"/f", "0123456789")
		must(t.truncate(at+"/f", 4), "truncate")
		want(text(t, at+"/f") == "0123", "it reads back '%s'", text(t, at+"/f"))
		must(t.truncate(at+"/f", 6), "truncate upwards")
		want(text(t, at+"/f") == "0123\x00\x00", "it reads back %q", text(t, at+"/f"))
	})},
	{"settime", scratch(func(t tree, at string) {
		put(t, at+"/f", "")
		must(t.settime(at+"/f", 1000000000), "settime")
		found, err := t.stat(at + "/f")
		must(err, "stat")
		want(found.mtime == 1000000000, "the time is %d, not 1000000000", found.mtime)
	})},
	{"remove", scratch(func(t tree, at string) {
		put(t, at+"/f", "")
		must(t.remove(at+"/f"), "remove")
		_, err := t.stat(at + "/f")
		refuse(err, "stat of a removed file")
		refuse(t.remove(at+"/f"), "a second remove")
	})},
	{"remove-full-directory", scratch(func(t tree, at string) {
		must(t.mkdir(at+"/d", 0755), "mkdir")
		put(t, at+"/d/f", "")
		refuse(t.remove(at+"/d"), "removing a directory that is not empty")
		want(text(t, at+"/d/f") == "", "the file is gone")
	})},
	{"remove-open", scratch(removeOpen)},
	{"readdir", scratch(readdir)},
	{"names", scratch(names)},
	{"bad-names", scratch(badNames)},
	{"big-file", scratch(bigFile)},
	{"many-at-once", scratch(manyAtOnce)},
}

// scratch gives a check a directory of its own beneath the prefix, and removes it.
func scratch(run func(t tree, at string)) func(tree, string) {
	return func(t tree, at string) {
		dir := path.Join(at, fmt.Sprintf("go-%d-%08x", os.Getpid(), rand.Uint32()))
		must(t.mkdir(dir, 0755), "making the scratch directory")
		defer removeAll(t, dir)
		run(t, dir)
	}
}

func removeAll(t tree, name string) {
	if t.remove(name) == nil {
		return
	}
	children, _ := t.list(name)
	for _, child := range children {
		removeAll(t, name+"/"+child)
	}
	_ = t.remove(name)
}

// put makes a file with a text.
func put(t tree, name, text string) {
	f, err := t.create(name, 0644)
	must(err, "creating %s", path.Base(name))
	if text != "" {
		writeAll(f, []byte(text), 0)
	}
	must(f.Close(), "closing %s", path.Base(name))
}

func writeAll(f file, data []byte, offset int64) {
	for len(data) > 0 {
		n, err := f.WriteAt(data, offset)
		must(err, "writing at %d", offset)
		want(n > 0, "a write at %d took nothing", offset)
		data, offset = data[n:], offset+int64(n)
	}
}

// readAll reads to the end: of a file, or of what a pipe brings.
func readAll(f file) []byte {
	var all []byte
	piece := make([]byte, 32768)
	for {
		n, err := f.ReadAt(piece, int64(len(all)))
		all = append(all, piece[:n]...)
		if errors.Is(err, io.EOF) || err == nil && n == 0 {
			return all
		}
		must(err, "reading at %d", len(all))
	}
}

func contents(t tree, name string) []byte {
	f, err := t.open(name, read)
	must(err, "opening %s", path.Base(name))
	defer f.Close()
	return readAll(f)
}

func text(t tree, name string) string {
	return string(contents(t, name))
}

// In 9P2000 a create of what exists is refused; in 9P2000.L it is what open(2) does without
// O_EXCL. Neither may lose the file.
func createExisting(t tree, at string) {
	put(t, at+"/f", "kept")
	if f, err := t.create(at+"/f", 0644); err == nil {
		must(f.Close(), "closing")
	}
	want(text(t, at+"/f") == "kept", "the text is lost")
}

func offsets(t tree, at string) {
	put(t, at+"/f", "0123456789")
	f, err := t.open(at+"/f", readWrite)
	must(err, "opening")
	defer f.Close()
	writeAll(f, []byte("XY"), 4)
	piece := make([]byte, 4)
	n, err := f.ReadAt(piece, 3)
	must(err, "reading")
	want(string(piece[:n]) == "3XY6", "four bytes at 3 are '%s'", piece[:n])
	n, err = f.ReadAt(piece, 100)
	want(n == 0 && (err == nil || errors.Is(err, io.EOF)), "past the end: %d bytes, %v", n, err)
}

func removeOpen(t tree, at string) {
	put(t, at+"/f", "still here")
	f, err := t.open(at+"/f", read)
	must(err, "opening")
	defer f.Close()
	must(t.remove(at+"/f"), "remove")
	got := string(readAll(f))
	want(got == "still here", "the open file reads '%s'", got)
}

func readdir(t tree, at string) {
	var made []string
	for i := 0; i < 300; i++ {
		name := fmt.Sprintf("entry-%03d", i)
		put(t, at+"/"+name, "")
		made = append(made, name)
	}
	found, err := t.list(at)
	must(err, "listing")
	sort.Strings(found)
	want(strings.Join(found, " ") == strings.Join(made, " "),
		"%d files made, %d listed", len(made), len(found))
}

func names(t tree, at string) {
	made := []string{"a b", "Grüße", "日本語", "...", "new\nline", strings.Repeat("n", 255)}
	for _, name := range made {
		put(t, at+"/"+name, name)
		want(text(t, at+"/"+name) == name, "the file %.20q reads back otherwise", name)
	}
	found, err := t.list(at)
	must(err, "listing")
	want(len(found) == len(made), "%d files made, %d listed", len(made), len(found))
}

func badNames(t tree, at string) {
	for _, name := range []string{".", "..", strings.Repeat("n", 256)} {
		_, err := t.create(at+"/"+name, 0644)
		refuse(err, "creating %.10q", name)
	}
}

func bigFile(t tree, at string) {
	data := make([]byte, 5<<20)
	rand.New(rand.NewSource(1)).Read(data)
	f, err := t.create(at+"/f", 0644)
	must(err, "creating")
	writeAll(f, data, 0)
	must(f.Close(), "closing")
	got := contents(t, at+"/f")
	want(len(got) == len(data), "%d bytes of %d come back", len(got), len(data))
	want(sha256.Sum256(got) == sha256.Sum256(data), "the bytes differ")
}

// manyAtOnce keeps many requests of one connection in flight.
func manyAtOnce(t tree, at string) {
	failures := make(chan string)
	const workers = 16
	for worker := 0; worker < workers; worker++ {
		go func(worker int) {
			one := check{run: func(t tree, at string) {
				for round := 0; round < 20; round++ {
					name := fmt.Sprintf("%s/f-%d-%d", at, worker, round)
					data := bytes.Repeat([]byte{byte(worker)}, 3000)
					put(t, name, string(data))
					want(bytes.Equal(contents(t, name), data), "another's bytes came back")
					must(t.remove(name), "remove")
				}
			}}
			failures <- one.outcome(t, at)
		}(worker)
	}
	reason := ""
	for worker := 0; worker < workers; worker++ {
		if one := <-failures; one != "" {
			reason = one
		}
	}
	want(reason == "", "%s", reason)
}
