package main

import (
	"os"
	"strings"
)

// fixLocale gives the process a real locale when it has none, or the C locale.
// WebKitGTK would report navigator.language as "C", on which every Intl
// constructor throws and the window stays white. It must run before GTK starts.
func fixLocale() {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LC_CTYPE", "LANG"} {
		value := os.Getenv(name)
		language, _, _ := strings.Cut(strings.ToUpper(value), ".")
		switch language {
		case "":
		case "C", "POSIX":
			os.Unsetenv(name)
		default:
			return
		}
	}
	os.Setenv("LANG", "en_US.UTF-8")
}
