import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import { polled } from '../../../../scripts/lib/limits.mjs';
import { succeeds } from '../../../../src/agent/base/async.ts';
import type { RedlineApi } from '../../../../src/views/api.ts';
import { fileInWorkspace, givenFile } from '../redline.ts';
import type { Round } from './rounds.ts';
import { Typist } from './typist.ts';
import type { Voters, Wanted } from './voters.ts';

const OLD = '"before"';
const line = (n: number): string => `line ${n}\n`;
const textWith = (value: string): string =>
  [1, 2, 3, 4].map(line).join('') + `const value = ${value};\n` + [5, 6, 7, 8].map(line).join('');

/** What came of a round. */
export interface Played {
  /** `failed`: nothing was written. `told`: it did not stay, and the ledger says so. `undone`: by the person. */
  readonly end: 'applied' | 'failed' | 'told' | 'undone';
  /** What must not be: words that are gone, or a ledger that says what is not so. */
  readonly wrong: readonly string[];
}

let played = 0;

/** Plays one round and looks, once everything has come to rest, at the file, the editor and the ledger. */
export async function play(api: RedlineApi, voters: Voters, round: Round): Promise<Played> {
  const name = `round${played++}`;
  const wanted: Wanted = {
    what: round.subject.what,
    path: `${name}.ts`,
    to: `${name}-moved.ts`,
    old: OLD,
    new: round.keepsSize ? '"behind"' : '"some other value"',
  };
  await givenFile(wanted.path, textWith(OLD));
  await configure(round.settings);
  const document = await vscode.workspace.openTextDocument(fileInWorkspace(wanted.path));
  const editor = await vscode.window.showTextDocument(document, { preview: false });
  const vote = await voters.prepare(round.subject, wanted);
  await vscode.window.showTextDocument(document, { preview: false });
  const at = document.lineAt(round.typing.at === 'elsewhere' ? 0 : 4).range.end;
  editor.selection = new vscode.Selection(at, at);
  const typist = new Typist(wanted.what === 'undo' ? OLD : wanted.new);
  try {
    const { lead } = round.typing;
    const [, id] = await Promise.all([
      delay(Math.max(0, -lead)).then(() => typist.type(round.typing)),
      delay(Math.max(0, lead)).then(vote),
    ]);
    await untilSaved(document, round);
    const look = (): Played => judged(api, id, wanted, typist);
    const good = (): Played | undefined => [look()].find(({ wrong }) => wrong.length === 0);
    return await polled('the ledger to be true', good, 8_000).catch(look);
  } finally {
    typist.dispose();
    await putAway(api, wanted);
  }
}

/** Waits for what the settings save by themselves, and saves the rest. VS Code may refuse to. */
async function untilSaved(document: vscode.TextDocument, { settings }: Round): Promise<void> {
  const mode = settings['files.autoSave'];
  if (mode === 'onFocusChange')
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: '' }));
  else if (mode !== 'afterDelay') await Promise.race([document.save(), delay(1_500)]);
  const isSaved = () => !document.isDirty || document.isClosed;
  await polled('the editor to be saved', isSaved, 1_500).catch(() => undefined);
}

function judged(api: RedlineApi, id: string, wanted: Wanted, typist: Typist): Played {
  const entries = api.previews.ledger().filter(({ previewId }) => previewId === id);
  const last = entries.at(-1);
  const texts = [wanted.path, wanted.to].flatMap(path => textAt(path) ?? []);
  const missing = typist.missingIn(texts).map(word => `${word} was typed, and is gone`);
  if (last?.outcome !== 'applied') {
    const wasApplied = entries.some(({ outcome }) => outcome === 'applied');
    return {
      end: wasApplied ? 'told' : 'failed',
      wrong: [
        ...missing,
        ...(isIn(wanted) && !wasApplied ? [`said to have failed, and is in: ${last?.message}`] : []),
      ],
    };
  }
  if (isIn(wanted)) return { end: 'applied', wrong: missing };
  if (typist.isUndone) return { end: 'undone', wrong: missing };
  return {
    end: 'applied',
    wrong: [
      ...missing,
      `said to be applied by the last of ${entries.length} lines, and is not: ${JSON.stringify(texts)}`,
    ],
  };
}

/** Whether the change is where the person sees it, in the editor if that has unsaved changes, else on disk; words typed into it aside. */
function isIn({ what, path, to, old, new: next }: Wanted): boolean {
  const text = textAt(path)?.replaceAll(/«\d+»/g, '');
  switch (what) {
    case 'modify':
      return text?.includes(next) === true && !text.includes(old);
    case 'undo':
      return text?.includes(old) === true && !text.includes(next);
    case 'delete':
      return !existsSync(fileInWorkspace(path));
    case 'rename':
      return !existsSync(fileInWorkspace(path)) && textAt(to)?.includes(old) === true;
  }
}

function textAt(path: string): string | undefined {
  const file = fileInWorkspace(path);
  const open = vscode.workspace.textDocuments.find(({ uri }) => uri.fsPath === file);
  if (open && (open.isDirty || hasDirtyTab(file))) return open.getText();
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** A document that gets an edit while it is saved counts as clean, but its tab does not. */
function hasDirtyTab(file: string): boolean {
  const tabs = vscode.window.tabGroups.all.flatMap(group => group.tabs).filter(({ isDirty }) => isDirty);
  return tabs.some(({ input }) => input instanceof vscode.TabInputText && input.uri.fsPath === file);
}

async function putAway(api: RedlineApi, { path, to }: Wanted): Promise<void> {
  for (const file of [path, to].map(fileInWorkspace)) {
    const document = vscode.workspace.textDocuments.find(({ uri }) => uri.fsPath === file);
    if (!document || document.isClosed) continue;
    // A clean document of a deleted file has no editor any more, and can be shown in none.
    const isShown = await succeeds(vscode.window.showTextDocument(document));
    if (isShown) await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  }
  await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  await api.session.new();
  for (const { id } of api.previews.list())
    await api.previews.resolve({ id, action: 'discard', reason: 'end of the round' }).catch(() => undefined);
  for (const file of [path, to, `${path}.beside`]) await rm(fileInWorkspace(file), { force: true });
}

/** Changes settings of VS Code where they differ. */
export async function configure(settings: Readonly<Record<string, unknown>>): Promise<void> {
  const all = vscode.workspace.getConfiguration();
  for (const [key, value] of Object.entries(settings))
    if (all.inspect(key)?.globalValue !== value)
      await all.update(key, value, vscode.ConfigurationTarget.Global);
}
