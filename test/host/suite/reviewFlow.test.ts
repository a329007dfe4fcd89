import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { PREVIEW_SCHEME } from '../../../src/views/contributions.ts';
import { activateRedline, bytesOf, cleanUp, givenFile, setting, until } from '../support/redline.ts';

suite('the review goes on by itself', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  setup(() => setting('resolve.order', 'oldestFirst'));
  teardown(() => cleanUp(api));

  const { onDidChangeTabs } = vscode.window.tabGroups;
  const redlineTabs = (): string[] =>
    vscode.window.tabGroups.all
      .flatMap(group => group.tabs)
      .map(tab => tab.label)
      .filter(label => label.includes('(Redline'));
  const shows = (labels: readonly string[]) =>
    until(
      onDidChangeTabs,
      () => (redlineTabs().join() === labels.join() ? true : undefined),
      `the tabs ${labels.join(', ')}; there are ${redlineTabs().join(', ')}`,
    );
  const push = (...paths: string[]): string =>
    api.previews.push({
      label: paths.join(', '),
      sourceToolName: 'test',
      changes: paths.map(path => ({ path, before: null, after: path })),
    }).id;
  const run = (command: string, ...args: unknown[]) => vscode.commands.executeCommand(command, ...args);

  test('after a vote the next pending preview takes the tab, the focus stays in the editor, and at the end no tab is left', async () => {
    const [, second, third] = ['go1.txt', 'go2.txt', 'go3.txt'].map(path => push(path));
    await run('redline.preview.open', second);
    await run('redline.preview.discard');
    await shows(['go3.txt (Redline)']);
    const active = await until(
      vscode.window.onDidChangeActiveTextEditor,
      () => {
        const { document } = vscode.window.activeTextEditor ?? {};
        return document?.uri.authority === third ? document : undefined;
      },
      'the diff of the next preview to be the active editor',
    );
    assert.equal(active.uri.scheme, PREVIEW_SCHEME);
    await run('redline.preview.discard');
    await shows(['go1.txt (Redline)']);
    await run('redline.preview.discard');
    await shows([]);
  });

  test('nothing opens when the preview was not in front, when the user wants to open previews themselves, or when another extension decides', async () => {
    const ids = [0, 1, 2, 3].map(n => push(`quiet${n}.txt`));
    await run('redline.preview.discard', ids[0]);
    assert.deepEqual(redlineTabs(), []);
    await setting('preview.open', 'onDemand');
    await run('redline.preview.open', ids[1]);
    await run('redline.preview.discard');
    await shows([]);
    await setting('preview.open', 'auto');
    await run('redline.preview.open', ids[2]);
    await api.previews.resolve({ id: ids[2] ?? '', action: 'discard', reason: 'test' });
    await shows([]);
  });

  test('a next preview that is in front in another group is not shown twice: a vote in the editor goes there', async () => {
    const ids = [0, 1, 2].map(n => push(`beside${n}.txt`));
    const inGroups = async (first: string | undefined, second: string | undefined): Promise<void> => {
      await run('redline.preview.open', first);
      await run('workbench.action.newGroupRight');
      await run('redline.preview.open', second);
    };
    await inGroups(ids[0], ids[1]);
    await shows(['beside0.txt (Redline)', 'beside1.txt (Redline)']);
    await run('redline.preview.discard', ids[0]);
    await shows(['beside1.txt (Redline)']);
    await inGroups(ids[1], ids[2]);
    await shows(['beside1.txt (Redline)', 'beside2.txt (Redline)']);
    await run('workbench.action.focusFirstEditorGroup');
    await run('redline.preview.discard');
    await shows(['beside2.txt (Redline)']);
    await until(
      vscode.window.onDidChangeActiveTextEditor,
      () => (vscode.window.activeTextEditor?.document.uri.authority === ids[2] ? true : undefined),
      'the other group to have the focus',
    );
  });

  test('after a file the next file of the same preview takes the tab, with its number, then the next preview', async () => {
    const id = push('n1.txt', 'n2.txt', 'n3.txt');
    push('n4.txt');
    await run('redline.preview.open', id, 'n2.txt');
    await shows(['n2.txt 2/3 (Redline)']);
    await run('redline.preview.discardFile', id, 'n2.txt');
    await shows(['n3.txt 2/2 (Redline)']);
    await run('redline.preview.discardFile', id, 'n3.txt');
    await shows(['n1.txt (Redline)']);
    await run('redline.preview.discardFile', id, 'n1.txt');
    await shows(['n4.txt (Redline)']);
  });

  test('while all are resolved at once, nothing opens in between, and the review goes on with what is left', async () => {
    const opened: string[] = [];
    const tabs = onDidChangeTabs(event => opened.push(...event.opened.map(tab => tab.label)));
    try {
      await givenFile('left.txt', 'as it was');
      const ids = [0, 1, 2, 3].map(n => push(`many${n}.txt`));
      api.previews.push({
        label: 'left',
        sourceToolName: 'test',
        changes: [{ path: 'left.txt', before: 'as it was', after: 'new' }],
      });
      await givenFile('left.txt', 'changed meanwhile');
      await run('redline.preview.open', ids[0]);
      await until(onDidChangeTabs, () => (opened.length > 0 ? true : undefined), 'the first tab');
      await run('redline.preview.applyAll');
      await shows(['left.txt (Redline)']);
      assert.deepEqual(opened, ['many0.txt (Redline)', 'left.txt (Redline)']);
    } finally {
      tabs.dispose();
    }
  });

  test('Next and Previous go through the files of a preview, and come back from another editor', async () => {
    for (const paths of [['w1.txt'], ['w2.txt', 'w3.txt'], ['w4.txt']]) push(...paths);
    await run('redline.preview.next');
    await shows(['w1.txt (Redline)']);
    await run('redline.preview.next');
    await shows(['w2.txt 1/2 (Redline)']);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: 'else' }));
    await run('redline.preview.next');
    await shows(['w3.txt 2/2 (Redline)']);
    await run('redline.preview.next');
    await shows(['w4.txt (Redline)']);
    await run('redline.preview.previous');
    await shows(['w3.txt 2/2 (Redline)']);
  });

  test('after a vote on a hunk the cursor is on the next one on both sides, and after the last one on the first that is left', async () => {
    const lines = Array.from({ length: 90 }, (_, n) => `line ${n}`);
    const changed = lines.map((line, n) => (n % 30 === 10 ? `${line} changed` : line));
    // The first hunk also adds lines, so that the sides differ from there on.
    changed[10] += '\nand one\nand another';
    await givenFile('hunks.txt', lines.join('\n'));
    const { id } = api.previews.push({
      label: 'hunks',
      sourceToolName: 'test',
      changes: [{ path: 'hunks.txt', before: lines.join('\n'), after: changed.join('\n') }],
    });
    await run('redline.preview.open', id);
    const cursors = () =>
      vscode.window.visibleTextEditors
        .filter(({ document }) => document.uri.authority === id)
        .map(({ document, selection }) => `${document.uri.query || 'proposal'} ${selection.active.line}`)
        .sort();
    await run('redline.preview.applyHunk', id, 'hunks.txt', 0, 1);
    // What was applied is on both sides now.
    assert.deepEqual(cursors(), ['base 42', 'proposal 42']);
    assert.match((await bytesOf('hunks.txt')).toString(), /line 10 changed\nand one\nand another/);
    await run('redline.preview.discardHunk', id, 'hunks.txt', 1, 2);
    assert.deepEqual(cursors(), ['base 42', 'proposal 42']);
    await run('redline.preview.applyHunk');
    await shows([]);
  });

  test('keys that are pressed faster than diffs are drawn decide hunk after hunk, file after file, and none is refused', async () => {
    const FILES = 6;
    const HUNKS = 5;
    const lines = Array.from({ length: 40 * HUNKS }, (_, n) => `line ${n}`);
    const text = lines.join('\n');
    const changed = lines.map((line, n) => (n % 40 === 10 ? `${line} changed` : line)).join('\n');
    const paths = Array.from({ length: FILES }, (_, n) => `fast${n}.txt`);
    const ids: string[] = [];
    for (const path of paths) {
      await givenFile(path, text);
      const changes = [{ path, before: text, after: changed }];
      ids.push(api.previews.push({ label: path, sourceToolName: 'test', changes }).id);
    }
    await run('redline.preview.open', ids[0]);
    await shows(['fast0.txt (Redline)']);
    const keys = Array.from({ length: FILES * HUNKS }, (_, n) =>
      run(n % 2 === 0 ? 'redline.preview.applyHunk' : 'redline.preview.discardHunk'),
    );
    await Promise.all(keys);
    await shows([]);
    const outcomes = api.previews.ledger().filter(({ label }) => label.startsWith('fast'));
    assert.equal(outcomes.length, FILES * HUNKS);
    for (const [n, path] of paths.entries()) {
      const applied = lines.map((line, m) =>
        m % 40 === 10 && (n * HUNKS + (m - 10) / 40) % 2 === 0 ? `${line} changed` : line,
      );
      assert.equal((await bytesOf(path)).toString(), applied.join('\n'));
    }
  });

  test('a click on a lens that is not drawn anew is for the hunk that it names, and a second one on it is none', async () => {
    const lines = Array.from({ length: 90 }, (_, n) => `line ${n}`);
    const text = lines.join('\n');
    const changed = lines.map((line, n) => (n % 30 === 10 ? `${line} changed` : line)).join('\n');
    await givenFile('lens.txt', text);
    const changes = [{ path: 'lens.txt', before: text, after: changed }];
    const { id } = api.previews.push({ label: 'lens', sourceToolName: 'test', changes });
    await run('redline.preview.open', id);
    // The numbers and the revision that the lenses had when the diff was opened.
    const click = (hunk: number) =>
      run('redline.preview.applyHunk', id, 'lens.txt', hunk, 1, { from: 'lens' });
    await Promise.all([click(0), click(0), click(2)]);
    const applied = lines.map((line, n) => (n === 10 || n === 70 ? `${line} changed` : line));
    assert.equal((await bytesOf('lens.txt')).toString(), applied.join('\n'));
    assert.equal(api.previews.get(id)?.state, 'pending');
    await run('redline.preview.discard', id);
  });
});
