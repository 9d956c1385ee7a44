package main

import (
	"net"
	"path"

	"9fans.net/go/plan9"
	"9fans.net/go/plan9/client"
)

// plan9Tree is a server seen through the 9P2000 client of 9fans.net/go.
type plan9Tree struct {
	fs *client.Fsys
}

func mountPlan9(conn net.Conn) (tree, error) {
	c, err := client.NewConn(conn)
	if err != nil {
		return nil, err
	}
	fs, err := c.Attach(nil, *uname, *aname)
	if err != nil {
		return nil, err
	}
	return plan9Tree{fs}, nil
}

func (t plan9Tree) create(name string, mode uint32) (file, error) {
	return t.fs.Create(name, plan9.ORDWR, plan9.Perm(mode))
}

func (t plan9Tree) mkdir(name string, mode uint32) error {
	fid, err := t.fs.Create(name, plan9.OREAD, plan9.Perm(mode)|plan9.DMDIR)
	if err != nil {
		return err
	}
	return fid.Close()
}

func (t plan9Tree) open(name string, flags openFlags) (file, error) {
	return t.fs.Open(name, []uint8{plan9.OREAD, plan9.OWRITE, plan9.ORDWR}[flags])
}

func (t plan9Tree) remove(name string) error {
	return t.fs.Remove(name)
}

// wstat changes what set sets, and says "leave it" for all else.
func (t plan9Tree) wstat(name string, set func(*plan9.Dir)) error {
	var dir plan9.Dir
	dir.Null()
	set(&dir)
	return t.fs.Wstat(name, &dir)
}

func (t plan9Tree) rename(name, newName string) error {
	return t.wstat(name, func(dir *plan9.Dir) { dir.Name = path.Base(newName) })
}

func (t plan9Tree) chmod(name string, mode uint32) error {
	return t.wstat(name, func(dir *plan9.Dir) { dir.Mode = plan9.Perm(mode) })
}

func (t plan9Tree) truncate(name string, length uint64) error {
	return t.wstat(name, func(dir *plan9.Dir) { dir.Length = length })
}

func (t plan9Tree) settime(name string, mtime int64) error {
	return t.wstat(name, func(dir *plan9.Dir) { dir.Mtime = uint32(mtime) })
}

func (t plan9Tree) stat(name string) (info, error) {
	dir, err := t.fs.Stat(name)
	if err != nil {
		return info{}, err
	}
	return info{
		length: dir.Length,
		mode:   uint32(dir.Mode & 0777),
		dir:    dir.Mode&plan9.DMDIR != 0,
		mtime:  int64(dir.Mtime),
		path:   dir.Qid.Path,
	}, nil
}

func (t plan9Tree) list(name string) ([]string, error) {
	fid, err := t.fs.Open(name, plan9.OREAD)
	if err != nil {
		return nil, err
	}
	defer fid.Close()
	dirs, err := fid.Dirreadall()
	var names []string
	for _, dir := range dirs {
		names = append(names, dir.Name)
	}
	return names, err
}
