import { shortened } from '../../base/cutText.ts';
import { safeName } from '../../base/safeName.ts';
import { plural } from '../../base/phrases.ts';
import { hunksOfChange } from './fileChange.ts';
import type { Preview } from './preview.ts';
import { changeOfComment, type ReviewComment, type ReviewVotes } from './reviewComments.ts';

/** The longest line that is quoted, in characters. */
const MAX_QUOTE = 300;

/** The end of a review, which the person did not write. */
const HOW_TO_ANSWER =
  'Answer each comment in a paragraph that begins with its number in brackets. Where it asks for a change, propose that.';

/** A prompt as the person reads it: a review without the instructions on how to answer. */
export function asWritten(prompt: string): string {
  return prompt.endsWith(`\n\n${HOW_TO_ANSWER}`) ? prompt.slice(0, -HOW_TO_ANSWER.length - 2) : prompt;
}

/** A review as one message for the model: the decisions, and each comment with its file, line, hunk and text. */
export async function reviewMessage(
  { applied, refused }: ReviewVotes,
  comments: readonly ReviewComment[],
  get: (id: string) => Preview | undefined,
): Promise<string> {
  const votes = [applied > 0 ? [`${applied} applied`] : [], refused > 0 ? [`${refused} refused`] : []].flat();
  const parts = await Promise.all(
    comments.map(async comment => `[${comment.id}] ${await commentText(comment, get(comment.previewId))}`),
  );
  return [
    `I reviewed your previews: ${[plural(comments.length, 'comment'), ...votes].join(', ')}.`,
    ...parts,
    HOW_TO_ANSWER,
  ].join('\n\n');
}

/** One comment, with the line that it is about. */
export async function commentText(comment: ReviewComment, preview: Preview | undefined): Promise<string> {
  const { previewId, path, side, line, quote, text, isOutdated } = comment;
  const change = preview && changeOfComment(preview, comment);
  const hunks = change && !isOutdated ? await hunksOfChange(change) : [];
  const hunk = hunks.findIndex(({ beforeStart, beforeEnd, afterStart, afterEnd }) =>
    side === 'base' ? beforeStart <= line && line < beforeEnd : afterStart <= line && line < afterEnd,
  );
  const where = isOutdated
    ? 'a line that is no longer in the preview'
    : `line ${line + 1} of ${side === 'base' ? 'the file as it was' : 'the preview'}`;
  const inHunk = hunk < 0 ? '' : `, hunk ${hunk + 1}`;
  return `${previewId}, ${safeName(path)}, ${where}${inHunk}:\n> ${shortened(quote, MAX_QUOTE)}\n${text}`;
}

/** The number of a comment at the beginning of a paragraph, even in a list or in bold. */
const MARK = /^[ \t]*(?:(?:[-*>#]+|\d+[.)])[ \t]+)?[*_]*\[(c[1-9]\d*)\][*_]*[ \t]*[:.–—-]?[*_]*[ \t]*/gm;

/** The model's answer to each comment whose number it names. */
export function answersIn(text: string): ReadonlyMap<string, string> {
  const marks = [...text.matchAll(MARK)];
  const said = new Map<string, string>();
  marks.forEach((mark, n) => {
    const id = mark[1] ?? '';
    const part = text.slice(mark.index + mark[0].length, marks[n + 1]?.index).trim();
    if (part !== '') said.set(id, said.has(id) ? `${said.get(id)}\n\n${part}` : part);
  });
  return said;
}
