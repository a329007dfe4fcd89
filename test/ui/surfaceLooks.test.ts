import assert from 'node:assert/strict';
import { inRepo } from '../../scripts/lib/paths.mjs';
import { startScriptedServer } from '../support/scriptedServer.ts';
import { axeViolations, unnamedControls, unreachableByKeyboard } from './support/chatChecks.ts';
import { exactLens, lensText, proposedLine } from './support/diffPage.ts';
import { drivenTest } from './support/drivenWorkbench.ts';

const THEMES = {
  dark: 'Default Dark Modern',
  light: 'Default Light Modern',
  'high-contrast': 'Default High Contrast',
};
const VIEWPORT = { width: 1400, height: 1300 };
const LINES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven'];
const TEXT = LINES.map(line => `${line}\n`).join('');
const LOUD = TEXT.replace('two', 'TWO').replace('six', 'SIX').replace('ten', 'TEN');

drivenTest(
  'diff, multi-file diff, tree, ledger and chat with every state, in dark, light and high contrast',
  { pictures: inRepo('out', 'surface-pictures'), viewport: VIEWPORT },
  async driven => {
    const { workbench } = driven;
    const { page } = workbench;
    const chat = workbench.chatFrame();
    const server = await startScriptedServer([{ text: 'Let me see.' }, { hang: true }]);
    try {
      await workbench.openRedlineChat();
      await chat.locator('.empty-title').waitFor();
      assert.deepEqual(await axeViolations(workbench), [], 'empty');

      // An action of another extension that the end of its window cut off.
      await driven.run(({ api }) => {
        const apply = () => Promise.resolve({ content: [] });
        api.previews.push({ label: 'Send the mail', sourceToolName: 'mailer', apply });
      });
      await workbench.treeRow('Send the mail').waitFor();
      await driven.reload();
      for (const path of ['count.txt', 'gone.txt', 'moved.txt', 'stale.txt']) workbench.writeFile(path, TEXT);
      await workbench.openRedlineChat();
      await driven.run(
        async ({ api, vscode }, [before, after, url]) => {
          const settings = vscode.workspace.getConfiguration('redline');
          await settings.update('openai.baseUrl', url, true);
          await settings.update('openai.model', 'scripted', true);
          await settings.update('resolve.modelAuthority', 'none', true);
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
            push('Empty the count', { path: 'count.txt', before, after: '' }),
            'discard',
            'It is needed.',
          );
          const failing = api.previews.push({
            label: 'Publish the package',
            sourceToolName: 'publisher',
            details: { registry: 'https://example.com', version: '1.0.0' },
            apply: () => Promise.reject(new Error('The registry did not answer.')),
          });
          await vote(failing.id, 'apply', 'Try it.');
          push('Replace what changed meanwhile', {
            path: 'stale.txt',
            before,
            after: 'new\n',
          });
          push(
            'Rename, delete and count',
            { path: 'count.txt', before, after },
            { path: 'gone.txt', before, after: null },
            { path: 'fresh.txt', before: null, after: 'fresh\n' },
          );
          push('Count louder', { path: 'count.txt', before, after });
        },
        [TEXT, LOUD, server.baseUrl] as const,
      );
      workbench.writeFile('stale.txt', `${TEXT}changed meanwhile\n`);
      await workbench.treeRow('stale').waitFor();
      await workbench.treeRow('last attempt failed').waitFor();
      await workbench.setTreeRow('Expired (1)', 'expanded');
      await workbench.setTreeRow('Rename, delete and count', 'expanded');
      await workbench.sendChat('Hello?');
      await chat.locator('.log').getByText('Let me see.').waitFor();
      await workbench.sendChat('Go on.');
      await chat.locator('body[data-state="running"]').waitFor();

      const drawAll = async (name: string): Promise<void> => {
        await workbench.clickTreeRow('Count louder');
        await exactLens(workbench, 'Apply').waitFor();
        await workbench.picture(`${name}-diff`);
        await workbench.clickTreeRow('Rename, delete and count');
        await exactLens(workbench, 'Apply').waitFor();
        await workbench.picture(`${name}-multi-file-diff`);
        await workbench.clickTreeRow('Replace what changed');
        await lensText(workbench, 'Stale: stale.txt').waitFor();
        await workbench.picture(`${name}-stale`);
        await workbench.clickTreeRow('Publish the package');
        await lensText(workbench, 'The last attempt failed').waitFor();
        await workbench.picture(`${name}-failed`);
        await workbench.runCommand('Redline: Show Ledger');
        await page.locator('.quick-input-list').getByText('Write the notes').waitFor();
        await workbench.picture(`${name}-ledger`);
        await page.keyboard.press('Escape');
      };
      for (const [name, theme] of Object.entries(THEMES)) {
        await driven.run(async ({ vscode }, label) => {
          await vscode.workspace.getConfiguration('workbench').update('colorTheme', label, true);
        }, theme);
        await drawAll(name);
        assert.deepEqual(await axeViolations(workbench), [], name);
      }
      // What a window at 200 % has: half the room.
      await page.setViewportSize({ width: 700, height: 650 });
      await workbench.setTreeRow('Rename, delete and count', 'collapsed');
      await drawAll('zoom-200');
      await page.setViewportSize(VIEWPORT);
      const states = await chat.locator('.card').evaluateAll(all => all.map(one => one.dataset['state']));
      assert.ok(states.filter(state => state === 'pending').length >= 4, states.join());
      for (const note of ['.card-note.stale', '.card-note.last-error']) await chat.locator(note).waitFor();
      assert.deepEqual(await unnamedControls(workbench), []);
      assert.deepEqual(await unreachableByKeyboard(workbench), []);
      // What the file says now conflicts with it: its card leads to where that is settled.
      const staleCard = chat.locator('.card:has(.card-note.stale)');
      assert.equal(await staleCard.locator('[data-action="apply"]').count(), 0);
      await staleCard.getByRole('button', { name: 'Rebase Replace what changed meanwhile' }).click();
      await proposedLine(workbench, '<<<<<<<').waitFor();
      assert.deepEqual(server.violations, []);
    } finally {
      await server.close();
    }
  },
);
