import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import { textOf } from '../../../../../src/agent/hold/preview/fileChange.ts';
import type { Preview } from '../../../../../src/agent/hold/preview/preview.ts';
import { PREVIEW_SCHEME } from '../../../../../src/views/contributions.ts';
import { Drafts } from '../../../../../src/views/review/documents/drafts.ts';
import { modify } from '../../../../support/changes.ts';
import { draft } from '../../../../support/drafts.ts';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';
import { InvokerHarness } from '../../../../support/invokerHarness.ts';

stub.useVscodeStub();
const { ProposalEdits } = await import('../../../../../src/views/review/documents/proposalEdits.ts');

const rebaser = { refresh: () => Promise.resolve() };
const none = () => ({ dispose: () => undefined });

/** An editor with the proposal of a preview, into which the user has typed. */
function typedInto(id: string) {
  const uri = {
    scheme: PREVIEW_SCHEME,
    authority: id,
    path: '/a.txt',
    query: '',
    toString: () => `${id}/a.txt`,
  };
  const document = { uri, isDirty: true, getText: () => 'typed', save: () => (document.isDirty = false) };
  Object.assign(stub.workspace, {
    onDidOpenTextDocument: none,
    onDidChangeTextDocument: none,
    onWillSaveTextDocument: none,
    onDidSaveTextDocument: none,
    onDidCloseTextDocument: none,
    textDocuments: [document],
  });
  Object.assign(stub.Uri, { parse: () => uri });
  return document;
}

test('what is typed into a proposal while the user applies it stays in its editor, a discard throws it away', async () => {
  for (const [action, isKept] of [
    ['apply', true],
    ['discard', false],
  ] as const) {
    const { store, invoker, workspace } = new InvokerHarness('none');
    workspace.put('a.txt', 'a');
    const { id, revision } = store.stage(draft()).preview;
    const files = (path: string) => stub.Uri.file(`/${path}`);
    const typed = typedInto(id);
    const edits = new ProposalEdits({ store, files } as never, new Drafts(undefined, silentLogger));
    await invoker.resolve({ id, revision, action, actor: 'human', reason: '' });
    assert.equal(await edits.settle(store.get(id) as Preview), !isKept);
    assert.equal(typed.isDirty, isKept);
    edits.dispose();
  }
});

test('what auto save writes while a proposal is saved by hand is kept', async () => {
  const { store } = new InvokerHarness('none');
  const { id } = store.stage(draft()).preview;
  const typed = typedInto(id);
  const files = (path: string) => stub.Uri.file(`/${path}`);
  const edits = new ProposalEdits({ store, files, rebaser } as never, new Drafts(undefined, silentLogger));
  const saving = edits.replace(typed.uri as never, 'A by hand');
  typed.isDirty = false;
  await edits.write(typed.uri as never, Buffer.from('A by hand, and more'));
  const { revision } = await saving;
  assert.equal(textOf(store.get(id)?.changes?.[0]?.after ?? null), 'A by hand');
  assert.equal(edits.draftOf(typed.uri as never), 'A by hand, and more');
  await edits.commitUnsaved(id, revision);
  assert.equal(textOf(store.get(id)?.changes?.[0]?.after ?? null), 'A by hand, and more');
  edits.dispose();
});

test('a choice in a conflict does not take back what the model amends at that moment', async () => {
  const { store } = new InvokerHarness('none');
  const lines = (first: string, last: string): string => `${first}\n2\n3\n4\n${last}\n`;
  const proposing = (text: string) => [modify('a.txt', lines('1', '5'), text)];
  const { id } = store.stage(draft({ changes: proposing(lines('one', '5')) })).preview;
  const uri = typedInto(id).uri as never;
  Object.assign(stub.workspace, { textDocuments: [] });
  const files = (path: string) => stub.Uri.file(`/${path}`);
  const edits = new ProposalEdits({ store, files, rebaser } as never, new Drafts(undefined, silentLogger));
  const choosing = edits.replace(uri, lines('ONE', '5'), lines('one', '5'));
  await store.revise(id, proposing(lines('one', 'five')), [], 'amend');
  assert.equal((await choosing).isMerged, true);
  assert.equal(textOf(store.get(id)?.changes?.[0]?.after ?? null), lines('ONE', 'five'));
  edits.dispose();
});
