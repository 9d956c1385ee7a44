// Client drives a 9P server through two client libraries that nobody here wrote:
// 9fans.net/go for 9P2000 and hugelgupf/p9 for 9P2000.L.
//
//	client [FLAGS] export ADDR [PREFIX]   file checks in a directory it makes and removes
//	client [FLAGS] xcpu ADDR [PREFIX]     jobs through the XCPU tree whose `clone` is in PREFIX
//
// It prints `ok NAME` or `FAIL NAME: reason` for each check and exits 1 if any failed.
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// info is what both dialects can tell of a file.
type info struct {
	length uint64
	mode   uint32 // permission bits
	dir    bool
	mtime  int64
	path   uint64 // identity: the path of the qid
}

// file is an open file; a read of 0 bytes at its end is io.EOF.
type file interface {
	ReadAt(p []byte, offset int64) (int, error)
	WriteAt(p []byte, offset int64) (int, error)
	Close() error
}

// tree is a mounted server. Paths are relative to its root, without a leading slash.
type tree interface {
	create(path string, mode uint32) (file, error) // for reading and writing
	mkdir(path string, mode uint32) error
	open(path string, flags openFlags) (file, error)
	remove(path string) error
	rename(path, newName string) error // within its directory
	stat(path string) (info, error)
	list(path string) ([]string, error)
	chmod(path string, mode uint32) error
	truncate(path string, length uint64) error
	settime(path string, mtime int64) error
}

type openFlags int

const (
	read openFlags = iota
	write
	readWrite
)

var (
	dialect  = flag.String("dialect", "both", "9p2000, 9p2000.L or both")
	aname    = flag.String("aname", "", "tree to attach to")
	uname    = flag.String("uname", "root", "user to attach as (9p2000 only)")
	program  = flag.String("prog", "", "program that xcpu uploads; must be a busybox")
	deadline = flag.Duration("deadline", time.Minute, "time for all checks of a dialect")
)

// dial takes unix!/path, /path, tcp!host!port or host:port.
func dial(addr string) (net.Conn, error) {
	network, where := "tcp", addr
	switch {
	case strings.HasPrefix(addr, "unix!"):
		network, where = "unix", strings.TrimPrefix(addr, "unix!")
	case strings.HasPrefix(addr, "/"):
		network = "unix"
	case strings.HasPrefix(addr, "tcp!"):
		where = strings.Replace(strings.TrimPrefix(addr, "tcp!"), "!", ":", 1)
	}
	return net.DialTimeout(network, where, 5*time.Second)
}

// check is one named line of the result; it fails by panicking with a failure.
type check struct {
	name string
	run  func(t tree, at string)
}

type failure string

// must panics with what was tried when err says that it failed.
func must(err error, format string, args ...any) {
	if err != nil {
		panic(failure(fmt.Sprintf(format, args...) + ": " + err.Error()))
	}
}

// want panics unless the condition holds.
func want(condition bool, format string, args ...any) {
	if !condition {
		panic(failure(fmt.Sprintf(format, args...)))
	}
}

// refuse panics when something that is wrong was done all the same.
func refuse(err error, format string, args ...any) {
	want(err != nil, format+" was not refused", args...)
}

func (c check) outcome(t tree, at string) (reason string) {
	defer func() {
		if caught := recover(); caught != nil {
			f, expected := caught.(failure)
			if !expected {
				panic(caught)
			}
			reason = string(f)
		}
	}()
	c.run(t, at)
	return ""
}

// watch ends the program when a check of this dialect outlives the deadline.
func watch(label string, now *string) *time.Timer {
	return time.AfterFunc(*deadline, func() {
		fmt.Printf("FAIL %s %s: no end after %v\n", label, *now, *deadline)
		os.Exit(1)
	})
}

// drive runs the checks in order; at is the prefix that they work beneath.
func drive(label string, t tree, at string, checks []check) (failed bool) {
	now := ""
	timer := watch(label, &now)
	defer timer.Stop()
	for _, c := range checks {
		now = c.name
		if reason := c.outcome(t, at); reason != "" {
			fmt.Printf("FAIL %s %s: %s\n", label, c.name, reason)
			failed = true
		} else {
			fmt.Printf("ok %s %s\n", label, c.name)
		}
	}
	return failed
}

func fail(status int, format string, args ...any) {
	fmt.Fprintf(os.Stderr, "client: "+format+"\n", args...)
	os.Exit(status)
}

func main() {
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: client [FLAGS] export|xcpu ADDR [PREFIX]")
		flag.PrintDefaults()
	}
	flag.Parse()
	verb, addr, prefix := flag.Arg(0), flag.Arg(1), strings.Trim(flag.Arg(2), "/")
	var checks []check
	switch verb {
	case "export":
		checks = exportChecks
	case "xcpu":
		checks = xcpuChecks
		if *program == "" {
			fail(2, "xcpu needs -prog FILE, a program to upload.")
		}
	}
	if checks == nil || addr == "" {
		flag.Usage()
		os.Exit(2)
	}
	dialects := []string{*dialect}
	if *dialect == "both" {
		dialects = []string{"9p2000", "9p2000.L"}
	}
	mounts := map[string]func(net.Conn) (tree, error){"9p2000": mountPlan9, "9p2000.L": mountLinux}
	failed := false
	for _, name := range dialects {
		mount := mounts[name]
		if mount == nil {
			fail(2, "there is no client for the dialect '%s'.", name)
		}
		conn, err := dial(addr)
		if err != nil {
			fail(1, "no server listens at %s: %v.", addr, err)
		}
		now := "mount"
		timer := watch(name, &now)
		t, err := mount(conn)
		timer.Stop()
		if err != nil {
			fmt.Printf("FAIL %s mount: %v\n", name, err)
			failed = true
			continue
		}
		failed = drive(name, t, prefix, checks) || failed
		conn.Close()
	}
	if failed {
		os.Exit(1)
	}
}
