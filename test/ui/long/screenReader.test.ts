/** What a screen reader gets of the chat, the lens row, the trees and the announcements; it is printed to be read. */
import assert from 'node:assert/strict';
import type { FrameLocator, Locator } from 'playwright-core';
import { startScriptedServer, type Reply } from '../../support/scriptedServer.ts';
import { exactLens, lensText } from '../support/diffPage.ts';
import { drivenTest } from '../support/drivenWorkbench.ts';

const LINES = Array.from({ length: 24 }, (_, n) => `line ${n + 1}`);
const TEXT = `${LINES.join('\n')}\n`;
const TWO_HUNKS = TEXT.replace('line 2\n', 'second\n').replace('line 20\n', 'twentieth\n');

/** Prints one place as a screen reader gets it, under its name. */
async function print(name: string, place: Locator): Promise<void> {
  console.log(`── ${name}\n${await place.ariaSnapshot()}\n`);
}

/** Prints every card of the chat. */
async function printCards(chat: FrameLocator): Promise<void> {
  for (const card of await chat.locator('.card').all())
    await print(`card: ${(await card.getAttribute('aria-label')) ?? ''}`, card);
}

drivenTest(
  'cards, lenses, rows and announcements as a screen reader gets them',
  { viewport: { width: 1400, height: 1300 } },
  async driven => {
    const { workbench } = driven;
    const { page } = workbench;
    const chat = workbench.chatFrame();
    const edit = (path: string, old: string, replacement: string) => ({
      name: 'edit_file',
      arguments: { path, edits: [{ old, new: replacement }] },
    });
    const replies: readonly Reply[] = [
      {
        text: 'I count louder.',
        toolCalls: [
          { name: 'read_file', arguments: { path: 'src/cart.ts' } },
          edit('src/cart.ts', 'let total = 0;', 'let sum = 0;'),
        ],
      },
      {
        toolCalls: [
          {
            name: 'resolve',
            arguments: { action: 'apply', reason: 'It is what you asked for.', ids: ['p1'] },
          },
        ],
      },
      { text: 'Please look at it.' },
    ];
    const planning: readonly Reply[] = [
      {
        text: '1. Read\n2. Write',
        toolCalls: [
          {
            name: 'resolve',
            arguments: { action: 'apply', reason: 'It is ready.', extra: { title: 'Count in cents' } },
          },
        ],
      },
      { text: 'I wait for you.' },
    ];
    const vote: Reply = {
      toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'It is as you asked.' } }],
    };
    // The session goes on by itself: the model is asked about what an apply failed of, and told what was decided.
    let planned = 0;
    const server = await startScriptedServer(({ body: { messages, tool_choice: choice } }, n) => {
      if (JSON.stringify(messages).includes('Plan it.')) return planning[planned++] ?? { text: 'I wait.' };
      const isForced = choice === 'required' || typeof choice === 'object';
      return replies[n] ?? (isForced ? vote : { text: 'I see.' });
    });
    try {
      for (const path of ['two.txt', 'stale.txt', 'gone.txt']) workbench.writeFile(path, TEXT);
      await workbench.openRedlineChat();
      await driven.run(async ({ vscode }, url) => {
        const settings = vscode.workspace.getConfiguration('redline');
        await settings.update('openai.baseUrl', url, true);
        await settings.update('openai.model', 'scripted', true);
      }, server.baseUrl);
      await workbench.sendChat('Call it sum.');
      await chat.locator('.log').getByText('Please look at it.').waitFor();
      await driven.run(
        async ({ api }, [text, twoHunks]) => {
          const push = (
            label: string,
            ...changes: { path: string; before: string | null; after: string | null }[]
          ) => api.previews.push({ label, sourceToolName: 'edit_file', changes }).id;
          const vote = (id: string, action: 'apply' | 'discard', reason: string) =>
            api.previews.resolve({ id, action, reason }).catch(() => undefined);
          await vote(
            push('Write the notes', { path: 'notes.md', before: null, after: '# Notes\n' }),
            'apply',
            'Wanted.',
          );
          await vote(
            push('Empty the list', { path: 'gone.txt', before: text, after: '' }),
            'discard',
            'It is needed.',
          );
          const publish = {
            label: 'Publish the package',
            sourceToolName: 'publisher',
            details: { version: '1.0.0' },
            apply: () => Promise.reject(new Error('The registry did not answer.')),
          };
          await vote(api.previews.push(publish).id, 'apply', 'Try it.');
          push('Replace what changed meanwhile', { path: 'stale.txt', before: text, after: 'new\n' });
          push(
            'Create and delete',
            { path: 'gone.txt', before: text, after: null },
            { path: 'fresh.txt', before: null, after: 'fresh\n' },
          );
          push('Count louder', { path: 'two.txt', before: text, after: twoHunks });
        },
        [TEXT, TWO_HUNKS] as const,
      );
      workbench.writeFile('stale.txt', `${TEXT}changed meanwhile\n`);
      await workbench.treeRow('stale').waitFor();
      await workbench.treeRow('last attempt failed').waitFor();

      await workbench.clickTreeRow('Count louder');
      await exactLens(workbench, 'Apply').waitFor();
      const lenses = page.locator('.codelens-decoration').filter({ has: page.locator('a') });
      await print('lens row of a file with two hunks', lenses.first());
      await exactLens(workbench, 'Apply').click();
      await chat.locator('.card-news').getByText('Count louder, 1 applied').waitFor();
      await workbench.clickTreeRow('Create and delete');
      await exactLens(workbench, 'Create').waitFor();
      await print('lens row of a file of two', lenses.first());
      await workbench.clickTreeRow('Replace what changed');
      await lensText(workbench, 'Stale: stale.txt').waitFor();
      await print('lens row of a stale preview', lenses.first());

      await printCards(chat);
      await print('Pending', page.getByRole('tree', { name: 'Pending' }));
      await print('the whole chat', chat.locator('body'));

      await workbench.treeAction('Create and delete', 'Discard Preview');
      await chat.locator('.card-news').getByText('Create and delete, Discarded by you').waitFor();
      await workbench.runCommand('Redline: Discard All Previews');
      await workbench.statusBarItem('Review done').waitFor();
      await chat.locator('[role=status]').filter({ hasText: 'Review done' }).waitFor();
      console.log(
        `── announced of cards\n${(await chat.locator('.card-news > p').allTextContents()).join('\n')}\n`,
      );
      await printCards(chat);
      await print('announced at the end', chat.locator('.status-line'));

      await chat.getByRole('button', { name: 'Plan' }).click();
      await chat.locator('[aria-pressed="true"]').waitFor();
      await workbench.sendChat('Plan it.');
      await chat.locator('.card .plan').first().waitFor();
      await print('card of a plan', chat.locator('.card.pending').last());
      await workbench.runCommand('Redline: Focus on History View');
      await page.getByRole('tree', { name: 'History' }).locator('.monaco-list-row').first().waitFor();
      await print('History', page.getByRole('tree', { name: 'History' }));
      assert.deepEqual(server.violations, []);
    } finally {
      await server.close();
    }
  },
);
