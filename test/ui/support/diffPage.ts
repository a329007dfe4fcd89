import * as fs from 'node:fs';
import * as path from 'node:path';
import type { Locator } from 'playwright-core';
import type { Workbench } from '../../../scripts/lib/workbench.mjs';
import type { LedgerEntry } from '../../../src/agent/preview/ledger.ts';

/** A lens with exactly this text on the proposed side, icons aside. */
export function exactLens(workbench: Workbench, title: string): Locator {
  return workbench.page
    .locator('.editor.modified .codelens-decoration a')
    .filter({ hasText: new RegExp(`^\\s*${title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\s*$`) })
    .first();
}

/** Anything that the lenses say, for instance a note. */
export function lensText(workbench: Workbench, text: string): Locator {
  return workbench.page.locator('.editor.modified .codelens-decoration').filter({ hasText: text }).first();
}

/** A line of the proposed side. */
export function proposedLine(workbench: Workbench, text: string): Locator {
  return workbench.page
    .locator('.editor.modified .view-line')
    .filter({ hasText: new RegExp(text.replaceAll(' ', '\u00a0')) })
    .first();
}

/** What the stored log says was resolved, the oldest first. */
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

/** VS Code's own arrow that takes a hunk back: there while the proposed side can be typed in. */
export function writable(workbench: Workbench): Locator {
  return workbench.page.locator('.monaco-diff-editor .codicon-arrow-right').first();
}
