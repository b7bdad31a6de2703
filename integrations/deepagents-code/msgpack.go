package deepagentscode

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"unicode/utf8"
)

// errPacked says that a value is not what the graph's store writes.
var errPacked = errors.New("deepagentscode: a value of the database is not MessagePack")

// maxDepth bounds how deep values lie in one another.
const maxDepth = 64

// unpack turns a value of the graph's store, MessagePack with objects in extensions, into
// JSON: an object is the list of its module, its class and what it was made of. Bytes,
// times and whatever else JSON has no word for are null.
func unpack(packed []byte) (json.RawMessage, error) {
	u := unpacker{in: packed}
	if !u.value(0) || u.bad || len(u.in) > 0 {
		return nil, errPacked
	}
	return u.out, nil
}

type unpacker struct {
	in  []byte
	out []byte
	bad bool
}

// take cuts n bytes off the input; nil where it is shorter.
func (u *unpacker) take(n int) []byte {
	if n < 0 || n > len(u.in) {
		u.bad = true
		return nil
	}
	b := u.in[:n]
	u.in = u.in[n:]
	return b
}

// uint reads a big-endian number of n bytes.
func (u *unpacker) uint(n int) uint64 {
	var b [8]byte
	copy(b[8-n:], u.take(n))
	return binary.BigEndian.Uint64(b[:])
}

// size reads a length of n bytes. What is longer than the input is bad.
func (u *unpacker) size(n int) int {
	v := u.uint(n)
	if v > uint64(len(u.in)) {
		u.bad = true
		return 0
	}
	return int(v)
}

// value renders the next value. It reports whether there was a good one.
func (u *unpacker) value(depth int) bool {
	head := u.take(1)
	if u.bad || depth > maxDepth {
		u.bad = true
		return false
	}
	switch b := head[0]; {
	case b < 0x80:
		u.out = strconv.AppendUint(u.out, uint64(b), 10)
	case b < 0x90:
		u.object(int(b&15), depth)
	case b < 0xa0:
		u.list(int(b&15), depth)
	case b < 0xc0:
		u.text(int(b & 31))
	case b >= 0xe0:
		u.out = strconv.AppendInt(u.out, int64(int8(b)), 10)
	default:
		u.tagged(b, depth)
	}
	return !u.bad
}

// tagged renders a value whose first byte is a tag of its own.
func (u *unpacker) tagged(b byte, depth int) {
	switch b {
	case 0xc0:
		u.null()
	case 0xc2:
		u.out = append(u.out, "false"...)
	case 0xc3:
		u.out = append(u.out, "true"...)
	case 0xc4, 0xc5, 0xc6:
		u.take(u.size(1 << (b - 0xc4)))
		u.null()
	case 0xc7, 0xc8, 0xc9:
		u.extension(u.size(1<<(b-0xc7)), depth)
	case 0xca:
		u.float(float64(math.Float32frombits(uint32(u.uint(4)))))
	case 0xcb:
		u.float(math.Float64frombits(u.uint(8)))
	case 0xcc, 0xcd, 0xce, 0xcf:
		u.out = strconv.AppendUint(u.out, u.uint(1<<(b-0xcc)), 10)
	case 0xd0, 0xd1, 0xd2, 0xd3:
		n := 1 << (b - 0xd0)
		u.out = strconv.AppendInt(u.out, int64(u.uint(n)<<(64-8*n))>>(64-8*n), 10)
	case 0xd4, 0xd5, 0xd6, 0xd7, 0xd8:
		u.extension(1<<(b-0xd4), depth)
	case 0xd9, 0xda, 0xdb:
		u.text(u.size(1 << (b - 0xd9)))
	case 0xdc, 0xdd:
		u.list(u.size(2<<(b-0xdc)), depth)
	case 0xde, 0xdf:
		u.object(u.size(2<<(b-0xde)), depth)
	default:
		u.bad = true
	}
}

func (u *unpacker) null() { u.out = append(u.out, "null"...) }

func (u *unpacker) float(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		u.null()
		return
	}
	u.out = strconv.AppendFloat(u.out, v, 'g', -1, 64)
}

func (u *unpacker) text(n int) {
	b := u.take(n)
	raw, err := json.Marshal(string(b))
	if err != nil || !utf8.Valid(raw) {
		u.bad = true
		return
	}
	u.out = append(u.out, raw...)
}

func (u *unpacker) list(n, depth int) {
	u.out = append(u.out, '[')
	for i := 0; i < n && !u.bad; i++ {
		if i > 0 {
			u.out = append(u.out, ',')
		}
		u.value(depth + 1)
	}
	u.out = append(u.out, ']')
}

// object renders a map. A key that is no string becomes one.
func (u *unpacker) object(n, depth int) {
	u.out = append(u.out, '{')
	for i := 0; i < n && !u.bad; i++ {
		if i > 0 {
			u.out = append(u.out, ',')
		}
		at := len(u.out)
		u.value(depth + 1)
		if key := u.out[at:]; !u.bad && key[0] != '"' {
			raw, err := json.Marshal(string(key))
			u.bad = u.bad || err != nil
			u.out = append(u.out[:at], raw...)
		}
		u.out = append(u.out, ':')
		u.value(depth + 1)
	}
	u.out = append(u.out, '}')
}

// extension renders an object of Python's: it holds MessagePack again. Those of a number
// that is not known are null.
func (u *unpacker) extension(n, depth int) {
	code := u.take(1)
	body := u.take(n)
	if u.bad {
		return
	}
	const lastObject = 5
	if code[0] > lastObject {
		u.null()
		return
	}
	inner := unpacker{in: body, out: u.out}
	if !inner.value(depth+1) || len(inner.in) > 0 {
		u.bad = true
		return
	}
	u.out = inner.out
}
