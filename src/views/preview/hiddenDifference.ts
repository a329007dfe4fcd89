import * as vscode from 'vscode';
import type { FileChange } from '../../agent/preview/fileChange.ts';
import type { TextEncoding } from '../../agent/base/textCodec.ts';

/** What VS Code's diff does not show of a change, or hides by default; in words. */
export function hiddenDifferences({ before, after }: FileChange): readonly string[] {
  if (!before || !after || before.hash === after.hash) return [];
  const notes: string[] = [];
  if (encodingName(before.encoding) !== encodingName(after.encoding)) {
    notes.push(
      vscode.l10n.t('encoding {0} → {1}', encodingName(before.encoding), encodingName(after.encoding)),
    );
  }
  if (before.text === after.text) return notes;
  const [oldText, newText] = [withLf(before.text), withLf(after.text)];
  if (oldText === newText) notes.push(vscode.l10n.t('only line endings differ'));
  else if (withoutTrailing(oldText) === withoutTrailing(newText))
    notes.push(vscode.l10n.t('only trailing spaces differ'));
  else if (withoutIndent(oldText) === withoutIndent(newText))
    notes.push(vscode.l10n.t('only spaces at the beginnings and ends of lines differ'));
  const [oldEnding, newEnding] = [lineEnding(before.text), lineEnding(after.text)];
  if (oldText !== newText && oldEnding && newEnding && oldEnding !== newEnding)
    notes.push(vscode.l10n.t('line endings {0} → {1}', oldEnding, newEnding));
  return notes;
}

function encodingName({ name, bom }: TextEncoding): string {
  const names: Partial<Record<string, string>> = {
    utf8: 'UTF-8',
    utf16le: 'UTF-16 LE',
    utf16be: 'UTF-16 BE',
  };
  return bom && name === 'utf8' ? vscode.l10n.t('UTF-8 with BOM') : (names[name] ?? name);
}

function withLf(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

function withoutTrailing(text: string): string {
  return text.replace(/[ \t]+$/gm, '');
}

function withoutIndent(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/gm, '');
}

/** The one line ending of a text; `undefined` for one that mixes them or has none. */
function lineEnding(text: string): 'CRLF' | 'LF' | undefined {
  const kinds = new Set(text.match(/\r\n|\r|\n/g));
  if (kinds.size !== 1) return undefined;
  return kinds.has('\r\n') ? 'CRLF' : kinds.has('\n') ? 'LF' : undefined;
}
