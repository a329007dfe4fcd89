import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { Emitter } from '../../../src/agent/base/event.ts';
import { changeOf, sideOfText } from '../../../src/agent/hold/preview/fileChange.ts';
import type { CheckMark } from '../../../src/agent/hold/preview/previewView.ts';
import type { LedgerEntry } from '../../../src/agent/hold/preview/ledger.ts';
import type { Preview, PreviewContent } from '../../../src/agent/hold/preview/preview.ts';
import type { Risk } from '../../../src/agent/hold/preview/reading/risks.ts';
import { PreviewStore } from '../../../src/agent/hold/preview/previewStore.ts';
import type { ResolveOrder } from '../../../src/agent/hold/preview/resolveSettings.ts';
import type { Agent } from '../../../src/views/agent.ts';
import type { RedlineApi } from '../../../src/views/api.ts';
import type { PendingParts } from '../../../src/views/review/pending/pendingParts.ts';
import { childrenOf, PAGE } from '../../../src/views/review/pending/pendingNodes.ts';
import type { PendingNode } from '../../../src/views/review/pending/pendingNode.ts';
import { LookedAt } from '../../../src/views/review/lookedAt.ts';
import { ReviewList } from '../../../src/views/review/reviewList.ts';
import type { ShownRevisions, VisibleChange } from '../../../src/views/review/shownRevisions.ts';
import { PendingTree } from '../../../src/views/review/pending/pendingTree.ts';
import { riskMark } from '../../../src/views/texts/riskWords.ts';
import { activateRedline, bytesOf, cleanUp, fileInWorkspace, givenFile, until } from '../support/redline.ts';

const HOSTILE = '<img src=x onerror=alert(1)> $(flame) **b**\n[x](command:workbench.action.quit)';

suite('the pending tree', () => {
  let store: PreviewStore;
  let tree: PendingTree;
  let review: ReviewList;
  let order: ResolveOrder;
  let looks: LookedAt;
  /** What editors show. */
  let visible: VisibleChange[];
  let appeared: Emitter<void>;
  let known: readonly Risk[];
  let marks: readonly CheckMark[];
  /** The preview whose proposal is being edited. */
  let unsaved: string;

  setup(() => {
    known = [];
    unsaved = '';
    order = 'newestFirst';
    const done = (): Promise<void> => Promise.resolve();
    const log = { append: done, flush: done, compact: done };
    store = new PreviewStore(log, error => assert.fail(String(error)));
    const settings = { order, onDidChange: () => new vscode.Disposable(() => undefined) };
    visible = [];
    appeared = new Emitter<void>();
    const shown = { visible: () => visible, onDidShow: appeared.event };
    const files = (path: string): vscode.Uri => vscode.Uri.file(fileInWorkspace(path));
    const agent = { store, settings, files } as unknown as Agent;
    looks = new LookedAt(agent, shown as unknown as ShownRevisions);
    review = new ReviewList(agent);
    marks = [];
    const checks = { marksOf: () => marks, onDidChange: new Emitter<void>().event };
    const risks = { of: () => known, onDidChange: new Emitter<void>().event };
    const edits = {
      hasUnsaved: (id: string) => id === unsaved,
      onDidChangeUnsaved: new Emitter<void>().event,
    };
    tree = new PendingTree({ ...agent, review, looks, checks, risks, edits } as unknown as PendingParts);
  });

  teardown(() => tree.dispose());

  const stage = (
    label: string,
    paths: readonly string[] | null = ['a.ts'],
    origin: Preview['origin'] = null,
  ): string => {
    const changes = paths?.flatMap(path => changeOf(path, null, sideOfText('x')) ?? []) ?? null;
    const draft = { label, sourceToolName: 'edit_file', dependsOn: [], origin };
    const content: PreviewContent = changes ? { kind: 'files', changes } : { kind: 'action', changes };
    return store.stage({ ...draft, ...content, stagedAt: new Date().toISOString() }).preview.id;
  };
  const row = (id: string): vscode.TreeItem => tree.getTreeItem(nodeOf(id));
  const nodeOf = (id: string): PendingNode =>
    childrenOf(store, store.list(order), undefined).find(
      node => node.kind === 'preview' && node.previewId === id,
    ) ?? assert.fail(`${id} has a row`);

  test('previews are rows with their files below, in the order of the setting', async () => {
    stage('first', ['src/a.ts', 'b.ts']);
    stage('second', null);
    const [, second, first] = tree.getChildren();
    assert.ok(first && second);
    assert.equal(tree.getTreeItem(first).label, 'first');
    assert.equal(tree.getTreeItem(first).description, '2 files');
    assert.equal(tree.getTreeItem(first).collapsibleState, vscode.TreeItemCollapsibleState.Collapsed);
    assert.equal(tree.getTreeItem(second).collapsibleState, vscode.TreeItemCollapsibleState.None);
    const [a] = tree.getChildren(first);
    assert.ok(a);
    const file = tree.getTreeItem(a);
    assert.equal(file.resourceUri?.path, vscode.Uri.file(fileInWorkspace('src/a.ts')).path);
    assert.equal(file.description, 'new · src');
    assert.deepEqual(file.command?.arguments, [], 'it opens what is selected');
    assert.deepEqual(
      childrenOf(store, store.list('oldestFirst'), undefined).map(
        node => 'previewId' in node && node.previewId,
      ),
      ['p1', 'p2'],
    );
  });

  test('a row says whether its preview is stale, failed or recommended, for screen readers too', async () => {
    const id = stage('Edit a.ts');
    await store.recommend(id, { action: 'apply', reason: 'Looks right.' });
    assert.equal(row(id).description, '');
    assert.equal(
      row(id).accessibilityInformation?.label,
      'Edit a.ts, The model recommends Apply: Looks right',
    );
    known = [{ kind: 'deletes', path: 'a.ts' }];
    assert.equal(row(id).description, riskMark(known));
    assert.equal(row(id).label, '⚠ Edit a.ts', 'a narrow side bar cuts off what comes after it');
    known = [];
    await store.markStale(id, ['a.ts']);
    assert.equal(row(id).description, 'stale');
    assert.equal((row(id).iconPath as vscode.ThemeIcon).id, 'warning');
    assert.equal(row(id).contextValue, 'redline.stale');
    await store.recommend(id, { action: 'discard', reason: 'Not needed.' });
    assert.equal(row(id).description, 'stale · not recommended');
  });

  test('what the model said of several previews of a set together is in the row of the set', async () => {
    const origin = { sessionId: 's', asksModel: true, setId: 'set', setTitle: 'Add the tax' };
    const [one = '', two = '', three = ''] = ['a.ts', 'b.ts', 'c.ts'].map(path =>
      stage(`Edit ${path}`, [path], origin),
    );
    for (const id of [one, two])
      await store.recommend(id, { action: 'apply', reason: 'As asked.', isOfSet: true });
    await store.recommend(three, { action: 'apply', reason: 'Please look at it.' });
    await review.loaded();
    const rows = async (): Promise<readonly (string | boolean | undefined)[][]> => {
      const [, set = assert.fail()] = tree.getChildren();
      const items = [set, ...tree.getChildren(set)].map(node => tree.getTreeItem(node));
      return items.map(item => [item.description, item.accessibilityInformation?.label]);
    };
    assert.deepEqual(await rows(), [
      ['3 files', 'Add the tax, 3 files, Recommends Apply of 2: As asked.'],
      ['', 'Edit a.ts'],
      ['', 'Edit b.ts'],
      ['', 'Edit c.ts, The model recommends Apply: Please look at it'],
    ]);
    await store.recommend(three, { action: 'discard', reason: 'Not needed.', isOfSet: true });
    assert.deepEqual(
      (await rows()).map(([description]) => description),
      ['3 files', '', '', 'not recommended'],
    );
    assert.equal(
      (await rows())[0]?.[1],
      'Add the tax, 3 files, Recommends Apply of 2: As asked., Recommends Discard of 1: Not needed.',
    );
  });

  test('what came after those that are decided is looked up once for all rows, until something changes', async () => {
    const origin = { sessionId: 's', asksModel: false, setId: 's/1', setTitle: 'Prompt' };
    const ids = Array.from({ length: 20 }, (_, at) => stage(`edit ${at}`, ['a.ts'], origin));
    const apply = async (previewId: string): Promise<void> => {
      store.beginResolving(previewId, 'apply', 'human');
      const by = { previewId, action: 'apply', actor: 'human', reason: 'ok', at: new Date().toISOString() };
      const what = { label: 'edit', sourceToolName: 'edit_file', kind: 'files', files: [] };
      await store.endResolving([{ ...by, ...what, outcome: 'applied' } as LedgerEntry], []);
    };
    for (const id of ids.slice(1)) await apply(id);
    const decided = async (): Promise<readonly (string | boolean | undefined)[]> => {
      const [set] = tree.getChildren();
      const items = tree.getChildren(set).map(node => tree.getTreeItem(node));
      return items.slice(1).map(({ description }) => description);
    };
    let looks = 0;
    const all = store.all.bind(store);
    store.all = () => {
      looks++;
      return all();
    };
    assert.deepEqual(
      await decided(),
      ids.slice(1).map(() => 'applied'),
    );
    assert.ok(looks < 10, `${looks} times`);
    const [, first = ''] = ids;
    const changes = store.get(first)?.changes ?? assert.fail();
    const undo = { label: 'Undo', sourceToolName: 'edit_file', dependsOn: [], origin: null, undoes: [first] };
    const stagedAt = new Date().toISOString();
    await apply(store.stage({ ...undo, kind: 'files', changes, stagedAt }).preview.id);
    assert.equal((await decided())[0], 'undone');
  });

  test('a row says how much of its preview was looked at, and a file row whether it was, for screen readers too', async () => {
    const id = stage('Edit', ['src/a.ts', 'b.ts']);
    const preview = store.get(id) ?? assert.fail('it is there');
    const [a] = preview.changes ?? [];
    assert.ok(a);
    const given = nodeOf(id);
    tree.getTreeItem(given);
    const refreshed: (PendingNode[] | undefined)[] = [];
    const following = tree.onDidChangeTreeData(rows => refreshed.push(rows));
    visible = [{ preview, change: a }];
    appeared.fire();
    following.dispose();
    assert.deepEqual(refreshed, [[given]], 'only its row is refreshed');
    assert.equal(refreshed[0]?.[0], given, 'VS Code knows a row by its object');
    assert.equal(row(id).description, '1 of 2 viewed');
    assert.equal(row(id).accessibilityInformation?.label, 'Edit, 2 files, 1 of 2 viewed');
    const files = tree.getChildren(nodeOf(id)).map(node => tree.getTreeItem(node));
    assert.deepEqual(
      files.map(file => [file.description, file.accessibilityInformation?.label]),
      [
        ['new · viewed · src', 'src/a.ts, new, viewed'],
        ['new', 'b.ts, new'],
      ],
    );
    await store.recommend(id, { action: 'apply', reason: 'Looks right.' });
    assert.equal(row(id).description, '1 of 2 viewed');
    const single = stage('Edit c.ts', ['c.ts']);
    const one = store.get(single) ?? assert.fail('it is there');
    visible = [{ preview: one, ...(one.changes?.[0] ? { change: one.changes[0] } : {}) }];
    appeared.fire();
    assert.equal(row(single).description, 'viewed');
    assert.equal(row(single).accessibilityInformation?.label, 'Edit c.ts, viewed');
  });

  test('a row names its file before the folder, which a narrow side bar cuts off', async () => {
    const id = stage('Edit src/deep/c.ts (1 edit)', ['src/deep/c.ts']);
    const { label, description, accessibilityInformation } = row(id);
    assert.deepEqual([label, description], ['Edit c.ts (1 edit)', 'src/deep']);
    assert.equal(accessibilityInformation?.label, 'Edit src/deep/c.ts (1 edit)');
  });

  test('a row with a red check is red, one that was not tested says so last, and no tooltip has an id', async () => {
    const id = stage('Create src/d.ts', ['src/d.ts']);
    const color = (): unknown => {
      const { iconPath } = row(id);
      return iconPath instanceof vscode.ThemeIcon ? iconPath.color?.id : undefined;
    };
    const mark = { name: 'test', seconds: 1, problems: 0, isFlaky: false, together: [] };
    assert.equal(color(), 'gitDecoration.addedResourceForeground');
    marks = [{ ...mark, state: 'notTested', isCurrent: false }];
    assert.deepEqual(
      [row(id).description, color()],
      ['– test not run yet · src', 'gitDecoration.addedResourceForeground'],
    );
    marks = [{ ...mark, state: 'failed', isCurrent: true }];
    assert.deepEqual([row(id).description, color()], ['✘ test failed · src', 'list.errorForeground']);
    const { tooltip } = tree.resolveTreeItem(row(id), nodeOf(id));
    assert.ok(tooltip instanceof vscode.MarkdownString);
    assert.match(tooltip.value, /^\*\*Create /);
    assert.ok(!tooltip.value.includes(`(${id}`), tooltip.value);
  });

  test('foreign text is shown as plain text', async () => {
    const id = stage(HOSTILE);
    assert.equal(row(id).label, HOSTILE.replace('\n', ' '));
    const { tooltip } = tree.resolveTreeItem(row(id), nodeOf(id));
    assert.ok(tooltip instanceof vscode.MarkdownString);
    assert.ok(!tooltip.isTrusted && !tooltip.supportHtml);
    assert.doesNotMatch(tooltip.value, /<img|[^\\]\*\*b|\$\(flame|[^\\]\[x/);
  });

  test('expired previews are in a separate group until they are dismissed', async () => {
    store.restore([
      {
        type: 'staged',
        preview: {
          id: 'p1',
          label: 'Send the mail',
          sourceToolName: 'mailer',
          kind: 'action',
          changes: null,
          dependsOn: [],
          origin: null,
          stagedAt: new Date().toISOString(),
        },
      },
    ]);
    const [group, ...others] = tree.getChildren();
    assert.ok(group);
    assert.deepEqual(others, []);
    assert.equal(tree.getTreeItem(group).label, 'Expired (1)');
    const [expired] = tree.getChildren(group);
    assert.ok(expired);
    assert.equal(tree.getTreeItem(expired).contextValue, 'redline.expired');
    await store.dismiss('p1');
    assert.deepEqual(tree.getChildren(), []);
  });

  test('ten thousand previews fill one page, and a burst of changes is one refresh', async () => {
    tree.getChildren();
    let refreshes = 0;
    const refreshed = until(
      tree.onDidChangeTreeData,
      () => (refreshes++ > 0 ? true : undefined),
      'a refresh',
    );
    for (let i = 0; i < 10_000; i++) stage(`preview ${i}`);
    await refreshed;
    assert.equal(refreshes, 2, 'asked once at the start, and once by the one event');
    const rows = tree.getChildren();
    assert.equal(rows.length, 1 + PAGE + 1, 'the row for all stands first');
    const more = rows.at(-1);
    assert.ok(more);
    assert.equal(tree.getTreeItem(more).label, `${10_000 - PAGE} more`);
    assert.equal(tree.getChildren(more).length, PAGE + 1);
  });
});

suite('rows of the pending tree as arguments of commands', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });
  setup(() => givenFile('row.txt', 'one\n'));
  teardown(() => cleanUp(api));

  const push = (after: string): { previewId: string; revision: number } => {
    const changes = [{ path: 'row.txt', before: 'one\n', after }];
    const { id, revision } = api.previews.push({ label: `row ${after}`, sourceToolName: 'test', changes });
    return { previewId: id, revision };
  };

  test('Apply on a row applies it', async () => {
    const row = push('two\n');
    await vscode.commands.executeCommand('redline.preview.apply', { kind: 'preview', ...row });
    assert.equal((await bytesOf('row.txt')).toString(), 'two\n');
    assert.equal(api.previews.ledger().at(-1)?.actor, 'human');
  });

  test('a vote on a row of an older revision is refused', async () => {
    const row = push('two\n');
    await vscode.commands.executeCommand('redline.preview.apply', { kind: 'preview', ...row, revision: 99 });
    assert.equal((await bytesOf('row.txt')).toString(), 'one\n');
    assert.equal(api.previews.get(row.previewId)?.state, 'pending');
  });

  test('several selected rows are voted on together, a preview once', async () => {
    const [first, second] = [push('two\n'), push('three\n')];
    const file = { kind: 'file', ...first, path: 'row.txt' };
    const rows = [{ kind: 'preview', ...first }, file, { kind: 'preview', ...second }];
    const before = api.previews.ledger().length;
    // The command ends only when its notification is closed, so the test waits for the resolutions instead.
    void vscode.commands.executeCommand('redline.preview.discard', rows[0], rows);
    await until(
      api.previews.onDidChange,
      () => (api.previews.hasPending ? undefined : true),
      'both to be discarded',
    );
    assert.equal(api.previews.ledger().length, before + 2);
  });

  const fileRows = (paths: readonly string[]) => {
    const changes = paths.map(path => ({ path, before: null, after: `${path}\n` }));
    const { id, revision } = api.previews.push({ label: 'several', sourceToolName: 'test', changes });
    return paths.map(path => ({ kind: 'file', previewId: id, revision, path }));
  };
  const exists = (path: string): Promise<boolean> =>
    bytesOf(path).then(
      () => true,
      () => false,
    );
  const resolved = () =>
    api.previews
      .ledger()
      .slice(-2)
      .map(({ outcome, files }) => [outcome, files.map(file => file.path)]);

  test('a vote on the row of a file is a vote on that file, whichever command it is', async () => {
    const [a, b, c] = fileRows(['votes-a.txt', 'votes-b.txt', 'votes-c.txt']);
    await vscode.commands.executeCommand('redline.preview.apply', a);
    await vscode.commands.executeCommand('redline.preview.discard', { ...b, revision: 2 });
    assert.deepEqual(resolved(), [
      ['applied', ['votes-a.txt']],
      ['discarded', ['votes-b.txt']],
    ]);
    await vscode.commands.executeCommand('redline.preview.applyFile', c);
    // The row showed an older revision, which only these two decisions have made outdated.
    assert.equal(api.previews.get(a?.previewId ?? '')?.state, 'applied');
    assert.deepEqual(await Promise.all(['votes-a.txt', 'votes-b.txt', 'votes-c.txt'].map(exists)), [
      true,
      false,
      true,
    ]);
    for (const name of ['votes-a.txt', 'votes-c.txt'])
      await vscode.workspace.fs.delete(vscode.Uri.file(fileInWorkspace(name)));
  });

  test('several file rows are voted on together, and the rest of their preview stays', async () => {
    const rows = fileRows(['sel-a.txt', 'sel-b.txt', 'sel-c.txt']);
    void vscode.commands.executeCommand('redline.preview.discardFile', rows[0], rows.slice(0, 2));
    const id = rows[0]?.previewId ?? '';
    await until(
      api.previews.onDidChange,
      () =>
        api.previews.ledger().filter(entry => entry.label.startsWith('several: sel')).length === 2
          ? true
          : undefined,
      'both files to be discarded',
    );
    assert.deepEqual(api.previews.get(id)?.files, [{ path: 'sel-c.txt', kind: 'create' }]);
    assert.equal(api.previews.get(id)?.state, 'pending');
  });

  test('selected rows are applied in the order of staging, each after those it depends on', async () => {
    await api.session.prompt('/edit row.txt :: one => two');
    await api.session.prompt('/edit row.txt :: two => three');
    const [first, second] = api.previews.list();
    assert.deepEqual(second?.dependsOn, [first?.id]);
    const rows = [second, first].map(preview => ({
      kind: 'preview',
      previewId: preview?.id,
      revision: preview?.revision,
    }));
    void vscode.commands.executeCommand('redline.preview.apply', rows[0], rows);
    await until(
      api.previews.onDidChange,
      () => (api.previews.hasPending ? undefined : true),
      'both to be applied',
    );
    assert.equal((await bytesOf('row.txt')).toString(), 'three\n');
  });

  test('with nothing named, the head opens and nothing is resolved', async () => {
    const { previewId } = push('two\n');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.commands.executeCommand('redline.preview.apply');
    assert.equal(api.previews.get(previewId)?.state, 'pending');
    assert.equal(vscode.window.tabGroups.activeTabGroup.activeTab?.label, 'row.txt (Redline)');
  });
});
