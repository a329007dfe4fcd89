/** How much a person has to look at: the controls that one proposal adds to a window. */
import assert from 'node:assert/strict';
import { drivenTest } from './support/drivenWorkbench.ts';
import { polled } from '../../scripts/lib/limits.mjs';
import { inRepo } from '../../scripts/lib/paths.mjs';
import type { Workbench } from './support/workbench.mjs';

/** What can be clicked, in VS Code and in the page of the chat. */
const CONTROLS = [
  'button, a, select, input, textarea, summary',
  '[role="button"], [role="treeitem"], [role="checkbox"], .monaco-tl-twistie.collapsible',
].join(', ');
/** What any file has: its tab and its breadcrumbs. The name of a row is the row. */
const SKIPPED = '[role="tab"], .breadcrumbs-control, .monaco-icon-label-container';
/** VS Code's own for a diff that has the focus. They appear later than the diff, and not all at once. */
const OF_DIFF = [
  'Previous Change',
  'Next Change',
  'Show Leading',
  'Toggle Collapse',
  'Split Editor',
  'More Actions',
];
/** The most controls that a proposal of two hunks may add. VS Code's own for edits of a chat are about ten. */
const MOST = 18;

/** The visible controls, by name. What stands in another one is part of it, except in a row. */
async function controlsOf(workbench: Workbench): Promise<string[]> {
  const all = [workbench.page.locator('body'), workbench.chatFrame().locator('body')];
  const names = await Promise.all(
    all.map(root =>
      root
        .locator(CONTROLS)
        .evaluateAll(
          (found, { skipped, outer }) =>
            found
              .filter(
                one =>
                  one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
                  one.getClientRects().length > 0 &&
                  !one.closest(skipped) &&
                  !one.parentElement?.closest(outer),
              )
              .map(one => `${one.role ?? one.localName}: ${one.ariaLabel ?? one.textContent.trim()}`),
          { skipped: SKIPPED, outer: `:is(${CONTROLS}):not([role="treeitem"])` },
        ),
    ),
  );
  return names.flat();
}

/** Those that were not there before. */
function added(before: readonly string[], after: readonly string[]): string[] {
  const left = [...before];
  return after.filter(name => {
    const at = left.indexOf(name);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

drivenTest(
  `a proposal of two hunks adds at most ${MOST} controls to a window with a diff of the same`,
  { pictures: inRepo('out', 'controls-pictures'), viewport: { width: 1400, height: 1000 } },
  async driven => {
    const { workbench } = driven;
    const old = `${'line\n'.repeat(20)}first\n${'line\n'.repeat(20)}second\n`;
    const now = old.replace('first', 'First').replace('second', 'Second');
    workbench.writeFile('two.txt', old);
    workbench.writeFile('now.txt', now);
    await workbench.openRedlineChat();
    await driven.run(async ({ vscode }) => {
      const [root] = vscode.workspace.workspaceFolders ?? [];
      if (!root) throw new Error('There is no folder.');
      const [left, right] = ['two.txt', 'now.txt'].map(name => vscode.Uri.joinPath(root.uri, name));
      await vscode.commands.executeCommand('vscode.diff', left, right, 'two.txt');
    });
    await workbench.page.locator('.editor.modified .line-insert').nth(1).waitFor();
    const before = await polled('the actions of the diff', async () => {
      const now = await controlsOf(workbench);
      return OF_DIFF.every(name => now.some(one => one.startsWith(`button: ${name}`))) && now;
    });
    await workbench.picture('plain');
    await workbench.runCommand('View: Close All Editors');

    const id = await driven.run(
      ({ api }, [before, after]) =>
        api.previews.push({
          label: 'Edit two.txt',
          sourceToolName: 'test',
          changes: [{ path: 'two.txt', before, after }],
        }).id,
      [old, now] as const,
    );
    await driven.run(({ vscode }, id) => vscode.commands.executeCommand('redline.preview.open', id), id);
    await workbench.page.locator('.editor.modified .codelens-decoration').nth(1).waitFor();
    await workbench.chatFrame().getByRole('button', { name: 'Apply Edit two.txt' }).waitFor();
    // Its row shows what it offers while the mouse is on it.
    await workbench.treeRow('Edit two.txt').hover();
    await workbench.picture('proposal');
    const more = added(before, await controlsOf(workbench));
    assert.ok(more.length <= MOST, `${more.length}:\n${more.join('\n')}`);
    // Each of these is one of them, or the count has missed what it counts.
    for (const name of ['button: Apply Edit two.txt', 'button: Discard', 'button: Apply'])
      assert.ok(
        more.some(one => one.startsWith(name)),
        `${name} is not among\n${more.join('\n')}`,
      );
  },
);
