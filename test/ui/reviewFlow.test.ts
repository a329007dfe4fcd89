import assert from 'node:assert/strict';
import { polled } from '../../scripts/lib/limits.mjs';
import { proposedLine } from './support/diffPage.ts';
import { drivenTest } from './support/drivenWorkbench.ts';
import { uiTest } from './support/uiTest.ts';

uiTest('after a click on a lens the keys go on in the diff, from preview to preview', {}, async workbench => {
  const { page } = workbench;
  await workbench.openRedlineChat();
  for (const n of [1, 2, 3, 4]) {
    await workbench.sendChat(`/write made${n}.txt :: content ${n}`);
    await workbench.treeRow(`Create made${n}.txt`).waitFor();
  }
  const focused = page.locator('.editor-group-container:focus-within');
  const shown = async (n: number): Promise<void> => {
    await proposedLine(workbench, `content ${n}`).waitFor();
    await workbench.lens('Create').waitFor();
    await focused.waitFor();
  };
  await workbench.statusBarItem('4 pending').click();
  await workbench.lens('Create').waitFor();
  await workbench.picture('new-file');
  await workbench.lens('Create').click();
  await workbench.waitForFile('made4.txt', text => text === 'content 4');
  await shown(3);
  await page.keyboard.press('Control+Enter');
  await workbench.waitForFile('made3.txt', text => text === 'content 3');
  await shown(2);
  await workbench.lens('Discard').click();
  await shown(1);
  await page.keyboard.press('Control+Enter');
  await workbench.waitForFile('made1.txt', text => text === 'content 1');
  await workbench.editorTab('made1.txt (Redline').waitFor({ state: 'detached' });
  await focused.waitFor();
});

drivenTest('an apply that ends while the user types in the chat leaves the focus there', {}, async driven => {
  const { workbench } = driven;
  const { keyboard } = workbench.page;
  await workbench.openRedlineChat();
  await driven.run(({ api, kept }) => {
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    Object.assign(kept, { begun: begun.promise, end: end.resolve });
    const apply = async (): Promise<{ content: { type: 'text'; text: string }[] }> => {
      begun.resolve();
      await end.promise;
      return { content: [{ type: 'text', text: 'done' }] };
    };
    api.previews.push({ label: 'Deploy', sourceToolName: 'test', apply });
    const changes = [{ path: 'next.txt', before: null, after: 'next\n' }];
    api.previews.push({ label: 'Write next', sourceToolName: 'test', changes });
  });
  await workbench.treeRow('Deploy').click();
  await workbench.lens('Run').click();
  await driven.run(({ kept }) => kept['begun']);
  const prompt = workbench.chatFrame().locator('textarea#prompt');
  await prompt.click();
  // Once files are suggested, the extension also knows that the chat has the focus.
  await keyboard.type('@cart');
  await workbench.chatFrame().locator('[role=option]').first().waitFor();
  await driven.run(({ kept }) => (kept['end'] as () => void)());
  await workbench.editorTab('Deploy').waitFor({ state: 'detached' });
  await workbench.lens('Create').waitFor();
  await keyboard.type('s');
  assert.equal(await prompt.inputValue(), '@carts');
  assert.equal(workbench.readFile('next.txt'), undefined);
});

for (const [apply, discard] of [
  ['Control+Y', 'Control+N'],
  ['Control+Enter', 'Control+Backspace'],
] as const)
  drivenTest(
    `a key pressed while a diff takes the place of another is for the next: ${apply}, ${discard}`,
    {},
    async driven => {
      const { workbench } = driven;
      const { page } = workbench;
      const FILES = 6;
      for (let n = 0; n < FILES; n++) workbench.writeFile(`gap${n}.txt`, 'old\n');
      await driven.run(({ api }, count) => {
        for (let n = 0; n < count; n++)
          api.previews.push({
            label: `gap ${n}`,
            sourceToolName: 'test',
            changes: [{ path: `gap${n}.txt`, before: 'old\n', after: 'new\n' }],
          });
      }, FILES);
      await driven.run(({ vscode }) => vscode.commands.executeCommand('redline.preview.next'));
      const focused = (n: number): string => `.monaco-editor.focused[data-uri*="gap${n}.txt"]`;
      const order = [...Array(FILES).keys()].reverse();
      for (const n of order.filter(each => each % 2 === 1)) {
        await page.locator(focused(n)).waitFor();
        // Between the two diffs, nothing has the focus.
        const between = page.waitForFunction(
          `document.activeElement === document.body || document.querySelector('${focused(n - 1)}') !== null`,
        );
        await page.keyboard.press(apply);
        await between;
        await page.keyboard.press(discard);
      }
      await workbench.statusBarItem('Review done: 3 applied, 3 discarded').waitFor();
      for (const n of order)
        assert.equal(workbench.readFile(`gap${n}.txt`), n % 2 === 1 ? 'new\n' : 'old\n', String(n));
      assert.equal(await page.locator('.tab').count(), 0);
      // After the review, the keys are VS Code's own.
      if (discard !== 'Control+N') return;
      const untitled = workbench.editorTab('Untitled-1');
      await polled('an empty file', async () => {
        if ((await untitled.count()) === 0) await page.keyboard.press('Control+N');
        return (await untitled.count()) > 0 || undefined;
      });
    },
  );

uiTest(
  'a second prompt takes the tab of a preview that nobody touched, and shows its own change',
  {},
  async workbench => {
    await workbench.openRedlineChat();
    await workbench.sendChat('/edit src/cart.ts :: item.price; => item.price * item.quantity;');
    await workbench.lens('Apply').waitFor();
    await workbench.sendChat('/edit src/cart.ts :: * item.quantity; => * item.quantity * 2;');
    await workbench.lens('Apply all 2 changes').waitFor();
    assert.equal(await workbench.page.locator('.tab').filter({ hasText: '(Redline)' }).count(), 1);
    assert.equal(await workbench.page.locator('.editor-group-container').count(), 1);
    await workbench.picture('second-prompt');
    // Several files open as the diff of the first, and the focus stays in the prompt.
    await workbench.sendChat('/replace console.log($$$A) => console.debug($$$A) in src/**');
    await workbench.editorTab('cart.ts 1/2 (Redline)').waitFor();
    await workbench.editorTab('cart.ts (Redline)').waitFor({ state: 'detached' });
    await workbench.page.keyboard.type('still here');
    assert.equal(await workbench.chatFrame().locator('textarea#prompt').inputValue(), 'still here');
  },
);

uiTest(
  'votes by key go from preview to preview, and at the end one line says what was decided',
  {},
  async workbench => {
    await workbench.openRedlineChat();
    for (const n of [1, 2, 3]) {
      await workbench.sendChat(`/write made${n}.txt :: content ${n}`);
      await workbench.treeRow(`Create made${n}.txt`).waitFor();
    }
    const { keyboard } = workbench.page;
    // From the chat, where the focus is. The last one opened by itself, so this goes on to the one before.
    await workbench.runCommand('Redline: Next Preview');
    for (const n of [2, 1, 3]) {
      await workbench.editorTab(`made${n}.txt (Redline`).waitFor();
      await proposedLine(workbench, `content ${n}`).waitFor();
      await workbench.lens('Create').waitFor();
      if (n === 1) await workbench.picture('review-goes-on');
      await keyboard.press(n === 1 ? 'Control+Backspace' : 'Control+Enter');
    }
    await workbench.waitForFile('made3.txt', text => text === 'content 3');
    await workbench.statusBarItem('Review done: 2 applied, 1 discarded').waitFor();
    // The status bar is not read out; the chat's status line is.
    await workbench.chatFrame().locator('[role=status]').filter({ hasText: 'Review done' }).waitFor();
    await workbench.picture('review-done');
  },
);
