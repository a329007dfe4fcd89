import * as fs from 'node:fs';
import * as path from 'node:path';
import type { Locator } from 'playwright-core';
import type { VscodeWindow } from './vscodeWindow.mjs';
import type { Workbench } from './workbench.mjs';
import type { LedgerEntry } from '../../../src/agent/hold/preview/ledger.ts';

/** Something in the proposed side of a diff, or in the editor of a whole file. */
const PROPOSED = (what: string): string =>
  ['.editor.modified', '.editor-instance > .monaco-editor'].map(place => `${place} ${what}`).join(', ');

/** A lens on the proposed side with exactly this text, apart from icons. */
export function exactLens({ page }: VscodeWindow, title: string): Locator {
  return page
    .locator(PROPOSED('.codelens-decoration a'))
    .filter({ hasText: new RegExp(`^\\s*${title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\s*$`) })
    .first();
}

/** Any text of the lenses, such as a note. */
export function lensText(workbench: Workbench, text: string): Locator {
  return workbench.page.locator(PROPOSED('.codelens-decoration')).filter({ hasText: text }).first();
}

/** A line of the proposed side. */
export function proposedLine({ page }: VscodeWindow, text: string): Locator {
  return page
    .locator(PROPOSED('.view-line'))
    .filter({ hasText: new RegExp(text.replaceAll(' ', '\u00a0')) })
    .first();
}

/** The lines of the proposed side that the diff marks as changed. */
export function changedLines({ page }: VscodeWindow): Locator {
  return page.locator('.editor.modified .line-insert');
}

/** The ledger entries in the stored log, oldest first. */
export function storedLedger(workbench: Workbench): readonly LedgerEntry[] {
  const files = fs.readdirSync(workbench.userDataDir, { recursive: true, encoding: 'utf8' });
  const log = files.find(file => file.endsWith('previews.jsonl'));
  if (log === undefined) return [];
  return fs
    .readFileSync(path.join(workbench.userDataDir, log), 'utf8')
    .split('\n')
    .filter(line => line.includes('"resolved"'))
    .map(line => JSON.parse(line) as { type?: string; entries?: readonly LedgerEntry[] })
    .flatMap(({ type, entries }) => (type === 'resolved' ? (entries ?? []) : []));
}

/** VS Code's arrow that reverts a hunk, which is shown while the proposed side is editable. */
export function revertArrow(workbench: Workbench): Locator {
  return workbench.page.locator('.monaco-diff-editor .codicon-arrow-right').first();
}
