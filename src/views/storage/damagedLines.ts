import { appendFile, readFile } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { parsedJson } from '../../agent/base/json.ts';
import { safeName } from '../../agent/base/safeName.ts';
import { ignoreMissing } from '../../agent/base/log/jsonLog.ts';
import { idsIn, type UnreadableLine } from '../../agent/hold/preview/log/previewLog.ts';
import { shortList } from '../plainText.ts';
import { showWarning } from '../toast.ts';

/**
 * Tells the user which previews the damaged lines of a log belong to, once for each line: a file next to the log records the
 * reported ones.
 */
export async function tellDamage(storage: string, unreadable: readonly UnreadableLine[]): Promise<void> {
  const file = path.join(storage, 'previews.damaged.jsonl');
  const told = new Set((await readFile(file, 'utf8').catch(ignoreMissing))?.split('\n'));
  const untold = unreadable.filter(({ text }) => !told.has(text));
  if (untold.length === 0) return;
  await appendFile(file, untold.map(({ text }) => `${text}\n`).join(''));
  const names = [...new Set(untold.flatMap(namesIn))];
  void showWarning(
    names.length === 0
      ? vscode.l10n.t('Part of the stored previews is damaged and cannot be read. It is kept in {0}.', file)
      : vscode.l10n.t(
          'The storage is damaged: these previews, or the latest decisions on them, are lost: {0}. The damaged part is kept in {1}.',
          shortList(names),
          file,
        ),
  );
}

/** The previews of a line, with the label of the one that it stages, as far as they can be read. */
function namesIn(line: UnreadableLine): readonly string[] {
  const ids = [...new Set(idsIn(line))];
  const [, label] = /"label":("(?:[^"\\]|\\.)*")/.exec(line.text) ?? [];
  const name = label === undefined ? undefined : parsedJson(label);
  return ids.map((id, index) => (index === 0 && typeof name === 'string' ? `${id} (${safeName(name)})` : id));
}
