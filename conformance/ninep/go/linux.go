package main

import (
	"errors"
	"io"
	"net"
	"os"
	"path"
	"strings"

	"github.com/hugelgupf/p9/p9"
)

// linuxTree is a server seen through the 9P2000.L client of hugelgupf/p9.
type linuxTree struct {
	root p9.File
}

func mountLinux(conn net.Conn) (tree, error) {
	c, err := p9.NewClient(conn)
	if err != nil {
		return nil, err
	}
	root, err := c.Attach(*aname)
	if err != nil {
		return nil, err
	}
	return linuxTree{root}, nil
}

func (t linuxTree) walk(name string) (p9.File, error) {
	var names []string
	if name = path.Clean("/" + name); name != "/" {
		names = strings.Split(name[1:], "/")
	}
	_, f, err := t.root.Walk(names)
	return f, err
}

// with walks to a file, acts on it and clunks it.
func (t linuxTree) with(name string, act func(p9.File) error) error {
	f, err := t.walk(name)
	if err != nil {
		return err
	}
	err = act(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

func (t linuxTree) create(name string, mode uint32) (file, error) {
	dir, err := t.walk(path.Dir(name))
	if err != nil {
		return nil, err
	}
	uid, gid := p9.UID(os.Getuid()), p9.GID(os.Getgid())
	f, _, _, err := dir.Create(path.Base(name), p9.ReadWrite, p9.FileMode(mode), uid, gid)
	if err != nil {
		dir.Close()
		return nil, err
	}
	return f, nil
}

func (t linuxTree) mkdir(name string, mode uint32) error {
	return t.with(path.Dir(name), func(dir p9.File) error {
		uid, gid := p9.UID(os.Getuid()), p9.GID(os.Getgid())
		_, err := dir.Mkdir(path.Base(name), p9.FileMode(mode), uid, gid)
		return err
	})
}

func (t linuxTree) open(name string, flags openFlags) (file, error) {
	f, err := t.walk(name)
	if err != nil {
		return nil, err
	}
	mode := []p9.OpenFlags{p9.ReadOnly, p9.WriteOnly, p9.ReadWrite}[flags]
	if _, _, err = f.Open(mode); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (t linuxTree) remove(name string) error {
	was, err := t.stat(name)
	if err != nil {
		return err
	}
	var flags uint32
	if was.dir {
		flags = 0x200 // AT_REMOVEDIR
	}
	return t.with(path.Dir(name), func(dir p9.File) error {
		return dir.UnlinkAt(path.Base(name), flags)
	})
}

func (t linuxTree) rename(name, newName string) error {
	return t.with(path.Dir(name), func(dir p9.File) error {
		return dir.RenameAt(path.Base(name), dir, path.Base(newName))
	})
}

func (t linuxTree) set(name string, mask p9.SetAttrMask, attr p9.SetAttr) error {
	return t.with(name, func(f p9.File) error { return f.SetAttr(mask, attr) })
}

func (t linuxTree) chmod(name string, mode uint32) error {
	attr := p9.SetAttr{Permissions: p9.FileMode(mode)}
	return t.set(name, p9.SetAttrMask{Permissions: true}, attr)
}

func (t linuxTree) truncate(name string, length uint64) error {
	return t.set(name, p9.SetAttrMask{Size: true}, p9.SetAttr{Size: length})
}

func (t linuxTree) settime(name string, mtime int64) error {
	mask := p9.SetAttrMask{MTime: true, MTimeNotSystemTime: true}
	return t.set(name, mask, p9.SetAttr{MTimeSeconds: uint64(mtime)})
}

func (t linuxTree) stat(name string) (found info, err error) {
	err = t.with(name, func(f p9.File) error {
		qid, _, attr, err := f.GetAttr(p9.AttrMaskAll)
		found = info{
			length: attr.Size,
			mode:   uint32(attr.Mode.Permissions() & 0777),
			dir:    attr.Mode.IsDir(),
			mtime:  int64(attr.MTimeSeconds),
			path:   qid.Path,
		}
		return err
	})
	return found, err
}

func (t linuxTree) list(name string) (names []string, err error) {
	err = t.with(name, func(dir p9.File) error {
		if _, _, err := dir.Open(p9.ReadOnly); err != nil {
			return err
		}
		for offset := uint64(0); ; {
			entries, err := dir.Readdir(offset, 8192)
			if errors.Is(err, io.EOF) || err == nil && len(entries) == 0 {
				return nil
			}
			if err != nil {
				return err
			}
			for _, entry := range entries {
				offset = entry.Offset
				if entry.Name != "." && entry.Name != ".." {
					names = append(names, entry.Name)
				}
			}
		}
	})
	return names, err
}
