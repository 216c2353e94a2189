package line

import (
	"fmt"
	"net"
	"os"
)

// samePeer returns an error unless the program at the other end of conn belongs
// to the user of this one.
func samePeer(conn *net.UnixConn) error {
	uid, err := peer(conn)
	if err != nil {
		return fmt.Errorf("who is at the other end cannot be told: %w", err)
	}
	if uid != os.Geteuid() {
		return fmt.Errorf("the other end belongs to user %d, not to this one", uid)
	}
	return nil
}
