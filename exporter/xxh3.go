package exporter

import (
	"encoding/binary"
	"math/bits"
)

// xxh128 is XXH3's hash of 128 bits without a seed, for texts of 17 bytes and more:
// whatever begins with an id. Two of them make the library for it a poor bargain: that
// asks the processor for its features when a program starts, which virtual machines
// answer slowly, and a hook that only links this package would wait 0.6 ms for it. The
// tests hold this to the library.
func xxh128(s string) (hi, lo uint64) {
	in := []byte(s)
	if len(in) > 240 {
		return xxhLong(in)
	}
	n := len(in)
	a := xxhPair{lo: uint64(n) * prime64x1}
	if n <= 128 {
		for i := (n - 1) / 32; i >= 0; i-- { // from the middle to both ends
			a.mix(in[16*i:], in[n-16*i-16:], 32*i)
		}
		return a.sum(n)
	}
	for i := range n / 32 {
		switch {
		case i < 4:
			a.mix(in[32*i:], in[32*i+16:], 32*i)
		default:
			a.mix(in[32*i:], in[32*i+16:], 32*(i-4)+3)
		}
		if i == 3 {
			a.lo, a.hi = avalanche(a.lo), avalanche(a.hi)
		}
	}
	a.mix(in[n-16:], in[n-32:], 103)
	return a.sum(n)
}

const (
	prime32x1 = 0x9E3779B1
	prime32x2 = 0x85EBCA77
	prime32x3 = 0xC2B2AE3D
	prime64x1 = 0x9E3779B185EBCA87
	prime64x2 = 0xC2B2AE3D27D4EB4F
	prime64x3 = 0x165667B19E3779F9
	prime64x4 = 0x85EBCA77C2B2AE63
	prime64x5 = 0x27D4EB2F165667C5
)

// xxhKey is the algorithm's own secret.
const xxhKey = "" +
	"\xb8\xfe\x6c\x39\x23\xa4\x4b\xbe\x7c\x01\x81\x2c\xf7\x21\xad\x1c\xde\xd4\x6d\xe9\x83\x90\x97\xdb\x72\x40\xa4\xa4\xb7\xb3\x67\x1f" +
	"\xcb\x79\xe6\x4e\xcc\xc0\xe5\x78\x82\x5a\xd0\x7d\xcc\xff\x72\x21\xb8\x08\x46\x74\xf7\x43\x24\x8e\xe0\x35\x90\xe6\x81\x3a\x26\x4c" +
	"\x3c\x28\x52\xbb\x91\xc3\x00\xcb\x88\xd0\x65\x8b\x1b\x53\x2e\xa3\x71\x64\x48\x97\xa2\x0d\xf9\x4e\x38\x19\xef\x46\xa9\xde\xac\xd8" +
	"\xa8\xfa\x76\x3f\xe3\x9c\x34\x3f\xf9\xdc\xbb\xc7\xc7\x0b\x4f\x1d\x8a\x51\xe0\x4b\xcd\xb4\x59\x31\xc8\x9f\x7e\xc9\xd9\x78\x73\x64" +
	"\xea\xc5\xac\x83\x34\xd3\xeb\xc3\xc5\x81\xa0\xff\xfa\x13\x63\xeb\x17\x0d\xdd\x51\xb7\xf0\xda\x49\xd3\x16\x55\x26\x29\xd4\x68\x9e" +
	"\x2b\x16\xbe\x58\x7d\x47\xa1\xfc\x8f\xf8\xb8\xd1\x7a\xd0\x31\xce\x45\xcb\x3a\x8f\x95\x16\x04\x28\xaf\xd7\xfb\xca\xbb\x4b\x40\x7e"

// keyAt is a word of the secret.
func keyAt(i int) (word uint64) {
	for j := range 8 {
		word |= uint64(xxhKey[i+j]) << (8 * j)
	}
	return word
}

func word(in []byte, i int) uint64 { return binary.LittleEndian.Uint64(in[8*i:]) }

func folded(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

func avalanche(h uint64) uint64 {
	h = (h ^ h>>37) * 0x165667919E3779F9
	return h ^ h>>32
}

// xxhPair is the state of a text of up to 240 bytes.
type xxhPair struct{ lo, hi uint64 }

// mix takes 16 bytes of each, with the secret from key on.
func (p *xxhPair) mix(a, b []byte, key int) {
	p.lo = (p.lo + folded(word(a, 0)^keyAt(key), word(a, 1)^keyAt(key+8))) ^ (word(b, 0) + word(b, 1))
	p.hi = (p.hi + folded(word(b, 0)^keyAt(key+16), word(b, 1)^keyAt(key+24))) ^ (word(a, 0) + word(a, 1))
}

func (p *xxhPair) sum(n int) (hi, lo uint64) {
	hi = p.lo*prime64x1 + p.hi*prime64x4 + uint64(n)*prime64x2
	return -avalanche(hi), avalanche(p.lo + p.hi)
}

const (
	xxhStripe = 64
	xxhBlock  = 16 * xxhStripe
)

// xxhLanes is the state of a longer text.
type xxhLanes [8]uint64

func xxhLong(in []byte) (hi, lo uint64) {
	acc := xxhLanes{prime32x3, prime64x1, prime64x2, prime64x3, prime64x4, prime32x2, prime64x5, prime32x1}
	for at := 0; at+xxhStripe < len(in); at += xxhStripe {
		acc.take(in[at:], at%xxhBlock/8)
		if at%xxhBlock == xxhBlock-xxhStripe {
			acc.scramble()
		}
	}
	acc.take(in[len(in)-xxhStripe:], 121)
	n := uint64(len(in))
	return acc.merge(117, ^(n * prime64x2)), acc.merge(11, n*prime64x1)
}

func (acc *xxhLanes) take(in []byte, key int) {
	for i := range acc {
		v := word(in, i)
		k := v ^ keyAt(key+8*i)
		acc[i^1] += v
		acc[i] += (k & 0xffffffff) * (k >> 32)
	}
}

func (acc *xxhLanes) scramble() {
	for i, a := range acc {
		acc[i] = (a ^ a>>47 ^ keyAt(128+8*i)) * prime32x1
	}
}

func (acc *xxhLanes) merge(key int, sum uint64) uint64 {
	for i := 0; i < len(acc); i += 2 {
		sum += folded(acc[i]^keyAt(key+8*i), acc[i+1]^keyAt(key+8*i+8))
	}
	return avalanche(sum)
}
