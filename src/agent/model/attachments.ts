import type { Attachment, UserMessage } from './messages.ts';

/** A prompt as a model reads it: what was sent along, each clearly delimited, then the person's words. */
export function promptText({ text, attachments = [] }: UserMessage): string {
  return [...attachments.map(attachmentText), text].join('\n\n');
}

/** `src/a.ts, lines 3-8`. */
export function attachmentName({ path, startLine, endLine }: Omit<Attachment, 'text' | 'note'>): string {
  const name = path.replace(/\s+/g, ' ');
  if (startLine === undefined) return name;
  if (endLine === undefined || endLine === startLine) return `${name}, line ${startLine}`;
  return `${name}, lines ${startLine}-${endLine}`;
}

/** The fence is longer than any in the text, so that no text can end it. */
function attachmentText(attachment: Attachment): string {
  const { text, note } = attachment;
  const head = `[Attached by the user: ${attachmentName(attachment)}]${note === undefined ? '' : ` ${note}`}`;
  if (text === '') return head;
  const fence = fenceFor(text);
  return `${head}\n${fence}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`;
}

/** A Markdown fence that nothing in the text can end. */
export function fenceFor(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((length, run) => Math.max(length, run.length), 2);
  return '`'.repeat(longest + 1);
}
