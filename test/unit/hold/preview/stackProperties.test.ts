/** Any sequence of stagings, votes, parts, undos and keystrokes, against a plain model of files. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { english } from '../../../../src/agent/base/localiser.ts';
import { ToolError } from '../../../../src/agent/base/errors.ts';
import { silentLogger } from '../../../../src/agent/base/logger.ts';
import { changeOf, sideOfText, type FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import { composedSteps } from '../../../../src/agent/hold/preview/fileSteps.ts';
import { Overlay } from '../../../../src/agent/hold/preview/overlay.ts';
import type { PendingAction } from '../../../../src/agent/hold/preview/pendingAction.ts';
import { isStale, revisionsOf, type Preview } from '../../../../src/agent/hold/preview/preview.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { queueResolveHandler } from '../../../../src/agent/hold/preview/queueResolveHandler.ts';
import { Rebaser } from '../../../../src/agent/hold/preview/rebase/rebaser.ts';
import { Invoker } from '../../../../src/agent/hold/preview/resolve/invoker.ts';
import { resolvePart } from '../../../../src/agent/hold/preview/resolve/resolvePart.ts';
import { undoAction } from '../../../../src/agent/hold/preview/undo.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';
import { rounds } from '../../../support/rounds.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';
import { textIn } from '../../../support/changes.ts';

const LINES = 9;
const files = ['a.txt', 'b.txt'];
const start = (file: string): string =>
  Array.from({ length: LINES }, (_, i) => `${file} line ${i}\n`).join('');

const op = fc.record({
  what: fc.constantFrom(
    'edit',
    'edit',
    'edit',
    'type',
    'apply',
    'applyChain',
    'discard',
    'applyPart',
    'discardPart',
    'remove',
    'rename',
    'undo',
  ),
  file: fc.nat(1),
  lines: fc.uniqueArray(fc.nat(LINES - 1), { minLength: 1, maxLength: 3 }),
  pick: fc.nat(50),
});
type Op = typeof op extends fc.Arbitrary<infer T> ? T : never;

class Bench {
  readonly log = new MemoryPreviewLog();
  readonly store = new PreviewStore(this.log, error => assert.fail(String(error)));
  readonly workspace = new MemoryWorkspace(Object.fromEntries(files.map(file => [file, start(file)])));
  readonly invoker = new Invoker(this.store, this.workspace, () => 'apply');
  readonly overlay = new Overlay(this.store);
  readonly own = this.overlay.of('s1');
  readonly errors: string[] = [];
  readonly rebaser = new Rebaser({
    store: this.store,
    workspace: this.workspace,
    logger: { ...silentLogger, error: text => void this.errors.push(text) },
  });
  #tokens = 0;

  async run({ what, file: index, lines, pick }: Op): Promise<void> {
    const file = files[index] ?? '';
    const open = this.store.list('newestFirst');
    const preview = open[pick % Math.max(1, open.length)];
    if (what === 'edit') await this.#edit(file, lines);
    else if (what === 'type') await this.#type(file, lines);
    else if (what === 'remove' || what === 'rename') await this.#move(file, what);
    else if (what === 'undo') this.#undo(pick);
    else if (preview) await this.#vote(preview, what, pick);
    await this.rebaser.refresh([]);
  }

  /** What must hold between any two operations. */
  async check(): Promise<void> {
    assert.deepEqual(this.errors, []);
    for (const preview of this.store.list('oldestFirst')) {
      assert.ok(preview.state.kind === 'pending');
      if (preview.state.stale.length > 0) continue;
      const blockers = this.store.open.blockersOf(preview);
      const isClear = blockers.every(({ state }) => state.kind === 'pending' && state.stale.length === 0);
      assert.ok(isClear, `${preview.id} has a stale base and is not stale`);
      const model = new Map(Object.entries(this.workspace.snapshot()));
      play(
        model,
        [...blockers, preview].flatMap(({ changes }) => changes ?? []),
      );
    }
    await this.#checkAfterCrash();
  }

  /** What is decided is in the log, and what is pending is rebased again to what it was, where that does not conflict now. */
  async #checkAfterCrash(): Promise<void> {
    const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
    store.restore(this.log.entries);
    const rebaser = new Rebaser({ store, workspace: this.workspace, logger: silentLogger });
    await rebaser.refresh(store.all().map(({ id }) => id));
    rebaser.dispose();
    for (const preview of this.store.all()) {
      const again = store.get(preview.id) ?? assert.fail(`${preview.id} is gone`);
      if (preview.state.kind !== 'pending') {
        assert.deepEqual(again, preview);
        continue;
      }
      if (isStale(preview) || isStale(again)) continue;
      assert.deepEqual(again.changes, preview.changes);
      if (again.revision !== preview.revision) assert.ok(again.revision > preview.revision + 1);
    }
  }

  /** The window is closed: the log alone has everything. */
  async end(): Promise<void> {
    await this.store.close();
    const replayed = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
    replayed.restore(this.log.entries);
    assert.deepEqual(replayed.all(), this.store.all());
  }

  async #edit(file: string, lines: readonly number[]): Promise<void> {
    const bytes = await this.own.on(this.workspace).read(file);
    const text = bytes && Buffer.from(bytes).toString();
    const after = text === undefined ? start(file) : withTokens(text, lines, () => `edit ${++this.#tokens}`);
    const before = text === undefined ? null : sideOfText(text);
    const change = changeOf(file, before, sideOfText(after));
    if (change) this.#stage({ label: 'Edit', sourceToolName: 'test', changes: [change] });
  }

  async #move(file: string, what: 'remove' | 'rename'): Promise<void> {
    const workspace = this.own.on(this.workspace);
    const bytes = await workspace.read(file);
    const path = `moved-${++this.#tokens}.txt`;
    if (!bytes) return;
    const before = sideOfText(Buffer.from(bytes).toString());
    const change: FileChange =
      what === 'remove'
        ? { kind: 'delete', path: file, before, after: null }
        : { kind: 'rename', path, from: file, before, after: before };
    this.#stage({ label: what, sourceToolName: 'test', changes: [change] });
  }

  async #type(file: string, lines: readonly number[]): Promise<void> {
    const text = this.workspace.text(file) ?? '';
    this.workspace.put(
      file,
      withTokens(text, lines, () => `typed ${++this.#tokens}`),
    );
    await this.rebaser.filesChanged([file]);
  }

  #undo(pick: number): void {
    const applied = this.store.all().filter(({ state }) => state.kind === 'applied');
    const preview = applied[pick % Math.max(1, applied.length)];
    const action = preview && undoAction(preview);
    if (!action) return;
    const id = this.#stage(action);
    void this.rebaser.refresh([id]);
  }

  #stage(action: PendingAction): string {
    const { store, invoker, overlay } = this;
    const origin = { sessionId: 's1', asksModel: true };
    return queueResolveHandler({ store, invoker, overlay, l10n: english }, action, origin).preview.id;
  }

  /** A vote does exactly what the previews showed at that moment, or nothing. */
  async #vote(preview: Preview, what: Op['what'], pick: number): Promise<void> {
    const action = what === 'apply' || what === 'applyChain' || what === 'applyPart' ? 'apply' : 'discard';
    const chain = what === 'applyChain';
    const request = {
      id: preview.id,
      revision: preview.revision,
      action,
      reason: 'test',
      actor: 'human',
      ...(chain ? { chain: revisionsOf(this.store.open.blockersOf(preview)) } : {}),
    } as const;
    const before = this.workspace.snapshot();
    const known = new Set(this.store.all().map(({ id }) => id));
    const shown = [...(chain ? this.store.open.blockersOf(preview) : []), preview];
    const isPart = what === 'applyPart' || what === 'discardPart';
    const change = preview.changes?.[pick % preview.changes.length];
    try {
      if (isPart && change) {
        const part = { path: change.path, ...(change.kind === 'modify' ? { hunk: pick % 2 } : {}) };
        await resolvePart(this, request, part);
      } else await this.invoker.resolve(request);
    } catch (error) {
      assert.ok(error instanceof ToolError, String(error));
      assert.deepEqual(this.workspace.snapshot(), before, 'a vote that failed changed files');
      await this.rebaser.refresh([preview.id]);
      return;
    }
    const split = this.store.all().find(({ id }) => !known.has(id));
    const applied = isPart && split ? [split] : shown;
    const model = new Map(Object.entries(before));
    if (action === 'apply')
      play(
        model,
        applied.flatMap(({ changes }) => changes ?? []),
      );
    assert.deepEqual(this.workspace.snapshot(), Object.fromEntries([...model].sort()));
    for (const { id } of applied) {
      assert.equal(this.store.get(id)?.state.kind, action === 'apply' ? 'applied' : 'discarded');
    }
  }
}

/** Does the changes on the model; each must begin with what is there. */
function play(model: Map<string, string>, changes: readonly FileChange[]): void {
  for (const { path, before, after } of composedSteps(changes)) {
    assert.equal(model.get(path), textIn(before), `${path} is not what the change was made on`);
    if (after) model.set(path, textIn(after));
    else model.delete(path);
  }
}

function withTokens(text: string, at: readonly number[], token: () => string): string {
  const lines = text.split('\n');
  for (const i of at) lines[Math.min(i, lines.length - 1)] = token();
  return lines.join('\n');
}

test('what is written is what was shown, pending previews build on the current files, and the log alone restores it all', async () => {
  let resolved = 0;
  const numRuns = rounds(2_000, 400);
  await fc.assert(
    fc.asyncProperty(fc.array(op, { minLength: 4, maxLength: 14 }), async ops => {
      const bench = new Bench();
      for (const each of ops) {
        await bench.run(each);
        await bench.check();
      }
      await bench.end();
      resolved += bench.store.ledger().length;
    }),
    { numRuns },
  );
  assert.ok(resolved > numRuns);
});

test('what built on a discarded preview builds on the one beneath that, and waits for it', async () => {
  const bench = new Bench();
  const on = (what: Op['what']): Op => ({ what, file: 1, lines: [0], pick: 0 });
  for (const what of ['rename', 'edit', 'rename', 'edit'] as const) await bench.run(on(what));
  // p4 creates b.txt again where p3 renamed what p2 had created where p1 had renamed the file.
  for (const id of ['p2', 'p3']) {
    await bench.invoker.resolve({ id, action: 'discard', reason: 'test', actor: 'human' });
    await bench.rebaser.refresh([]);
  }
  await bench.check();
  await bench.end();
  assert.deepEqual(bench.store.get('p4')?.dependsOn, ['p1']);
});
