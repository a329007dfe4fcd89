import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LedgerEntry } from '../../../../../src/agent/hold/preview/ledger.ts';
import type { Preview } from '../../../../../src/agent/hold/preview/preview.ts';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';
import { previewWith } from '../../../../support/previewWith.ts';

stub.useVscodeStub();
const { opaqueDocument } = await import('../../../../../src/views/review/documents/opaqueDocument.ts');

const details = {
  command: 'npm test',
  folder: '/w',
  shell: '/bin/sh',
  arguments: ['-c'],
  environment: {},
  timeLimit: 60,
  sandbox: { engine: 'overlay', isolated: true },
};
const commandIn = (state: Preview['state'], last?: Partial<LedgerEntry>): string => {
  const preview = previewWith({ kind: 'action', changes: null, purpose: 'command', details, state });
  return (
    opaqueDocument(preview, last as LedgerEntry | undefined)
      .trimEnd()
      .split('\n')
      .at(-1) ?? ''
  );
};

test('the document of a command says what is true after Run', () => {
  assert.match(
    commandIn({ kind: 'pending', stale: [] }),
    /^\*Run\* starts this command in the sandbox\. It has not run yet/,
  );
  assert.equal(
    commandIn({ kind: 'pending', stale: [], lastError: 'no answer' }),
    'The last attempt failed, and may have run in part: no answer',
  );
  const by = { action: 'apply', actor: 'human', reason: '', at: '' } as const;
  assert.equal(
    commandIn({ kind: 'applied', by }, { outcome: 'applied', run: { exitCode: 1, seconds: 2.1 } }),
    'It ran: Exit 1 · 2.1 s',
  );
  assert.equal(commandIn({ kind: 'discarded', by }), 'It was discarded, and did not run.');
  assert.equal(commandIn({ kind: 'applying', action: 'apply', actor: 'human' }), 'It is running.');
});
