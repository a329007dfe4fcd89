import { TimeSlice } from '../../../base/async.ts';
import { bytesOfSide, sideOfBytes, type FileChange } from '../../../hold/preview/fileChange.ts';
import { sideToStore } from '../../../hold/preview/textFile.ts';
import type { Workspace } from '../../../hold/preview/workspace.ts';
import type { AstFile } from './worker/protocol.ts';

/**
 * The changes of files with edits.
 * @throws ToolError if the encoding of a file lacks a character of its new text.
 */
export async function astChanges(files: readonly AstFile[], workspace: Workspace): Promise<FileChange[]> {
  const slice = new TimeSlice();
  const changes: FileChange[] = [];
  for (const { path, found } of files) {
    if (found.kind !== 'edits') continue;
    const { edits } = found;
    await slice.turn();
    const { before, after } = await inOwnEncoding(path, found, workspace);
    changes.push({ kind: 'modify', path, before, after, edits });
  }
  return changes;
}

type Edited = Extract<AstFile['found'], { kind: 'edits' }>;

/**
 * The engine reads UTF-8. A file that reads the same in the encoding that the workspace sets for it is stored in that encoding,
 * even if all of it is ASCII: the user may type other characters into the proposal.
 */
async function inOwnEncoding(
  path: string,
  { before, after }: Edited,
  workspace: Workspace,
): Promise<Pick<Edited, 'before' | 'after'>> {
  if (before.encoding.name !== 'utf8') return { before, after };
  const encoding = await workspace.encodingOf(path);
  if (encoding.name === 'utf8') return { before, after };
  const own = sideOfBytes(bytesOfSide(before), encoding);
  if (own?.text !== before.text) return { before, after };
  return { before: own, after: sideToStore(path, after.text, own.encoding) };
}
