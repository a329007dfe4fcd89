import * as assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, cleanUp, fileInWorkspace, givenFile } from '../support/redline.ts';

suite('an exported ledger', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(() => cleanUp(api));

  test('the ledger is written as JSON Lines', async () => {
    await givenFile('exported.ts', 'a\n');
    const { id } = api.previews.push({
      label: 'Edit for the export',
      changes: [{ path: 'exported.ts', before: 'a\n', after: 'b\n' }],
    });
    await api.previews.resolve({ id, action: 'apply', reason: 'it is right' });
    const file = fileInWorkspace('ledger.jsonl');
    await vscode.commands.executeCommand('redline.ledger.export', vscode.Uri.file(file));
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    rmSync(file);
    assert.equal(lines.length, api.previews.ledger().length);
    const last = JSON.parse(lines.at(-1) ?? '') as Record<string, unknown>;
    assert.deepEqual(
      [last['previewId'], last['actor'], last['reason'], last['outcome']],
      [id, 'extension', 'it is right', 'applied'],
    );
    assert.match(JSON.stringify(last['files']), /"path":"exported.ts","before":"[0-9a-f]{64}"/);
  });
});
