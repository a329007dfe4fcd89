import * as l10n from '@vscode/l10n';
import { beginningOf } from '../../../agent/base/cutText.ts';
import { messageOf } from '../../../agent/base/errors.ts';
import type { Attachment, ImageFile } from '../../../agent/session/model/messages.ts';
import type { Workspace } from '../../../agent/hold/preview/workspace.ts';
import { splitLinesInTurns } from '../../../agent/hold/text/lines.ts';
import { readExistingText } from '../../../agent/hold/preview/textFile.ts';
import type { AttachmentRef } from '../protocol.ts';

/** The most characters of one attachment that are sent. */
const MAX_CHARS = 60_000;

/**
 * Reads the current content of the attached files or lines, including unsaved changes. Long text is truncated, at the end of a line
 * if possible. An attachment that cannot be read never fails the prompt: it has a note instead, which both the user and the model
 * read.
 * @param keepImage makes a stored image belong to the session; `undefined` if it is no longer there.
 */
export function readAttachments(
  workspace: Workspace,
  refs: readonly AttachmentRef[],
  keepImage: (image: ImageFile) => Promise<ImageFile | undefined>,
): Promise<Attachment[]> {
  return Promise.all(
    refs.map(ref =>
      ref.image ? keepAttachment(ref.path, ref.image, keepImage) : readAttachment(workspace, ref),
    ),
  );
}

async function keepAttachment(
  path: string,
  { file, type, bytes }: ImageFile,
  keepImage: (image: ImageFile) => Promise<ImageFile | undefined>,
): Promise<Attachment> {
  const image = await keepImage({ file, type, bytes }).catch(() => undefined);
  return image
    ? { path, image, text: '' }
    : { path, text: '', note: l10n.t('The image is no longer there.') };
}

async function readAttachment(workspace: Workspace, ref: AttachmentRef): Promise<Attachment> {
  try {
    const path = await workspace.resolvePath(ref.path);
    const lines = await splitLinesInTurns((await readExistingText(workspace, path)).text);
    const first = ref.startLine ?? 1;
    const last = Math.min(ref.endLine ?? lines.length, lines.length);
    const range = ref.startLine === undefined ? {} : { startLine: first, endLine: Math.max(first, last) };
    if (first > lines.length && ref.startLine !== undefined) {
      return {
        path,
        ...range,
        text: '',
        note: l10n.t('The file now ends at line {0}.', String(lines.length)),
      };
    }
    const wanted = lines.slice(first - 1, last);
    const text = wanted.join('');
    if (text.length <= MAX_CHARS) return { path, ...range, text };
    const { kept, count } = truncate(wanted);
    return {
      path,
      ...range,
      text: kept,
      note: l10n.t(
        'Truncated: only lines {0} of {1} are attached. Read the rest with read_file.',
        `${first}-${first + count - 1}`,
        `${first}-${last}`,
      ),
    };
  } catch (error) {
    return { path: ref.path, text: '', note: l10n.t('The file could not be read: {0}', messageOf(error)) };
  }
}

/** The first lines that fit, or the start of the first line. */
function truncate(lines: readonly string[]): { kept: string; count: number } {
  let kept = '';
  let count = 0;
  for (const line of lines) {
    if (kept.length + line.length > MAX_CHARS) break;
    kept += line;
    count += 1;
  }
  return count === 0 ? { kept: beginningOf(lines[0] ?? '', MAX_CHARS), count: 1 } : { kept, count };
}
