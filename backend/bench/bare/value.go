package bare

import "encoding/json"

// jsonValue decodes into a place chosen beforehand.
type jsonValue struct{ to any }

// UnmarshalJSON implements json.Unmarshaler.
func (v *jsonValue) UnmarshalJSON(text []byte) error {
	if v.to == nil {
		return nil
	}
	return json.Unmarshal(text, v.to)
}
