import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as stub from '../../support/fuzz/vscodeStub.ts';

stub.useVscodeStub();
const { createToolUi } = await import('../../../src/views/customTools/customToolsHost.ts');

test('the dialogs of custom tools show what cannot be seen as escapes, and return the option as the tool gave it', async () => {
  const shown: unknown[] = [];
  Object.assign(stub.window, {
    showInputBox: (options: unknown) => {
      shown.push(options);
      return Promise.resolve('typed');
    },
    showQuickPick: (items: readonly unknown[], options: unknown) => {
      shown.push(items, options);
      return Promise.resolve(items[0]);
    },
  });
  const ui = createToolUi();
  const text = 'a\u202eb';
  assert.equal(await ui.input(text, text), 'typed');
  assert.equal(await ui.select(text, [text, 'c']), text);
  assert.equal(JSON.stringify(shown).includes(`"label":"${text}"`), false);
  assert.deepEqual(
    (shown as { title?: string; placeHolder?: string }[]).map(each => each.title ?? each.placeHolder),
    [String.raw`a\u{202e}b`, undefined, String.raw`a\u{202e}b`],
  );
});
