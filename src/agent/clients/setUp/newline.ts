/** The line ending for what is added to a text. */
export function newlineOf(text: string): '\r\n' | '\r' | '\n' {
  if (text.includes('\r\n')) return '\r\n';
  return text.includes('\r') && !text.includes('\n') ? '\r' : '\n';
}
