package doctor

import "golang.org/x/sys/windows"

// freeBytes is the room in a folder for an ordinary user.
func freeBytes(dir string) (free uint64, known bool) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	err = windows.GetDiskFreeSpaceEx(path, &free, nil, nil)
	return free, err == nil
}
