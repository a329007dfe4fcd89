import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import type { ProposedAction } from '../../../src/views/api.ts';
import { drivenTest } from '../support/drivenWorkbench.ts';

/** Text that runs a command where it is taken for a link, becomes a flame where for an icon, and runs where for HTML. */
const LINK = '[Press](command:redlineTest.canary)';
const HOSTILE = `${LINK} $(flame) <img src=x onerror="window.owned=1"> **bold**`;
const FILE = '[Press](command:redlineTest.canary) $(flame).txt';

drivenTest(
  'whatever labels, reasons and paths hold, no toast, box, list or document runs it',
  {},
  async driven => {
    const { workbench } = driven;
    const { page } = workbench;
    await driven.run(({ vscode, kept }) => {
      vscode.commands.registerCommand('redlineTest.canary', () => (kept['ran'] = true));
    });
    // That it would run where it is taken for a link: in a Markdown file of the person's own.
    const canaryRan = () => driven.run(({ kept }) => kept['ran'] ?? null);
    workbench.writeFile('control.md', `${LINK}\n`);
    await workbench.openFile('control.md');
    await page.locator('.editor-instance .detected-link').first().waitFor();
    await press(page.locator('.editor-instance .view-line').filter({ hasText: 'Press' }).first());
    await driven.until('the control to run', ({ kept }) => (kept['ran'] === true ? true : undefined));
    await driven.run(({ kept }) => void delete kept['ran']);
    const push = (draft: Partial<ProposedAction>): Promise<string> =>
      driven.run(({ api }, given) => api.previews.push(given).id, {
        label: HOSTILE,
        sourceToolName: HOSTILE,
        ...draft,
      });
    const command = (name: string, ...args: unknown[]): Promise<void> =>
      driven.run(
        ({ vscode }, [id, ...rest]) => void vscode.commands.executeCommand(`redline.${id}`, ...rest),
        [name, ...args] as const,
      );
    const changes = [{ path: FILE, before: null, after: 'x' }];

    // Toasts. What they say is all there, and none of it can be pressed.
    const toast = async (text: string): Promise<void> => {
      const message = workbench.toast(text).locator('.notification-list-item-message');
      await message.waitFor();
      assert.deepEqual(await message.locator('a').allTextContents(), [], text);
      assert.match((await message.textContent()) ?? '', /\[Press\] \(command:/);
      await page.keyboard.press('Escape');
      await workbench.runCommand('Notifications: Clear All Notifications');
    };
    const first = await push({ changes });
    await command('preview.openFile', first);
    await toast('does not exist yet');
    workbench.writeFile(FILE, 'somebody else made it');
    await command('preview.apply', first);
    await toast('changed after the preview was made');
    await command('preview.discard', first, HOSTILE);
    await driven.until(
      'the vote',
      ({ api }, id) => (api.previews.get(id)?.state === 'discarded' ? true : undefined),
      first,
    );
    await command('preview.apply', first);
    await toast('is already discarded');
    await command('preview.undo', first);
    await toast('cannot be undone');
    await driven.run(({ vscode }) => {
      // The driver is another extension: what it passes is what a menu could pass.
      void vscode.commands.executeCommand('redline.chat.attach', undefined, [
        vscode.Uri.file('/nowhere/[Press](command:redlineTest.canary)'),
      ]);
    });
    await toast('Only files in the workspace');
    // The command also shows the chat, which then takes the focus.
    await workbench.chatFrame().locator('textarea#prompt:focus').waitFor();

    // Boxes and lists.
    const widget = page.locator('.quick-input-widget:visible');
    const shown = async (text: RegExp): Promise<void> => {
      await widget.getByText(text).first().waitFor();
      assert.equal(await widget.locator('.codicon-flame, img, a[href^="command"]').count(), 0);
      await page.keyboard.press('Escape');
      await widget.waitFor({ state: 'detached' });
    };
    const second = await push({ changes: [{ path: `dir/${FILE}`, before: null, after: 'x' }] });
    await command('preview.discardWithReason', second);
    await shown(/^Discard .*\[Press\]/);
    await command('preview.reopen');
    await shown(/\[Press\]/);
    await command('showLedger');
    await shown(/\[Press\]/);
    await workbench.openRedlineChat();
    await workbench.chatFrame().getByRole('button', { name: 'Attach a File or the Selection' }).click();
    await shown(/\[Press\]/);

    // Documents: the ledger, what an extension would run, and a plan.
    await workbench.runCommand('Redline: Show Ledger');
    await widget.locator('.quick-input-titlebar').locator('a[aria-label="Open as Document"]').click();
    await workbench.editorTab('Redline Ledger').waitFor();
    await press(page.locator('.editor-instance .view-line').filter({ hasText: 'Press' }).first());
    const plan = { title: HOSTILE, text: `${HOSTILE}\n\n${LINK}` };
    const [opaque = '', asPlan = ''] = await driven.run(
      ({ api }, [label, title, text]) =>
        [
          { sourceToolName: label, details: `${label}\n${text}` },
          { sourceToolName: 'plan_approval', details: { title, text } },
        ].map(
          action => api.previews.push({ label, ...action, apply: () => Promise.resolve({ content: [] }) }).id,
        ),
      [HOSTILE, plan.title, plan.text] as const,
    );
    for (const [id, discard] of [
      [opaque, /Discard$/],
      [asPlan, /Send Back…$/],
    ] as const) {
      await command('preview.open', id);
      await page.locator('.codelens-decoration a').filter({ hasText: discard }).first().waitFor();
      const lines = page.locator('.editor-instance .view-line').filter({ hasText: 'Press', visible: true });
      await lines.first().waitFor();
      for (const line of await lines.all()) await press(line);
    }
    await command('preview.discardWithReason', asPlan);
    await shown(/^Send back the plan .*\[Press\]/);
    assert.equal(await canaryRan(), null);
    assert.equal(await page.locator('.editor-instance .detected-link').count(), 0);
    const owned = await Promise.all(page.frames().map(frame => frame.evaluate("'owned' in window")));
    assert.ok(owned.every(is => is === false));
  },
);

/** Presses the link in a line of an editor, as links in editors are pressed. */
async function press(line: Locator): Promise<void> {
  const page = line.page();
  const text = (await line.textContent()) ?? '';
  const character = 7.8; // pixels wide, about
  // By the mouse itself: a locator's click insists on the element, and editors may draw a line anew while Ctrl is held.
  const box = await line.boundingBox();
  assert.ok(box, text);
  await page.keyboard.down('Control');
  await page.mouse.click(box.x + character * (text.indexOf('command') + 4), box.y + box.height / 2);
  await page.keyboard.up('Control');
}
