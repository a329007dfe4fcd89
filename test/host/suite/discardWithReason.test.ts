import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { silentLogger } from '../../../src/agent/base/logger.ts';
import { targetsOf, type PreviewTargets } from '../../../src/views/review/commands/previewTargets.ts';
import { PreviewVotes } from '../../../src/views/review/commands/previewVotes.ts';
import type { Ctx } from '../../../src/views/ctx.ts';
import { create } from '../../support/changes.ts';
import { createTestSession } from '../../support/testSession.ts';

suite('a reason that the user types while previews change', () => {
  const { showInputBox, showInformationMessage } = vscode.window;

  teardown(() => {
    Object.assign(vscode.window, { showInputBox, showInformationMessage });
  });

  /** The commands for rows on a store of their own, with one preview of three files. */
  const setUp = () => {
    const t = createTestSession();
    const { store, invoker, session } = t;
    const { id } = t.stage({ label: 'three', changes: ['a', 'b', 'c'].map(name => create(name, '1\n')) });
    const opened: string[] = [];
    const open = (preview: { readonly id: string }) => Promise.resolve(void opened.push(preview.id));
    const ctx = {
      store,
      invoker,
      session,
      logger: silentLogger,
      opener: { open, together: (resolveAll: () => unknown) => resolveAll() },
      edits: { hasUnsaved: () => false },
    } as unknown as Ctx;
    const targets = { showAgain: open } as unknown as PreviewTargets;
    const votes = new PreviewVotes(ctx, targets);
    const run = (...args: unknown[]): Promise<unknown> => votes.discardWithReason(targetsOf(args));
    Object.assign(vscode.window, { showInformationMessage: () => Promise.resolve(undefined) });
    const rowOf = (path: string, revision = 1) => ({ kind: 'file', previewId: id, revision, path });
    return { store, id, run, rowOf, opened };
  };
  type Setup = ReturnType<typeof setUp>;

  /** What happens between the click and Enter. */
  const whileTyping = (act: () => Promise<unknown>): void => {
    const ask = async (): Promise<string> => {
      await act();
      return 'not this';
    };
    Object.assign(vscode.window, { showInputBox: ask });
  };
  /** A rebase that changes these files. */
  const rebase = ({ store, id }: Setup, ...changed: string[]): Promise<void> => {
    const texts = ['a', 'b', 'c'].map(name => create(name, changed.includes(name) ? '2\n' : '1\n'));
    return store.revise(id, texts, [], 'rebase');
  };
  const discarded = ({ store }: Setup): unknown[] =>
    store.ledger().map(({ files, reason }) => [files.map(({ path }) => path).join(), reason]);

  test('on a row of a file: another revision of it is not discarded, but shown', async () => {
    const t = setUp();
    whileTyping(() => rebase(t, 'a'));
    await assert.rejects(t.run(t.rowOf('a')), /is now at revision 2, but this vote was for revision 1/);
    assert.deepEqual(t.store.ledger(), []);
    assert.deepEqual(t.opened, [t.id]);
  });

  test('on several rows of files: only what has stayed the same is discarded', async () => {
    const t = setUp();
    whileTyping(() => rebase(t, 'a'));
    await t.run(t.rowOf('a'), [t.rowOf('a'), t.rowOf('b')]);
    assert.deepEqual(discarded(t), [['b', 'not this']]);
    assert.deepEqual(
      t.store.get(t.id)?.changes?.map(({ path }) => path),
      ['a', 'c'],
    );
  });

  test('on rows that showed an older revision discards nothing', async () => {
    const t = setUp();
    await rebase(t, 'a', 'b');
    whileTyping(() => Promise.resolve());
    await t.run(t.rowOf('a'), [t.rowOf('a'), t.rowOf('b')]);
    assert.deepEqual(t.store.ledger(), []);
  });

  test('rows that nothing changed meanwhile are discarded with the reason', async () => {
    const t = setUp();
    whileTyping(() => Promise.resolve());
    await t.run(t.rowOf('a'), [t.rowOf('a'), t.rowOf('b')]);
    await t.run(t.rowOf('c', t.store.get(t.id)?.revision));
    assert.deepEqual(discarded(t).toSorted(), [
      ['a', 'not this'],
      ['b', 'not this'],
      ['c', 'not this'],
    ]);
  });
});
