import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import type { Workbench } from '../support/workbench.mjs';
import { exactLens, lensText, proposedLine } from '../support/diffPage.ts';
import { drivenTest, type DrivenWorkbench } from '../support/drivenWorkbench.ts';
import { contextMenu, editorOverflow } from '../support/menus.ts';

const LINES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven'];
const TEXT = LINES.map(line => `${line}\n`).join('');
const LOUD = TEXT.replace('two', 'TWO').replace('six', 'SIX').replace('ten', 'TEN');

interface Change {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Stages a preview as another extension would; gives its id. */
function push(driven: DrivenWorkbench, label: string, ...changes: Change[]): Promise<string> {
  return driven.run(({ api }, draft) => api.previews.push({ ...draft, sourceToolName: 'test' }).id, {
    label,
    changes,
  });
}

const create = (path: string, after = `${path}\n`): Change => ({ path, before: null, after });

/** Waits until a preview is in this state. */
async function isNow(driven: DrivenWorkbench, id: string, state: string): Promise<void> {
  const wanted = [id, state] as const;
  await driven.until(
    `${id} to be ${state}`,
    ({ api }, [which, what]) => (api.previews.get(which)?.state === what ? true : undefined),
    wanted,
  );
}

/** What the ledger says of the last attempt. */
function lastReason(driven: DrivenWorkbench): Promise<string | undefined> {
  return driven.run(({ api }) => api.previews.ledger().at(-1)?.reason);
}

/** The preview in the tab in front. */
function activeTab({ page }: Workbench): Locator {
  return page.locator('.editor-group-container.active .tab.active');
}

async function shows(workbench: Workbench, name: string): Promise<void> {
  await activeTab(workbench)
    .filter({ hasText: `${name} (Redline)` })
    .waitFor();
}

drivenTest('every button, key and command of one file’s diff', {}, async driven => {
  const { workbench } = driven;
  const { page } = workbench;
  const { keyboard } = page;
  workbench.writeFile('count.txt', TEXT);

  // Hunks, by key and by lens. The view is there from the first preview on.
  const p1 = await push(driven, 'Count louder', { path: 'count.txt', before: TEXT, after: LOUD });
  await workbench.runCommand('Redline: Focus on Pending View');
  await workbench.clickTreeRow('Count louder');
  await proposedLine(workbench, 'TEN').click();
  await keyboard.press('Control+Y');
  await workbench.waitForFile('count.txt', text => text === TEXT.replace('ten', 'TEN'));
  await exactLens(workbench, 'Discard').click();
  await driven.until('the hunk to be discarded', ({ api }) =>
    api.previews.ledger().length === 2 ? true : undefined,
  );
  assert.deepEqual(
    await driven.run(({ api }) =>
      api.previews.ledger().map(({ outcome, hunks }) => [outcome, hunks?.refused]),
    ),
    [
      ['applied', 0],
      ['discarded', 1],
    ],
  );
  // The rest, by key. The file is as it was but for the hunk that was applied.
  await proposedLine(workbench, 'SIX').click();
  await keyboard.press('Control+Enter');
  await isNow(driven, p1, 'applied');
  assert.equal(workbench.readFile('count.txt'), TEXT.replace('six', 'SIX').replace('ten', 'TEN'));

  // The editor's title, its overflow, and the keys for next and previous.
  const ids = [];
  for (const n of [1, 2, 3]) ids.push(await push(driven, `Make ${n}`, create(`made${n}.txt`)));
  const [a = '', b = '', c = ''] = ids;
  await workbench.clickTreeRow('Make 3');
  await shows(workbench, 'made3.txt');
  await editorOverflow(workbench, 'Next Preview');
  await shows(workbench, 'made2.txt');
  await editorOverflow(workbench, 'Previous Preview');
  await shows(workbench, 'made3.txt');
  await exactLens(workbench, 'More…').click();
  await workbench.quickPick('Next');
  await shows(workbench, 'made2.txt');
  await proposedLine(workbench, 'made2.txt').click();
  await keyboard.press('Shift+Alt+PageDown');
  await shows(workbench, 'made1.txt');
  await proposedLine(workbench, 'made1.txt').click();
  await keyboard.press('Shift+Alt+PageUp');
  await shows(workbench, 'made2.txt');
  await workbench.editorTitleAction('Apply Preview').click();
  await isNow(driven, b, 'applied');
  assert.equal(workbench.readFile('made2.txt'), 'made2.txt\n');
  await workbench.clickTreeRow('Make 1');
  await shows(workbench, 'made1.txt');
  await workbench.editorTitleAction('Discard Preview').click();
  await isNow(driven, a, 'discarded');
  await workbench.clickTreeRow('Make 3');
  await shows(workbench, 'made3.txt');
  await editorOverflow(workbench, 'Discard with Reason');
  await workbench.answerInput('Not made like this.');
  await isNow(driven, c, 'discarded');
  assert.equal(await lastReason(driven), 'Not made like this.');
  const d = await push(driven, 'Make 4', create('made4.txt'));
  await workbench.clickTreeRow('Make 4');
  await proposedLine(workbench, 'made4.txt').click();
  await keyboard.press('Control+Backspace');
  await isNow(driven, d, 'discarded');
  await workbench.editorTab('(Redline').waitFor({ state: 'detached' });

  // The palette, with the head opened in place of a vote on what nobody sees.
  const e = await push(driven, 'Make 5', create('made5.txt'));
  await workbench.runCommand('Redline: Apply Preview');
  await shows(workbench, 'made5.txt');
  await isNow(driven, e, 'pending');
  await workbench.runCommand('Redline: Apply Preview');
  await isNow(driven, e, 'applied');
  const f = await push(driven, 'Make 6', create('made6.txt'));
  await workbench.runCommand('Redline: Open Preview');
  await shows(workbench, 'made6.txt');
  await workbench.runCommand('Redline: Open File of Preview');
  await workbench.toast('made6.txt does not exist yet').waitFor();
  await workbench.runCommand('Redline: Discard Preview');
  await isNow(driven, f, 'discarded');
  await workbench.runCommand('Redline: Undo Applied Preview…');
  await workbench.quickPick('Make 5');
  await workbench.waitForFile('made5.txt', text => text === undefined);
  await workbench.runCommand('Redline: Reopen Discarded Preview…');
  await workbench.quickPick('Make 6');
  await workbench.treeRow('Make 6').waitFor();
  await push(driven, 'Make 7', create('made7.txt'));
  await workbench.runCommand('Redline: Apply All Previews');
  await workbench.toast('Applied 2 previews.').waitFor();
  assert.equal(workbench.readFile('made6.txt'), 'made6.txt\n');
  await push(driven, 'Make 8', create('made8.txt'));
  await push(driven, 'Make 9', create('made9.txt'));
  await workbench.runCommand('Redline: Discard All Previews');
  await workbench.toast('Discarded 2 previews.').getByText('Reopen').click();
  await workbench.treeRow('Make 9').waitFor();

  // The status bar: a click opens the head, the hover offers the rest.
  await driven.run(async ({ vscode }) => {
    await vscode.workspace.getConfiguration('workbench').update('hover.delay', 300, true);
  });
  await workbench.statusBarItem('2 pending').hover();
  const hover = page.locator('.workbench-hover, .monaco-hover').filter({ hasText: 'Make 9' });
  await hover.getByText('Discard', { exact: true }).click();
  await workbench.statusBarItem('1 pending').hover();
  await page
    .locator('.workbench-hover, .monaco-hover')
    .filter({ hasText: 'Make 8' })
    .getByText('Open')
    .click();
  await workbench.editorTab('made8.txt (Redline').waitFor();
  await workbench.statusBarItem('1 pending').hover();
  await page
    .locator('.workbench-hover, .monaco-hover')
    .filter({ hasText: 'Make 8' })
    .getByText('Apply', { exact: true })
    .click();
  await workbench.waitForFile('made8.txt', text => text !== undefined);
  await workbench.statusBarItem('pending').waitFor({ state: 'detached' });
});

drivenTest('every button, key and command of several files: multi-file diff and tree', {}, async driven => {
  const { workbench } = driven;
  const { page } = workbench;
  const { keyboard } = page;
  workbench.writeFile('old1.txt', 'old 1\n');
  workbench.writeFile('old2.txt', 'old 2\n');

  // A preview that only deletes has its lenses, too.
  const gone = await push(
    driven,
    'Delete two',
    { path: 'old1.txt', before: 'old 1\n', after: null },
    { path: 'old2.txt', before: 'old 2\n', after: null },
  );
  await workbench.runCommand('Redline: Focus on Pending View');
  await workbench.clickTreeRow('Delete two');
  const deletedLens = (title: RegExp) =>
    page.locator('.multiDiffEntry .codelens-decoration a').filter({ hasText: title }).first();
  await deletedLens(/Keep File/).click();
  await driven.until(
    'one file to be left',
    ({ api }, id) => (api.previews.get(id)?.files.length === 1 ? true : undefined),
    gone,
  );
  await deletedLens(/^\s*Delete\s*$/).click();
  await isNow(driven, gone, 'applied');
  assert.deepEqual(
    [workbench.readFile('old1.txt'), workbench.readFile('old2.txt')].filter(text => text !== undefined)
      .length,
    1,
  );

  // Lenses of files, and what they become.
  await push(driven, 'Make three', create('a.txt'), create('b.txt'), create('c.txt'));
  await workbench.clickTreeRow('Make three');
  await shows(workbench, 'Make three');
  await exactLens(workbench, 'Create').click();
  await exactLens(workbench, 'Undo Apply').waitFor();
  const made = ['a.txt', 'b.txt', 'c.txt'].filter(path => workbench.readFile(path) === `${path}\n`);
  assert.equal(made.length, 1);
  await exactLens(workbench, 'Undo Apply').click();
  await workbench.waitForFile(made[0] ?? '', text => text === undefined);
  await workbench.clickTreeRow('Make three');
  await exactLens(workbench, 'Discard').click();
  await exactLens(workbench, 'Reopen').click();
  await workbench.treeRow('Make three: ').waitFor();

  // Keys in the multi-file diff.
  const four = await push(
    driven,
    'Make four',
    create('d.txt'),
    create('e.txt'),
    create('f.txt'),
    create('g.txt'),
  );
  await workbench.clickTreeRow('Make four');
  await shows(workbench, 'Make four');
  await proposedLine(workbench, 'd.txt').click();
  await keyboard.press('Shift+Alt+PageDown');
  await activeTab(workbench).filter({ hasNotText: 'Make four (Redline)' }).waitFor();
  // A new file alone has one side.
  await page.locator('.editor-group-container.active .monaco-editor.focused').waitFor();
  await keyboard.press('Shift+Alt+PageUp');
  // Backwards, the review comes to the last file of the preview.
  await activeTab(workbench).filter({ hasText: 'g.txt 4/4 (Redline)' }).waitFor();
  await workbench.clickTreeRow('Make four');
  await proposedLine(workbench, 'd.txt').click();
  await keyboard.press('Control+Enter');
  await workbench.waitForFile('g.txt', text => text === 'g.txt\n');
  await isNow(driven, four, 'applied');
  await workbench.runCommand('Redline: Discard All Previews');
  await workbench.statusBarItem('pending').waitFor({ state: 'detached' });

  // The rows of files: inline buttons, keys, and the menu.
  const rows = await push(
    driven,
    'Make rows',
    ...['h', 'i', 'j', 'k', 'l', 'm'].map(name => create(`${name}.txt`)),
  );
  await workbench.setTreeRow('Make rows', 'expanded');
  await workbench.treeRow('h.txt').waitFor();
  await workbench.treeAction('h.txt', 'Apply File');
  await workbench.waitForFile('h.txt', text => text === 'h.txt\n');
  await workbench.treeAction('i.txt', 'Discard File');
  await workbench.treeRow('i.txt').waitFor({ state: 'detached' });
  await workbench.clickTreeRow('j.txt');
  await workbench.editorTab('j.txt 1/4 (Redline)').waitFor();
  // The diff has the focus now.
  await workbench.runCommand('Redline: Focus on Pending View');
  await keyboard.press('Control+Enter');
  await workbench.waitForFile('j.txt', text => text === 'j.txt\n');
  await isNow(driven, rows, 'pending');
  await workbench.clickTreeRow('k.txt');
  await workbench.editorTab('k.txt 1/3 (Redline)').waitFor();
  await workbench.runCommand('Redline: Focus on Pending View');
  await keyboard.press('Control+Backspace');
  await workbench.treeRow('k.txt').waitFor({ state: 'detached' });
  await isNow(driven, rows, 'pending');
  await contextMenu(workbench, workbench.treeRow('Make rows'), 'Discard with Reason');
  await workbench.answerInput('Enough rows.');
  await isNow(driven, rows, 'discarded');
  assert.equal(await lastReason(driven), 'Enough rows.');

  // Several rows with one reason.
  const picked = [
    await push(driven, 'Pick one', create('n.txt')),
    await push(driven, 'Pick two', create('o.txt')),
  ];
  await workbench.clickTreeRow('Pick one');
  await workbench.treeRow('Pick two').click({ modifiers: ['Control'] });
  await contextMenu(workbench, workbench.treeRow('Pick two'), 'Discard with Reason');
  await workbench.answerInput('Neither.');
  for (const id of picked) await isNow(driven, id, 'discarded');
  assert.deepEqual(
    await driven.run(({ api }) =>
      api.previews
        .ledger()
        .slice(-2)
        .map(({ reason }) => reason),
    ),
    ['Neither.', 'Neither.'],
  );

  // What an extension's action was pending for is gone after a reload, and stays listed until it is dismissed.
  await driven.run(({ api }) => {
    for (const label of ['Send the mail', 'Send another mail']) {
      const done = { content: [] };
      api.previews.push({ label, sourceToolName: 'mailer', apply: () => Promise.resolve(done) });
    }
  });
  await workbench.treeRow('Send the mail').waitFor();
  await driven.reload();
  await workbench.runCommand('Redline: Focus on Pending View');
  await workbench.setTreeRow('Expired (2)', 'expanded');
  await workbench.treeAction('Send the mail', 'Dismiss');
  await workbench.treeRow('Expired (1)').waitFor();
  await workbench.treeAction('Expired (1)', 'Dismiss');
  await workbench.treeRow('Expired').waitFor({ state: 'detached' });
  assert.equal(await lensText(workbench, 'Run').count(), 0);
});
