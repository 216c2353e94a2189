/**
 * Returns text from a page or an agent with everything made visible that could
 * make it read as something else: control characters and marks that turn the
 * direction of writing become one visible sign each.
 */
export function plain(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, "\ufffd");
}
