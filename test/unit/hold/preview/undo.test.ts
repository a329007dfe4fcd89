import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { english } from '../../../../src/agent/base/localiser.ts';
import {
  changeOf,
  sideOfText,
  type FileChange,
  type FileSide,
} from '../../../../src/agent/hold/preview/fileChange.ts';
import { stepsOf } from '../../../../src/agent/hold/preview/fileSteps.ts';
import type { Preview, PreviewState } from '../../../../src/agent/hold/preview/preview.ts';
import {
  inverseOf,
  reopenAction,
  undoAction,
  undoBranchAction,
} from '../../../../src/agent/hold/preview/undo.ts';
import { textIn } from '../../../support/changes.ts';

const side = (text: string): FileSide => sideOfText(text);
const changes: readonly FileChange[] = [
  changeOf('modified.ts', side('old'), side('new')) ?? assert.fail(),
  changeOf('created.ts', null, side('created')) ?? assert.fail(),
  changeOf('deleted.ts', side('deleted'), null) ?? assert.fail(),
  { kind: 'rename', path: 'to.ts', from: 'from.ts', before: side('named'), after: side('renamed') },
];
/** A workspace as a map; refuses a step whose base is not there, as a commit does. */
function commit(files: Map<string, string>, all: readonly FileChange[]): Map<string, string> {
  const next = new Map(files);
  for (const { path, before, after } of all.flatMap(stepsOf)) {
    assert.equal(next.get(path), textIn(before), path);
    if (after) next.set(path, textIn(after));
    else next.delete(path);
  }
  return next;
}
const preview = (state: PreviewState, content: readonly FileChange[] | null = changes): Preview => ({
  id: 'p1',
  revision: 1,
  label: 'all kinds',
  sourceToolName: 'test',
  ...(content ? { kind: 'files', changes: content } : { kind: 'action', changes: content }),
  dependsOn: [],
  details: { kept: true },
  origin: null,
  stagedAt: '2026-01-01T00:00:00.000Z',
  state,
});
const by = { actor: 'human', reason: 'r', at: '2026-01-01T00:00:00.000Z' } as const;

describe('restaging', () => {
  test('the inverse undoes every kind of change, and its inverse is the change', () => {
    const start = new Map([
      ['modified.ts', 'old'],
      ['deleted.ts', 'deleted'],
      ['from.ts', 'named'],
    ]);
    const end = commit(start, changes);
    assert.deepEqual(new Map([...commit(end, inverseOf(changes))].sort()), new Map([...start].sort()));
    assert.deepEqual(inverseOf(inverseOf(changes)), changes);
  });

  test('what an action did besides is not undone with its branch, and so it does not count as undone', () => {
    const applied: PreviewState = { kind: 'applied', by };
    const action = { ...preview(applied, null), id: 'p2' };
    const undo = undoBranchAction([preview(applied), action], [], 'revert', 'branch');
    assert.deepEqual(undo?.undoes, ['p1']);
    assert.equal(undoBranchAction([action], [], 'revert', 'branch'), undefined);
  });

  test('changes of one path are undone in reverse order', () => {
    const twice = [
      changeOf('a', null, side('1')) ?? assert.fail(),
      changeOf('a', side('1'), side('2')) ?? assert.fail(),
    ];
    assert.deepEqual(commit(commit(new Map(), twice), inverseOf(twice)), new Map());
  });

  test('only what was applied can be undone, only what was discarded reopened', () => {
    assert.equal(undoAction(preview({ kind: 'applied', by }))?.label, 'Undo: all kinds');
    assert.equal(undoAction(preview({ kind: 'applied', by }, null)), undefined);
    const reopened = reopenAction(preview({ kind: 'discarded', by }));
    assert.deepEqual(reopened?.changes, changes);
    assert.deepEqual(reopened.details, { kept: true });
    assert.equal(reopenAction(preview({ kind: 'discarded', by }, null)), undefined);
    for (const state of [{ kind: 'pending', stale: [] }, { kind: 'expired' }] as const) {
      assert.equal(undoAction(preview(state)), undefined);
      assert.equal(reopenAction(preview(state)), undefined);
    }
  });
});

test('an undo is titled as what it undoes, for whoever reads titles', () => {
  const applied = preview({
    kind: 'applied',
    by: { actor: 'human', reason: 'Wanted.', at: '2026-01-01T00:00:00.000Z' },
  });
  const titleOfUndo = (of: Preview): string => {
    const title = undoAction(of)?.title;
    return typeof title === 'function' ? title(english) : assert.fail(title);
  };
  assert.equal(titleOfUndo(applied), 'Undo: all kinds');
  const titled = { ...applied, modelTitle: 'Shout' };
  assert.equal(undoAction(titled)?.modelTitle, 'Undo: Shout', 'the model knows it by the title that it gave');
  assert.equal(titleOfUndo({ ...applied, title: 'a.ts:1 old → new' }), 'Undo: a.ts:1 old → new');
});
