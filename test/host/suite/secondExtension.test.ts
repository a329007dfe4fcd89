import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, cleanUp, until } from '../support/redline.ts';

interface Bookmarks {
  bookmarks(): readonly { readonly path: string; readonly line: number; readonly note: string }[];
}

const call = (line: number): string =>
  `/call add_bookmark {"path": "src/cart.ts", "line": ${line}, "note": "the sum"}`;

suite('a second extension: examples/bookmarks', () => {
  let api: RedlineApi;
  let example: vscode.Extension<Bookmarks>;

  suiteSetup(async () => {
    api = await activateRedline();
    example =
      vscode.extensions.getExtension('redline-example.bookmarks') ?? assert.fail('the example is there');
    await example.activate();
  });

  teardown(() => cleanUp(api));

  const lastResult = (): string => {
    const result = api.session.messages().findLast(message => message.role === 'tool');
    return result?.role === 'tool' ? result.content : assert.fail('a tool was called');
  };
  const head = () => api.previews.peek() ?? assert.fail('a preview is pending');

  test('its tool stages a preview; nothing is set before Apply, nor after Discard', async () => {
    await api.session.prompt(call(3));
    const { id, label, sourceToolName } = head();
    assert.deepEqual([label, sourceToolName], ['Bookmark src/cart.ts:3', 'add_bookmark']);
    assert.deepEqual(example.exports.bookmarks(), []);
    await vscode.commands.executeCommand('redline.preview.discard', id);
    assert.deepEqual(example.exports.bookmarks(), []);
    await api.session.prompt(call(4));
    await vscode.commands.executeCommand('redline.preview.apply', head().id);
    assert.deepEqual(example.exports.bookmarks(), [{ path: 'src/cart.ts', line: 4, note: 'the sum' }]);
    const entry = api.previews.ledger().at(-1);
    assert.deepEqual(
      [entry?.message, entry?.details],
      ['Bookmarked src/cart.ts:4.', { path: 'src/cart.ts', line: 4, note: 'the sum' }],
    );
  });

  test('invalid arguments are refused before its code runs', async () => {
    await api.session.prompt('/call add_bookmark {"path": "src/cart.ts", "line": 0}');
    assert.match(lastResult(), /^Invalid arguments for add_bookmark\. .*line.*note/);
  });

  // Must be the last test: it removes the tool.
  test('disposing of the registration removes the tool; its pending preview expires and holds up nothing', async () => {
    await api.session.prompt(call(5));
    const { id } = head();
    const expired = until(
      api.previews.onDidChange,
      () => (api.previews.get(id)?.state === 'expired' ? true : undefined),
      'the preview to expire',
    );
    await vscode.commands.executeCommand('bookmarks.withdraw');
    await expired;
    assert.equal(api.previews.hasPending, false);
    await until(
      api.session.onDidEmit,
      () => (api.session.state === 'idle' ? true : undefined),
      'the review that waited for it to be over',
    );
    const result = await api.previews.resolve({ id, action: 'apply', reason: 'too late' });
    assert.match(
      result.content[0]?.text ?? '',
      /has expired: it did not run, and what it would have run is gone\./,
    );
    await api.session.prompt(call(6));
    assert.match(lastResult(), /^There is no tool named add_bookmark\./);
    assert.equal(example.exports.bookmarks().length, 1);
  });
});
