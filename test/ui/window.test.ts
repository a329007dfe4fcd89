/** The core stories: a change is proposed, seen, applied or discarded, by whom it may be, and kept until then. */
import assert from 'node:assert/strict';
import type { Workbench } from './support/workbench.mjs';
import { startScriptedServer } from '../support/scriptedServer.ts';
import {
  changedLines,
  exactLens,
  lensText,
  proposedLine,
  storedLedger,
  revertArrow,
} from './support/diffPage.ts';
import { stageWrites } from './support/stagedWrites.ts';
import { modelTest, uiTest } from './support/uiTest.ts';

const CART = 'src/cart.ts';
const OLD = 'total += item.price;';
const NEW = 'total += item.price * item.quantity;';
const EDIT = `/edit ${CART} :: ${OLD} => ${NEW}`;

uiTest(
  'a change asked for in the chat waits as a diff; the lens Discard drops it, the lens Apply lands it',
  {},
  async workbench => {
    const before = workbench.readFile(CART);
    await workbench.openRedlineChat();
    await workbench.sendChat(EDIT);
    await workbench.lens('Discard').click();
    await workbench.editorTab('cart.ts (Redline').waitFor({ state: 'detached' });
    assert.equal(workbench.readFile(CART), before);

    await workbench.sendChat(EDIT);
    await workbench.editorTab('cart.ts (Redline').waitFor();
    await workbench.lens('Apply').waitFor();
    assert.equal(workbench.readFile(CART), before);

    await workbench.lens('Apply').click();

    const expected = before?.replace(OLD, NEW);
    await workbench.waitForFile(CART, text => text === expected);
    await workbench.editorTab('cart.ts (Redline').waitFor({ state: 'detached' });
  },
);

const edit = (old: string, to: string) => ({
  toolCalls: [{ name: 'edit_file', arguments: { path: CART, edits: [{ old, new: to }] } }],
});
const vote = (action: 'apply' | 'discard', reason: string) => ({
  toolCalls: [{ name: 'resolve', arguments: { action, reason } }],
});

modelTest(
  'in Auto mode the model discards one of its previews and applies the next, and the chat says why',
  [
    edit(OLD, 'total += item.quantity;'),
    vote('discard', 'It leaves the price out.'),
    edit(OLD, NEW),
    vote('apply', 'It counts every item.'),
    { text: 'Both are decided.' },
  ],
  async (workbench, server) => {
    const before = workbench.readFile(CART);
    const chat = workbench.chatFrame();
    await workbench.openRedlineChat();
    await chat.locator('#mode').selectOption({ label: 'Auto' });
    await workbench.sendChat('Count every item.');
    await chat.locator('.log').getByText('Both are decided.').waitFor();
    assert.equal(workbench.readFile(CART), before?.replace(OLD, NEW));
    for (const [id, outcome, reason] of [
      ['p1', 'discarded', 'It leaves the price out.'],
      ['p2', 'applied', 'It counts every item.'],
    ] as const) {
      await chat.locator(`[data-preview-id="${id}"]`).getByText(outcome).waitFor();
      await chat.locator('[data-kind="resolve"]').filter({ hasText: reason }).waitFor();
    }
    assert.equal(server.requests.length, 5);
    await workbench.statusBarItem('pending').waitFor({ state: 'detached' });
  },
);

const badge = async (workbench: Workbench, count: number): Promise<void> => {
  await workbench
    .badge('Redline')
    .filter({ hasText: String(count) })
    .waitFor();
};

uiTest('the tree: badge, inline buttons, the row for all, Discard All and Reopen', {}, async workbench => {
  const dialog = workbench.page.locator('.monaco-dialog-box');
  await stageWrites(workbench, 1, 2, 3);
  await badge(workbench, 3);
  await workbench.clickTreeRow('Apply all 3 changes');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  // The keys that apply and discard a row ask as its click does.
  for (const [key, asked] of [
    ['Enter', 'Apply all 3 changes'],
    ['Control+Enter', 'Apply all 3 changes'],
    ['Control+Backspace', 'Discard all 3 changes'],
  ] as const) {
    await workbench.runCommand('Redline: Focus on Pending View');
    await workbench.page.keyboard.press('Home');
    await workbench.page.keyboard.press(key);
    await dialog.getByText(asked).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  }
  assert.equal(workbench.readFile('made1.txt'), undefined);
  await workbench.treeAction('Create made1.txt', 'Apply Preview');
  await workbench.waitForFile('made1.txt', text => text === 'content 1');
  // The rows move up when it goes.
  await workbench.treeRow('Create made1.txt').waitFor({ state: 'detached' });
  await workbench.treeAction('Create made2.txt', 'Discard Preview');
  await workbench.treeRow('Create made2.txt').waitFor({ state: 'detached' });
  await badge(workbench, 1);
  assert.equal(workbench.readFile('made2.txt'), undefined);

  await workbench.treeRow('Create made3.txt').hover();
  await workbench.viewTitleAction('Discard All').click();
  await workbench.toast('Discarded 1 preview.').getByText('Reopen').click();
  await workbench.treeRow('Create made3.txt').waitFor();
  await workbench.treeRow('Create made3.txt').hover();
  assert.equal(await workbench.treeRow('Apply all').count(), 0, 'one has its own Apply');
  await stageWrites(workbench, 4);
  await workbench.picture('apply-all-row');
  await workbench.clickTreeRow('Apply all 2 changes');
  await dialog.getByRole('button', { name: 'Apply', exact: true }).click();
  await workbench.waitForFile('made3.txt', text => text === 'content 3');
  await workbench.waitForFile('made4.txt', text => text === 'content 4');
  await workbench.statusBarItem('pending').waitFor({ state: 'detached' });
  await workbench.page.locator('.pane-header').filter({ hasText: 'Pending' }).waitFor({ state: 'detached' });
});

uiTest(
  'after a reload the status bar counts and opens the head; Discard All from the palette drops the rest',
  {},
  async workbench => {
    await stageWrites(workbench, 1, 2);
    await workbench.runCommand('View: Close All Editors');
    await workbench.reload();
    await workbench.statusBarItem('2 pending').click();
    await workbench.editorTab('made2.txt (Redline').waitFor();
    await badge(workbench, 2);
    await workbench.lens('Create').click();
    await workbench.waitForFile('made2.txt', text => text === 'content 2');
    await workbench.statusBarItem('1 pending').waitFor();
    await workbench.runCommand('Redline: Discard All Previews');
    await workbench.statusBarItem('pending').waitFor({ state: 'detached' });
    assert.equal(workbench.readFile('made1.txt'), undefined);
  },
);

const WORDS = 'one two three four five six seven eight nine ten eleven twelve';
const TEXT = WORDS.split(' ')
  .map(word => `${word}\n`)
  .join('');

uiTest(
  'of three hunks one is applied, one discarded, one edited and applied: the file holds exactly that, and the model is told',
  {},
  async workbench => {
    const server = await startScriptedServer((_request, n) =>
      n === 0
        ? {
            toolCalls: [
              {
                name: 'edit_file',
                arguments: {
                  path: 'count.txt',
                  edits: [
                    { old: 'two\n', new: 'TWO\n' },
                    { old: 'six\n', new: 'SIX\n' },
                    { old: 'eleven\n', new: 'ELEVEN\n' },
                  ],
                },
              },
            ],
          }
        : { text: 'Understood.' },
    );
    try {
      workbench.writeFile('count.txt', TEXT);
      await workbench.updateSettings({
        'redline.provider': 'openai',
        'redline.resolve.forcing': 'forced',
        'redline.openai.baseUrl': server.baseUrl,
        'redline.openai.model': 'scripted',
        'redline.resolve.modelAuthority': 'none',
      });
      await workbench.openRedlineChat();
      await workbench.sendChat('Count louder.');
      await exactLens(workbench, 'Apply').click();
      const first = TEXT.replace('two', 'TWO');
      await workbench.waitForFile('count.txt', text => text === first);
      // Until the diff shows what is left, a vote by key is for what was shown before, and is refused.
      await changedLines(workbench).nth(2).waitFor({ state: 'detached' });

      await proposedLine(workbench, 'SIX').click();
      await workbench.page.keyboard.press('Control+N');
      await proposedLine(workbench, 'SIX').waitFor({ state: 'detached' });
      assert.equal(workbench.readFile('count.txt'), first);

      await workbench.editorTitleAction('Edit Proposal').click();
      await revertArrow(workbench).waitFor();
      await proposedLine(workbench, 'ELEVEN').click();
      await workbench.page.keyboard.press('End');
      await workbench.page.keyboard.type(' by hand');
      await lensText(workbench, 'Save & Apply').waitFor();
      await workbench.page.keyboard.press('Control+S');
      await lensText(workbench, 'edited by you').waitFor();
      assert.equal(workbench.readFile('count.txt'), first);

      await exactLens(workbench, 'Apply').click();
      const last = first.replace('eleven', 'ELEVEN by hand');
      await workbench.waitForFile('count.txt', text => text === last);
      await workbench.editorTab('count.txt (Redline').waitFor({ state: 'detached' });

      const told = JSON.stringify((await server.request(2)).body.messages);
      assert.match(told, /The user applied p2/);
      assert.match(told, /The user discarded p3/);
      assert.match(
        told,
        /The refused part:\\n```\\n--- count\.txt\\n\+\+\+ count\.txt\\n@@ -6,1 \+6,1 @@\\n-six\\n\+SIX/,
      );
      assert.match(told, /The user edited p1[^"]*-ELEVEN\\n\+ELEVEN by hand/);
      assert.match(told, /The user applied p1/);
      const ledger = storedLedger(workbench).map(({ previewId, outcome, hunks }) => ({
        previewId,
        outcome,
        hunks,
      }));
      assert.deepEqual(ledger, [
        { previewId: 'p2', outcome: 'applied', hunks: { applied: 1, refused: 0 } },
        { previewId: 'p3', outcome: 'discarded', hunks: { applied: 0, refused: 1 } },
        { previewId: 'p1', outcome: 'applied', hunks: undefined },
      ]);
      assert.deepEqual(server.violations, []);
    } finally {
      await server.close();
    }
  },
);
