//go:build unix

package chrome

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"chaperone/backend/fault"
)

func TestMerge(t *testing.T) {
	for _, c := range []struct{ base, over, want string }{
		{``, `{"a":1}`, `{"a":1}`},
		{`not json`, `{"a":1}`, `{"a":1}`},
		{`null`, `{"a":1}`, `{"a":1}`},
		{`{"a":1,"b":12345678901234567890}`, `{"a":2}`, `{"a":2,"b":12345678901234567890}`},
		{`{"a":{"x":1,"y":{"z":1}},"c":[1]}`, `{"a":{"y":{"z":2,"w":3}},"c":[]}`, `{"a":{"x":1,"y":{"w":3,"z":2}},"c":[]}`},
		{`{"a":5}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{`{"a":{"b":1}}`, `{"a":5}`, `{"a":5}`},
	} {
		if got := string(merge([]byte(c.base), []byte(c.over))); got != c.want {
			t.Errorf("merge(%s, %s) = %s, want %s", c.base, c.over, got, c.want)
		}
	}
}

// dig returns what is at a dotted path of a JSON file.
func dig(t *testing.T, file, path string) any {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

// Our preferences are there before Chromium looks, are accepted by it, and do
// not cost what it or the person keeps there.
func TestPreferences(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "profile")
	file := filepath.Join(profile, "Default", "Preferences")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	had := `{"net":{"network_prediction_options":0},"profile":{"exit_type":"Crashed","name":"Ann"},` +
		`"intl":{"selected_languages":"fr"}}`
	if err := os.WriteFile(file, []byte(had), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := prepareProfile(profile); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		for path, want := range map[string]any{
			"net.network_prediction_options":                     2.0,
			"search.suggest_enabled":                             false,
			"incognito.mode_availability":                        1.0,
			"printing.enabled":                                   false,
			"profile.default_content_setting_values.geolocation": 2.0,
			"profile.default_content_setting_values.usb_guard":   2.0,
			"profile.exit_type":                                  "Normal",
			"profile.name":                                       "Ann",
			"intl.selected_languages":                            "fr",
			"homepage":                                           "about:blank",
			"session.restore_on_startup":                         4.0,
		} {
			if got := dig(t, file, path); got != want {
				t.Errorf("%s: %s is %v, want %v", when, path, got, want)
			}
		}
		if got := dig(t, filepath.Join(profile, "Local State"), "auth.schemes"); got != "negotiate" {
			t.Errorf("%s: the schemes of sign-ins are %v", when, got)
		}
	}
	check("before the start")
	b := launch(t, Options{Profile: profile})
	openPage(t, b, "about:blank")
	if err := b.Close(deadline(t)); err != nil {
		t.Fatal(err)
	}
	check("after a run")
	if dig(t, file, "profile.creation_time") == nil {
		t.Error("Chromium has not written its own; the run proves nothing")
	}
	if info, err := os.Stat(profile); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the profile is %v, %v", info.Mode(), err)
	}
}

// impostor runs a process that has profile on its command line, until the test ends.
func impostor(t *testing.T, profile string) int {
	t.Helper()
	cmd := exec.Command("sh", "-c", "echo up; read x", "sh", "--user-data-dir="+profile)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // it may have been killed
	})
	return cmd.Process.Pid
}

func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestProfileInUse(t *testing.T) {
	i := installed(t)
	profile := filepath.Join(realDir(t), "profile")
	b := launch(t, Options{Profile: profile})
	second, err := Launch(deadline(t), Options{Install: i, Profile: profile})
	if second != nil || !fault.Is(err, fault.BrowserLaunchFailed) || !strings.Contains(err.Error(), "in use") {
		t.Errorf("two of ours: %v", err)
	}
	if err := b.Root().Call(deadline(t), "Browser.getVersion", nil, nil); err != nil {
		t.Errorf("the first: %v", err)
	}
}

func TestSingletonLock(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	profile := realDir(t)
	user, stranger := impostor(t, profile), impostor(t, profile+"-other")
	for _, c := range []struct {
		name, lock string
		inUse      bool
	}{
		{"none", "", false},
		{"a living browser", fmt.Sprintf("%s-%d", host, user), true},
		{"a process of another profile", fmt.Sprintf("%s-%d", host, stranger), false},
		{"a dead process", host + "-4194305", false},
		{"another host", fmt.Sprintf("not-%s-%d", host, user), false},
		{"nonsense", "nonsense", false},
	} {
		lock := filepath.Join(profile, "SingletonLock")
		if c.lock != "" {
			if err := os.Symlink(c.lock, lock); err != nil {
				t.Fatal(err)
			}
		}
		err := clearSingleton(profile)
		_, left := os.Lstat(lock)
		if c.inUse {
			if !fault.Is(err, fault.BrowserLaunchFailed) || !strings.Contains(err.Error(), fmt.Sprint(user)) || left != nil {
				t.Errorf("%s: %v, lock %v", c.name, err, left)
			}
			if err := os.Remove(lock); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err != nil || !errors.Is(left, os.ErrNotExist) {
			t.Errorf("%s: %v, lock %v", c.name, err, left)
		}
	}
}

// What a killed browser left in /tmp goes with its lock; nothing else does.
func TestSingletonSocket(t *testing.T) {
	profile, tmp := realDir(t), realDir(t)
	for dir, gone := range map[string]bool{"org.chromium.Chromium.x1": true, "precious": false} {
		socket := filepath.Join(tmp, dir, "SingletonSocket")
		if err := os.Mkdir(filepath.Dir(socket), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, f := range []string{socket, filepath.Join(filepath.Dir(socket), "SingletonCookie")} {
			if err := os.WriteFile(f, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(socket, filepath.Join(profile, "SingletonSocket")); err != nil {
			t.Fatal(err)
		}
		if err := clearSingleton(profile); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(filepath.Dir(socket)); errors.Is(err, os.ErrNotExist) != gone {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// A lock of another host name would make Chromium ask in a window of its own.
func TestLaunchOverForeignLock(t *testing.T) {
	profile := realDir(t)
	if err := os.Symlink("elsewhere-1", filepath.Join(profile, "SingletonLock")); err != nil {
		t.Fatal(err)
	}
	launch(t, Options{Profile: profile})
}

const hostProfile = "CHROME_TEST_HOST_PROFILE"

// playHost is a host that launches a browser, says so and waits to be killed.
func playHost(profile string) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	i, err := Find(os.Getenv("CHAPERONE_CHROMIUM"))
	if err == nil {
		var b *Browser
		if b, err = Launch(ctx, Options{Install: i, Profile: profile}); err == nil {
			fmt.Println("pid", b.PID())
			<-b.Done()
			return
		}
	}
	fmt.Println("failed", err)
}

func TestSweepAfterKilledHost(t *testing.T) {
	installed(t)
	root := realDir(t)
	profile := filepath.Join(root, "agents", "ann", "profile")
	host := exec.Command(os.Args[0])
	host.Env = append(os.Environ(), hostProfile+"="+profile)
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscanf(out, "pid %d\n", &pid); err != nil {
		t.Fatal(err)
	}
	if ended, err := Sweep(root); len(ended) != 0 || err != nil {
		t.Errorf("a sweep while the host lives: %v, %v", ended, err)
	}
	if started, _, ok := process(pid); !ok {
		t.Fatalf("the browser %d is gone (%s)", pid, started)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := host.Wait(); err == nil {
		t.Error("the host was not killed")
	}
	nothingLeft(t, profile, pid)
	if ended, err := Sweep(root); len(ended) != 0 || err != nil {
		t.Errorf("got %v, %v", ended, err)
	}
	if _, err := os.Lstat(filepath.Join(profile, "SingletonLock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock is left: %v", err)
	}
	launch(t, Options{Profile: profile})
}

// A browser that outlived its host, as one can where nothing binds their lives, is ended.
func TestSweepEndsLeftBrowsers(t *testing.T) {
	root := realDir(t)
	mark := func(name string, pid int, started string) string {
		profile := filepath.Join(root, "agents", name, "profile")
		if err := os.MkdirAll(profile, 0o700); err != nil {
			t.Fatal(err)
		}
		if pid == 0 {
			pid = impostor(t, profile)
		}
		m, err := lockMarker(profile)
		if err != nil {
			t.Fatal(err)
		}
		if started == "" {
			started, _, _ = process(pid)
		}
		if err := errors.Join(m.write(owner{pid, started}), m.release()); err != nil {
			t.Fatal(err)
		}
		return profile
	}
	unrelated := impostor(t, filepath.Join(root, "unrelated"))
	left := mark("left", 0, "")
	mark("reused", unrelated, "") // the number now is another program's
	mark("restarted", 0, "1")     // and here another start's
	mark("dead", 4194305, "1")
	m, err := lockMarker(left)
	if err != nil {
		t.Fatal(err)
	}
	pid := m.read().PID
	if err := m.release(); err != nil {
		t.Fatal(err)
	}

	alias := filepath.Join(t.TempDir(), "alias")
	if err := os.Symlink(root, alias); err != nil {
		t.Fatal(err)
	}
	ended, err := Sweep(alias)
	if err != nil || !slices.Equal(ended, []int{pid}) {
		t.Errorf("got %v, %v; want %d", ended, err, pid)
	}
	if _, _, ok := process(pid); ok {
		t.Error("it lives")
	}
	if _, _, ok := process(unrelated); !ok {
		t.Error("an unrelated process was ended")
	}
	if ended, err := Sweep(root); len(ended) != 0 || err != nil {
		t.Errorf("a second sweep: %v, %v", ended, err)
	}
	if ended, err := Sweep(filepath.Join(root, "nowhere")); len(ended) != 0 || err != nil {
		t.Errorf("a sweep of nothing: %v, %v", ended, err)
	}
}

func TestUses(t *testing.T) {
	for _, c := range []struct {
		cmdline []string
		want    bool
	}{
		{[]string{"chromium", "--user-data-dir=/a/profile", "about:blank"}, true},
		{[]string{"chromium --no-sandbox --user-data-dir=/a/profile about:blank"}, true}, // as Chromium rewrites it
		{[]string{"chromium --user-data-dir=/a/profile"}, true},
		{[]string{"chromium --user-data-dir=/a/profile2 about:blank"}, false},
		{[]string{"chromium", "--user-data-dir=/a/profile/below"}, false},
		{[]string{"cat", "/a/profile"}, false},
		{nil, false},
	} {
		if got := uses(c.cmdline, "/a/profile"); got != c.want {
			t.Errorf("%q: %v, want %v", c.cmdline, got, c.want)
		}
	}
}
