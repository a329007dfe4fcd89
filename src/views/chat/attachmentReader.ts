import { messageOf } from '../../agent/base/errors.ts';
import type { Attachment } from '../../agent/model/messages.ts';
import { splitLines } from '../../agent/preview/lines.ts';
import type { Workspace } from '../../agent/preview/workspace.ts';
import { readExistingText } from '../../agent/tools/textFile.ts';
import type { SentenceLocaliser } from '../errorSentence.ts';
import type { AttachmentRef } from './protocol.ts';

/** The most characters of one attachment that are sent. */
const MAX_CHARS = 60_000;

/**
 * What the attached places hold now, with unsaved changes. Each is cut to a bearable size, at the end of a line where it
 * can be; what cannot be read is sent as a sentence that says so: a prompt never fails for an attachment.
 * The person reads that sentence as well as the model.
 */
export function readAttachments(
  workspace: Pick<Workspace, 'read' | 'encodingOf' | 'resolvePath'>,
  refs: readonly AttachmentRef[],
  l10n: SentenceLocaliser,
): Promise<Attachment[]> {
  return Promise.all(refs.map(ref => readAttachment(workspace, ref, l10n)));
}

async function readAttachment(
  workspace: Pick<Workspace, 'read' | 'encodingOf' | 'resolvePath'>,
  ref: AttachmentRef,
  l10n: SentenceLocaliser,
): Promise<Attachment> {
  try {
    const path = await workspace.resolvePath(ref.path);
    const lines = splitLines((await readExistingText(workspace, path)).text);
    const first = ref.startLine ?? 1;
    const last = Math.min(ref.endLine ?? lines.length, lines.length);
    const range = ref.startLine === undefined ? {} : { startLine: first, endLine: Math.max(first, last) };
    if (first > lines.length && ref.startLine !== undefined) {
      return {
        path,
        ...range,
        text: '',
        note: l10n.t('The file has only {0} lines now.', String(lines.length)),
      };
    }
    const wanted = lines.slice(first - 1, last);
    const text = wanted.join('');
    if (text.length <= MAX_CHARS) return { path, ...range, text };
    const { kept, count } = cut(wanted);
    return {
      path,
      ...range,
      text: kept,
      note: l10n.t(
        'Cut off: lines {0} of {1} are here. Read the rest with read_file.',
        `${first}-${first + count - 1}`,
        `${first}-${last}`,
      ),
    };
  } catch (error) {
    return { path: ref.path, text: '', note: l10n.t('It could not be read: {0}', messageOf(error)) };
  }
}

/** The first lines that fit, or the beginning of the first. */
function cut(lines: readonly string[]): { kept: string; count: number } {
  let kept = '';
  let count = 0;
  for (const line of lines) {
    if (kept.length + line.length > MAX_CHARS) break;
    kept += line;
    count += 1;
  }
  return count === 0 ? { kept: (lines[0] ?? '').slice(0, MAX_CHARS), count: 1 } : { kept, count };
}
