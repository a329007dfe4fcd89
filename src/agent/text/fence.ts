/**
 * A text of others, such as a program's output, between fences that it cannot end. The system prompt names them as data, so
 * nothing in between passes for the user or for Redline.
 */
export function fenced(text: string): string {
  const fence = fenceFor(text);
  return `${fence}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`;
}

/** A Markdown fence that is longer than any in the text, so that the text cannot end it. */
export function fenceFor(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((length, run) => Math.max(length, run.length), 2);
  return '`'.repeat(longest + 1);
}
