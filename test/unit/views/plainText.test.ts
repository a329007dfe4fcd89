import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asMarkdown, inToast, oneLine, withoutIcons } from '../../../src/views/plainText.ts';

/** What VS Code 1.139 makes a link of in a notification. */
const LINK = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;

test('a notification holds no link, however its text is put together', () => {
  for (const hostile of [
    '[Quit](command:workbench.action.quit)',
    '[a]([b](command:workbench.action.quit)) [x](https://example.com "t")',
    '[Passwords](file:///etc/passwd)',
    'p1 ([Quit](command:x)) is already discarded: [y](COMMAND:z)',
  ]) {
    assert.match(hostile, LINK);
    assert.doesNotMatch(inToast(hostile), LINK);
    assert.equal(inToast(hostile).replaceAll('] (', ']('), hostile);
  }
  assert.equal(inToast('a[0] (b) [c]'), 'a[0] (b) [c]');
});

test('foreign text is one line, shows no icons, and is no markdown', () => {
  assert.equal(oneLine(' a\n\tb '), 'a b');
  assert.equal(oneLine('x'.repeat(300)).length, 200);
  assert.equal(withoutIcons('$(flame) b'), '$ (flame) b');
  assert.equal(
    asMarkdown('**b** [x](command:y) <img>'),
    String.raw`\*\*b\*\* \[x\]\(command:y\) &lt;img&gt;`,
  );
});
