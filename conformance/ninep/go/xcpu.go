package main

import (
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"time"
)

// xcpuChecks run jobs through the files of an XCPU tree. The program of -prog is a busybox, so
// the first word of argv chooses what it does.
var xcpuChecks = []check{
	{"tree", func(t tree, at string) {
		s := open(t, at)
		defer s.end()
		names, err := t.list(s.at)
		must(err, "listing the session")
		listed := " " + strings.Join(names, " ") + " "
		for _, name := range strings.Fields("ctl argv env stdin stdio stdout stderr wait id fs") {
			want(strings.Contains(listed, " "+name+" "), "the session has no %s", name)
		}
		want(text(t, s.in("id")) != "", "id is empty")
	}},
	{"cat", catJob},
	{"status-and-stderr", func(t tree, at string) {
		s := open(t, at)
		defer s.end()
		s.start("busybox sh -c 'echo out; echo err >&2; exit 3'")
		want(text(t, s.in("stdout")) == "out\n", "stdout is not 'out'")
		want(text(t, s.in("stderr")) == "err\n", "stderr is not 'err'")
		s.ends("768")
	}},
	{"environment", func(t tree, at string) {
		s := open(t, at)
		defer s.end()
		// A session starts with the node's environment; this writes a new one over it.
		must(t.truncate(s.in("env"), 0), "cutting env")
		s.put("env", "GREETING='hello, world'\n")
		s.start("busybox sh -c 'echo $GREETING'")
		got := text(t, s.in("stdout"))
		want(got == "hello, world\n", "stdout is '%s'", got)
	}},
	{"signal", func(t tree, at string) {
		s := open(t, at)
		defer s.end()
		s.start("busybox sleep 100")
		s.put("ctl", "signal TERM\n")
		s.ends("15")
	}},
	{"partial-line", partialLine},
	{"refusals", func(t tree, at string) {
		s := open(t, at)
		defer s.end()
		for _, line := range []string{"nonsense", "exec missing", "signal NOSUCH"} {
			refuse(s.write("ctl", line+"\n"), "ctl '%s'", line)
		}
		_, err := t.stat(s.at)
		must(err, "stat of the session after refusals")
	}},
	{"parked-reads", parkedReads},
	{"stream", stream},
	{"by-hand", func(t tree, at string) {
		s := open(t, at)
		s.end() // nobody has entered it: as after `cat clone`, it stays a while
		for i := 0; i < 2; i++ {
			_, err := t.stat(s.in("ctl"))
			must(err, "stat in the session")
			time.Sleep(300 * time.Millisecond)
		}
		s.start("busybox echo by hand")
		want(text(t, s.in("stdout")) == "by hand\n", "stdout is not 'by hand'")
		s.ends("0")
		s.put("ctl", "wipe\n")
		_, err := t.stat(s.at)
		refuse(err, "stat of the session after wipe")
	}},
	{"end", func(t tree, at string) {
		s := open(t, at)
		_, err := t.stat(s.at)
		must(err, "stat of the session")
		s.end()
		for tries := 0; ; tries++ {
			if _, err := t.stat(s.at); err != nil {
				return
			}
			want(tries < 50, "the session is still there, with all its files closed")
			time.Sleep(100 * time.Millisecond)
		}
	}},
}

// session is one open of clone; it lives while clone, or anything in it, is open.
type session struct {
	t     tree
	clone file
	at    string
}

func open(t tree, at string) session {
	clone, err := t.open(strings.TrimPrefix(at+"/clone", "/"), read)
	must(err, "opening clone")
	id := string(readAll(clone))
	_, err = strconv.ParseUint(id, 10, 64)
	must(err, "clone's answer")
	return session{t, clone, strings.TrimPrefix(at+"/"+id, "/")}
}

func (s session) in(name string) string {
	return s.at + "/" + name
}

func (s session) end() {
	must(s.clone.Close(), "closing clone")
}

func (s session) write(name, line string) error {
	f, err := s.t.open(s.in(name), write)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(line), 0)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

func (s session) put(name, line string) {
	must(s.write(name, line), "writing '%s' to %s", strings.TrimSpace(line), name)
}

// start uploads the program, sets argv and runs it.
func (s session) start(argv string) {
	bytes, err := os.ReadFile(*program)
	must(err, "the program to upload")
	f, err := s.t.create(s.in("fs/busybox"), 0755)
	must(err, "creating the program in fs/")
	writeAll(f, bytes, 0)
	must(f.Close(), "closing the program in fs/")
	s.put("argv", argv+"\n")
	s.put("ctl", "exec busybox\n")
}

// ends reads wait, which answers when the job has ended.
func (s session) ends(status string) {
	got := strings.TrimSpace(text(s.t, s.in("wait")))
	want(got == status, "wait says '%s', not '%s'", got, status)
}

func catJob(t tree, at string) {
	s := open(t, at)
	defer s.end()
	s.start("busybox cat")
	stdin, err := t.open(s.in("stdin"), write)
	must(err, "opening stdin")
	writeAll(stdin, []byte("fed through a file\n"), 0)
	writeAll(stdin, []byte("and a second time\n"), 19)
	s.put("ctl", "close stdin\n")
	got := text(t, s.in("stdout"))
	want(got == "fed through a file\nand a second time\n", "stdout is '%s'", got)
	must(stdin.Close(), "closing stdin")
	s.ends("0")
}

// partialLine shows that ctl collects bytes until the newline.
func partialLine(t tree, at string) {
	s := open(t, at)
	defer s.end()
	s.start("busybox sleep 100")
	ctl, err := t.open(s.in("ctl"), write)
	must(err, "opening ctl")
	offset := int64(0)
	for _, piece := range []string{"sig", "nal KI", "LL\n"} {
		writeAll(ctl, []byte(piece), offset)
		offset += int64(len(piece))
	}
	must(ctl.Close(), "closing ctl")
	s.ends("9")
}

// parkedReads has reads of stdout and wait in flight before there is anything to answer; other
// requests of the same connection must pass them.
func parkedReads(t tree, at string) {
	s := open(t, at)
	defer s.end()
	s.start("busybox cat")
	outcomes := make(chan string, 2)
	for _, expected := range [][2]string{{"stdout", "late"}, {"wait", "0"}} {
		go func(name, expected string) {
			outcomes <- check{run: func(t tree, _ string) {
				got := text(t, s.in(name))
				want(got == expected, "%s is '%s', not '%s'", name, got, expected)
			}}.outcome(t, "")
		}(expected[0], expected[1])
	}
	time.Sleep(300 * time.Millisecond)
	for i := 0; i < 20; i++ {
		_, err := t.stat(s.in("ctl"))
		must(err, "stat beside a parked read")
	}
	want(len(outcomes) == 0, "a read was answered before there was anything to read")
	s.put("stdin", "late")
	s.put("ctl", "close stdin\n")
	for i := 0; i < 2; i++ {
		reason := <-outcomes
		want(reason == "", "%s", reason)
	}
}

// stream sends 4 MiB through a process, written and read at the same time.
func stream(t tree, at string) {
	s := open(t, at)
	defer s.end()
	s.start("busybox cat")
	data := make([]byte, 4<<20)
	rand.New(rand.NewSource(2)).Read(data)
	fed := make(chan string, 1)
	go func() {
		fed <- check{run: func(t tree, _ string) {
			stdin, err := t.open(s.in("stdin"), write)
			must(err, "opening stdin")
			writeAll(stdin, data, 0)
			must(stdin.Close(), "closing stdin")
			s.put("ctl", "close stdin\n")
		}}.outcome(t, "")
	}()
	got := text(t, s.in("stdout"))
	reason := <-fed
	want(reason == "", "%s", reason)
	want(len(got) == len(data), "%d bytes of %d come back", len(got), len(data))
	want(got == string(data), "the bytes differ")
	s.ends(fmt.Sprint(0))
}
