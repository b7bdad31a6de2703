package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	machines := flag.Int("machines", 10_000, "machines that share the key; the limits shrink with them")
	seed := flag.Uint64("seed", 1, "the same seed gives the same table")
	flag.Parse()
	if *machines < 1 {
		fmt.Fprintln(os.Stderr, "sim: -machines must be 1 or more")
		os.Exit(64)
	}
	var list []outcome
	for _, sc := range scenarios() {
		list = append(list, play(sc, *machines, *seed))
	}
	fmt.Printf("%d machines, %d events and %d MiB an hour\n", *machines, *machines*(largest.events/10_000), int64(*machines)*largest.bytes/10_000>>20)
	if err := write(os.Stdout, list); err != nil {
		fmt.Fprintln(os.Stderr, "sim:", err)
		os.Exit(1)
	}
}
