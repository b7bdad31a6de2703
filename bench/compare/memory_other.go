//go:build !unix

package main

import "os"

// peakMemory is not to be had here.
func peakMemory(*os.ProcessState) int64 { return 0 }
