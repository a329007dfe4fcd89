import { safeName } from '../../base/safeName.ts';
import { fenced } from '../../base/phrases.ts';
import type { Attachment, ImageFile, UserMessage } from './messages.ts';

/**
 * A prompt as the model reads it: the attachments, each clearly delimited, then the user's text.
 * @param isSent whether an image is sent along, so that the model sees it. By default none is.
 */
export function promptText(
  { text, attachments = [] }: UserMessage,
  isSent: (image: ImageFile) => boolean = () => false,
): string {
  return [...attachments.map(one => attachmentText(one, isSent)), text].join('\n\n');
}

/** The path and the lines, e.g. `src/a.ts, lines 3-8`. */
export function attachmentName({ path, startLine, endLine }: Omit<Attachment, 'text' | 'note'>): string {
  const name = safeName(path);
  if (startLine === undefined) return name;
  if (endLine === undefined || endLine === startLine) return `${name}, line ${startLine}`;
  return `${name}, lines ${startLine}-${endLine}`;
}

function attachmentText(attachment: Attachment, isSent: (image: ImageFile) => boolean): string {
  const { text, note, image } = attachment;
  if (image) {
    const unseen = isSent(image) ? '' : ' You cannot see it.';
    return `[Image attached by the user: ${attachmentName(attachment)}]${unseen}`;
  }
  const head = `[Attached by the user: ${attachmentName(attachment)}]${note === undefined ? '' : ` ${note}`}`;
  if (text === '') return head;
  return `${head}\n${fenced(text)}`;
}
