import assert from 'node:assert/strict';
import { test } from 'node:test';
import MarkdownIt from 'markdown-it';
import {
  closedLine,
  closedMarkdown,
} from '../../../../../src/agent/session/conversation/storage/closedMarkdown.ts';

const whole: readonly string[] = [
  'Only words, a < b and `Map<string>`.',
  '```ts\nconst a = 1;\n```\n\nAnd then.',
  '~~~\n```\n~~~',
  '- Do this:\n  ```sh\n  ls\n  ```\n- Then that.',
  '- An open fence that the list ends:\n  ```sh\n  ls',
  '> ```\n> ls',
  '    ```\n    indented code',
  '| a<br>b | c<br/> |\n| --- | --- |\n<!-- a note --> and H<sub>2</sub>O',
  '<details open>\n<summary>More</summary>\n\n- text\n\n</details>',
  '```html\n<script>\n```',
];

for (const text of whole)
  test(`as it is: ${JSON.stringify(text)}`, () => assert.equal(closedMarkdown(text), text));

for (const [text, end] of [
  ['Look:\n\n```ts\nconst a = 1;', '```'],
  ['````md\n```\ninner\n```', '````'],
  ['~~~~\ncode\n~~~', '~~~~'],
  ['```ts\nconst a = 1;\n``', '```'],
  ['Before.\n```', '```'],
  ['```html\n<script>', '```'],
] as const)
  test(`the fence is closed: ${JSON.stringify(text)}`, () =>
    assert.equal(closedMarkdown(text), `${text}\n${end}`));

for (const text of [
  'Why?\n\n<!-- I was about',
  '<script>\nlet a;',
  'The page has <script> in it.',
  '<pre>\n```\nx',
  '<style>\n\na {}',
  '<textarea>',
  '<details>\n<summary>More</summary>\n\ntext',
  '<div class="a"\n\ntext',
  '<![CDATA[ x',
  '<?php echo 1;',
  '<b><i>x</b></i>',
  '</div>',
  '- <!-- in a list',
])
  test(`all of it becomes code: ${JSON.stringify(text)}`, () => {
    const fence = text.includes('```') ? '````' : '```';
    assert.equal(closedMarkdown(text), `${fence}\n${text}\n${fence}`);
  });

for (const [what, long] of [
  ['text', 'words\n\n'.repeat(8_000)],
  ['paragraph', 'words '.repeat(1_000)],
] as const)
  test(`a ${what} that is too long to be parsed becomes code if it may leave something open`, () => {
    assert.equal(closedMarkdown(long), long);
    assert.equal(closedMarkdown(`${long}<b>x</b>`), `\`\`\`\n${long}<b>x</b>\n\`\`\``);
  });

test('a long text is as it is if its parts leave nothing open', () => {
  const long = 'Make `a < b` **bold**:\n\n```ts\nMap<string>;\n```\n\n'.repeat(900);
  assert.equal(closedMarkdown(long), long);
});

test('a line keeps its HTML as text if it leaves some open', () => {
  assert.equal(closedLine('Remove <script> from `<body>`'), 'Remove \\<script> from `\\<body>`');
  assert.equal(closedLine('Make `Map<string>` a <b>set</b>'), 'Make `Map<string>` a <b>set</b>');
});

test('whatever a text is cut off in, the next heading stands', () => {
  const text = [...whole, '~~~~js\n```\n~~~~', '1. a\n\n   ```\n   b\n   ```\n\n   <pre>c</pre>'].join(
    '\n\n',
  );
  const parser = new MarkdownIt({ html: true });
  for (let end = 0; end <= text.length; end++) {
    const tokens = parser.parse(`${closedMarkdown(text.slice(0, end))}\n\n## You\n\nNext.`, {});
    const next = tokens.slice(-6).map(({ type, level }) => `${type} ${level}`);
    assert.deepEqual(
      [next[0], next[3]],
      ['heading_open 0', 'paragraph_open 0'],
      JSON.stringify(text.slice(0, end)),
    );
  }
});
