package browser

import (
	"context"

	"chaperone/backend/action"
	"chaperone/backend/ids"
	"chaperone/backend/page"
)

// Found is what a search in the page came to.
type Found struct {
	Matches []page.Match `json:"matches"`
	Total   int          `json:"total" jsonschema:"how many there are; at most 20 are listed"`
	TabID   ids.Tab      `json:"tabId"`
	// Pending and Dialog say why the page could not be searched now.
	Pending *PendingApproval `json:"pendingApproval,omitempty" jsonschema:"a navigation that waits for the person"`
	Dialog  *Dialog          `json:"dialog,omitempty" jsonschema:"a dialog that is open: answer it with handle_dialog"`
}

// Find searches the page of c's tab.
func (s *Service) Find(ctx context.Context, c *action.Call, q page.FindQuery) (Found, error) {
	t, err := s.tab(ctx, c)
	if err != nil {
		return Found{}, err
	}
	v := t.view()
	found := Found{Matches: []page.Match{}, TabID: t.id, Pending: v.PendingApproval, Dialog: v.Dialog}
	if v.PendingApproval != nil || v.Dialog != nil {
		return found, nil
	}
	rctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	matches, total, err := t.page.Find(rctx, q)
	if err != nil {
		return Found{}, t.explain(ctx, t.mark(), err)
	}
	if matches != nil {
		found.Matches = matches
	}
	found.Total = total
	return found, nil
}
