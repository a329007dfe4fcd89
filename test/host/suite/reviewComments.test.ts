import * as assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import * as vscode from 'vscode';
import { polled } from '../../../scripts/lib/limits.mjs';
import type { RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, cleanUp, fileInWorkspace, givenFile } from '../support/redline.ts';

suite('comments on lines of previews', () => {
  let api: RedlineApi;
  const controller = vscode.comments.createCommentController('test.comments', 'Test');

  suiteSetup(async () => {
    api = await activateRedline();
  });

  suiteTeardown(() => controller.dispose());
  teardown(() => cleanUp(api));

  test('a comment is sent with file, line and hunk as one prompt, once', async () => {
    const before = 'a\nb\nc\n';
    await givenFile('commented.ts', before);
    const { id } = api.previews.push({
      label: 'Edit commented.ts',
      changes: [{ path: 'commented.ts', before, after: 'a\nB\nc\n' }],
    });
    await vscode.commands.executeCommand('redline.preview.open', id);
    const { document } = vscode.window.activeTextEditor ?? assert.fail('a preview is open');
    assert.equal(document.uri.scheme, 'redline-preview');
    const thread = controller.createCommentThread(document.uri, new vscode.Range(1, 0, 1, 0), []);
    await vscode.commands.executeCommand('redline.comment.add', { thread, text: 'Why in upper case?' });
    await vscode.commands.executeCommand('redline.review.send');
    await vscode.commands.executeCommand('redline.review.send');

    const file = fileInWorkspace('conversation.md');
    const exported = await polled('the prompt in the conversation', async () => {
      await vscode.commands.executeCommand('redline.session.export', undefined, vscode.Uri.file(file));
      const text = readFileSync(file, 'utf8');
      return text.includes('Why in upper case?') ? text : undefined;
    });
    rmSync(file);
    assert.match(exported, new RegExp(`${id}, commented\\.ts, line 2 of the preview, hunk 1:`));
    assert.equal(exported.split('Answer each comment ').length, 2, exported);
  });
});
