package redact

import (
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// hostile are texts that, repeated, are nothing but beginnings.
func hostile() []string {
	units := []string{
		"password=a(", "password='", "password=\"\\", "password: \"the ", "[redacted:password=", "token = a.b,", "passwords=[\"a\",", "secret:{value:",
		"https://", "a://b:", "a://b", "a://b@", "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "authorization:", "authorization: bearer ", "bearer a",
		"bearer bearer", "curl -u ", " -u a:b", "mysql -p", " -paaaaa1", "login a password ", "\"--token\",", "\"api_key\",\"value\":", "secret-",
		"api api api key", "\\u001b", "eyJ-", "key-" + hex32[:24], "eyJhbGciOi.", strings.Repeat("eyJ-", 2000) + "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkw" + " ", "password=xxxxxxxx ", "${x}password=${", "token=([", "pass=1", "auth=",
		"token==b1 ", "[", "{\"password\":", "[\"-u\",", "12345678",
	}
	for _, k := range newFull().words[1:] {
		units = append(units, k.text+"-a")
	}
	return units
}

// Eight times the text takes eight times the time, not sixty-four.
func TestTheTimeGrowsNoFasterThanTheSize(t *testing.T) {
	const size, times, allowed = maxToken, 8, 5 * 8
	passes := map[string]func(string){
		"Text": func(s string) { Text(s) },
		"JSON": func(s string) {
			_, _ = JSON([]byte(s)) // as far as it is JSON
			_, _ = JSON(runtypes.AppendText(nil, s))
		},
	}
	for _, unit := range hostile() {
		for name, pass := range passes {
			small := strings.Repeat(unit, max(1, size/len(unit)))
			big := strings.Repeat(small, times)
			pass(small) // compiles the rules
			short, long := time.Hour, time.Hour
			for range 20 { // a busy machine is slow at times, not always
				short, long = min(short, elapsed(pass, small)), min(long, elapsed(pass, big))
				if long <= allowed*short {
					break
				}
			}
			if long > allowed*short {
				t.Errorf("%s of %q: %d times the text takes %d times as long", name, unit, times, long/short)
			}
		}
	}
}

func TestNoTextTakesMuchLongerThanAnother(t *testing.T) {
	plain := strings.Repeat(page, (16<<10)/len(page))
	const allowed = 400 // a page takes some 15 ns a byte; what had no bound took 50000
	for _, unit := range hostile() {
		text := strings.Repeat(unit, max(1, len(plain)/len(unit)))
		usual, worst := time.Hour, time.Hour
		for range 20 {
			usual, worst = min(usual, elapsed(func(s string) { Text(s) }, plain)), min(worst, elapsed(func(s string) { Text(s) }, text))
			if worst <= allowed*usual {
				break
			}
		}
		if worst > allowed*usual {
			t.Errorf("%q takes %d times as long as a page", unit, worst/usual)
		}
	}
}

// BenchmarkHostile shows the slowest texts there are.
func BenchmarkHostile(b *testing.B) {
	for _, unit := range []string{"key-", "auth=", "eyJ-", "token=([", "authorization:", "password=a(", " -paaaaa1"} {
		text := strings.Repeat(unit, (256<<10)/len(unit))
		b.Run(unit, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Text(text)
			}
		})
	}
}
