package relay

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ownerOf is the pid of the process that has a connection from client to server; 0:
// it cannot be known. See proc_pid_net(5): the table of sockets has their inodes, the
// processes' descriptors lead to those.
func ownerOf(client, server *net.TCPAddr) int {
	inode := ""
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		if inode == "" {
			inode = inodeOf(table, client.Port, server.Port)
		}
	}
	if inode == "" || inode == "0" {
		return 0
	}
	link := "socket:[" + inode + "]"
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0
	}
	for _, dir := range processes {
		descriptors, err := os.ReadDir(dir + "/fd") // of other users' it fails
		if err != nil {
			continue
		}
		for _, each := range descriptors {
			if to, err := os.Readlink(dir + "/fd/" + each.Name()); err == nil && to == link {
				pid, _ := strconv.Atoi(filepath.Base(dir))
				return pid
			}
		}
	}
	return 0
}

// inodeOf finds the socket that the client of a connection on loopback has. Two
// connections between the same two ports differ in the addresses of loopback alone,
// and of those both ends are on this machine.
func inodeOf(table string, client, server int) string {
	raw, err := os.ReadFile(table)
	if err != nil {
		return ""
	}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) > 9 && portOf(fields[1]) == client && portOf(fields[2]) == server {
			return fields[9]
		}
	}
	return ""
}

// portOf reads the port of an address such as 0100007F:1F90.
func portOf(address string) int {
	_, port, found := strings.Cut(address, ":")
	raw, err := hex.DecodeString(port)
	if !found || err != nil || len(raw) != 2 {
		return -1
	}
	return int(raw[0])<<8 | int(raw[1])
}
