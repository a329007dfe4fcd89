import { messageOf } from '../../agent/base/errors.ts';
import type { Attachment } from '../../agent/model/messages.ts';
import { splitLines } from '../../agent/preview/lineDiff.ts';
import type { Workspace } from '../../agent/preview/workspace.ts';
import { readExistingText } from '../../agent/tools/textFile.ts';
import type { AttachmentRef } from './protocol.ts';

/** The most characters of one attachment that are sent. */
const MAX_CHARS = 60_000;

/**
 * What the attached places hold now, with unsaved changes. Each is cut to a bearable size, at the end of a line where it
 * can be; what cannot be read is sent as a sentence that says so: a prompt never fails for an attachment.
 */
export function readAttachments(
  workspace: Pick<Workspace, 'read' | 'encodingOf' | 'resolvePath'>,
  refs: readonly AttachmentRef[],
): Promise<Attachment[]> {
  return Promise.all(refs.map(ref => readAttachment(workspace, ref)));
}

async function readAttachment(
  workspace: Pick<Workspace, 'read' | 'encodingOf' | 'resolvePath'>,
  ref: AttachmentRef,
): Promise<Attachment> {
  try {
    const path = await workspace.resolvePath(ref.path);
    const lines = splitLines((await readExistingText(workspace, path)).text);
    const first = ref.startLine ?? 1;
    const last = Math.min(ref.endLine ?? lines.length, lines.length);
    const range = ref.startLine === undefined ? {} : { startLine: first, endLine: Math.max(first, last) };
    if (first > lines.length && ref.startLine !== undefined) {
      return { path, ...range, text: '', note: `The file has only ${lines.length} lines now.` };
    }
    const wanted = lines.slice(first - 1, last);
    const text = wanted.join('');
    if (text.length <= MAX_CHARS) return { path, ...range, text };
    const { kept, count } = cut(wanted);
    return {
      path,
      ...range,
      text: kept,
      note: `Cut off: lines ${first}-${first + count - 1} of ${first}-${last} are here. Read the rest with read_file.`,
    };
  } catch (error) {
    return { path: ref.path, text: '', note: `It could not be read: ${messageOf(error)}` };
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
