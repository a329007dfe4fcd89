import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { inRepo } from '../../scripts/lib/paths.mjs';
import { exactLens } from './support/diffPage.ts';
import { uiTest } from './support/uiTest.ts';

const price = (total: string, tax: string): string =>
  [
    'export function price(items: number[]): number {',
    `  const total = ${total};`,
    ...Array.from({ length: 12 }, (_, n) => `  step(${n});`),
    `  return total * ${tax};`,
    '}',
    '',
  ].join('\n');

uiTest(
  'a branch with a conflict: what fits is decided at once, the conflict is settled and applied, nothing is written before',
  { pictures: inRepo('out', 'surface-pictures'), viewport: { width: 1400, height: 900 } },
  async workbench => {
    const git = (...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], {
        cwd: workbench.workspace,
        encoding: 'utf8',
      });
    const commit = (files: Readonly<Record<string, string | Uint8Array>>): void => {
      for (const [name, content] of Object.entries(files)) workbench.writeFile(name, content);
      git('add', '-A');
      git('commit', '-qm', 'x');
    };
    git('init', '-q', '-b', 'main');
    commit({ 'price.ts': price('0', '1'), 'rates.ts': price('1', '1') });
    git('checkout', '-qb', 'agent/prices');
    commit({
      'price.ts': price('sum(items)', '1.19'),
      'rates.ts': price('rate()', '2'),
      'sum.ts': 'export const sum = 1;\n',
      'huge.txt': new Uint8Array(5 * 1024 * 1024 + 1).fill(97),
    });
    git('checkout', '-q', 'main');
    commit({ 'price.ts': price('items.length', '1') });
    await workbench.openRedlineChat();

    await workbench.runCommand('Redline: Review Branch or Worktree…');
    await workbench.page.locator('.quick-input-list').getByText('agent/prices').waitFor();
    await workbench.picture('elsewhere-1-which');
    await workbench.quickPick('agent/prices');
    await workbench.treeRow('Branch agent/prices').waitFor();
    await workbench.treeRow('Conflicts with branch agent/prices').waitFor();
    await exactLens(workbench, 'Apply').waitFor();
    await workbench.toast('Not in the preview: huge.txt: larger than 5 MB.').waitFor();
    await workbench.picture('elsewhere-2-branch');
    await workbench.toast('Not in the preview').getByText('Show All').click();
    await workbench.editorTab('Untitled-1').waitFor();
    await workbench.picture('elsewhere-2-left-out');
    await workbench.clickTreeRow('1 of 2 viewed');
    assert.equal(git('status', '--porcelain'), '');

    await exactLens(workbench, 'Apply').first().click();
    await workbench.waitForFile('rates.ts', text => text === price('rate()', '1'));
    await workbench.editorTitleAction('Apply Preview').click();
    await workbench.waitForFile('sum.ts', text => text === 'export const sum = 1;\n');
    assert.equal(workbench.readFile('rates.ts'), price('rate()', '2'));

    // The rows have moved: what is decided stands below what is not.
    await workbench.treeRow(/Branch agent\/prices\s*applied/).waitFor();
    await workbench.clickTreeRow('Conflicts with branch agent/prices');
    await exactLens(workbench, 'Accept Proposed').waitFor();
    await workbench.picture('elsewhere-3-conflict');
    await exactLens(workbench, 'Accept Proposed').click();
    await exactLens(workbench, 'Accept Proposed').waitFor({ state: 'detached' });
    await workbench.picture('elsewhere-4-settled');
    assert.equal(workbench.readFile('price.ts'), price('items.length', '1'));
    await workbench.editorTitleAction('Apply Preview').click();
    await workbench.waitForFile('price.ts', text => text === price('sum(items)', '1.19'));

    await workbench.runCommand('Redline: Hold Back Changes…');
    await workbench.page.locator('.quick-input-list').getByText('sum.ts').waitFor();
    await workbench.picture('elsewhere-5-hold-back');
    await workbench.page.keyboard.press('Escape');
  },
);

uiTest(
  'what was applied is staged with a message, without what the person has changed',
  { pictures: inRepo('out', 'surface-pictures'), viewport: { width: 1400, height: 900 } },
  async workbench => {
    const git = (...args: string[]): string =>
      execFileSync('git', args, { cwd: workbench.workspace, encoding: 'utf8' });
    git('init', '-q', '-b', 'main');
    git('config', 'user.name', 'T');
    git('config', 'user.email', 't@example.com');
    workbench.writeFile('price.ts', price('0', '1'));
    workbench.writeFile('rates.ts', price('1', '1'));
    git('add', '-A');
    git('commit', '-qm', 'first');
    workbench.writeFile('price.ts', price('0', 'mine'));
    await workbench.openRedlineChat();
    for (const edit of [
      'price.ts :: total = 0 => total = sum(items)',
      'rates.ts :: total = 1 => total = rate()',
    ]) {
      await workbench.sendChat(`/edit ${edit}`);
      await exactLens(workbench, 'Apply').click();
      await exactLens(workbench, 'Apply').waitFor({ state: 'detached' });
    }
    await workbench.waitForFile('rates.ts', text => text === price('rate()', '1'));

    await workbench.runCommand('Redline: Stage Applied Changes');
    await workbench.toast('2 files were staged.').waitFor();
    await workbench.page.getByRole('tab', { name: /^Source Control/ }).click();
    await workbench.page.locator('.scm-editor').getByText('- rates.ts:2').waitFor();
    await workbench.picture('staged');
    assert.equal(git('show', ':price.ts'), price('sum(items)', '1'));
    assert.equal(git('show', ':rates.ts'), price('rate()', '1'));
    assert.equal(git('status', '--porcelain'), 'MM price.ts\nM  rates.ts\n');
  },
);
