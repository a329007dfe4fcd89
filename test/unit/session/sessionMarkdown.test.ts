import { test } from 'node:test';
import assert from 'node:assert/strict';
import { sessionMarkdown } from '../../../src/agent/session/sessionMarkdown.ts';
import { TreeMaker } from '../../support/treeMaker.ts';

test('a conversation as Markdown: the trunk, the tags, and where other branches begin', () => {
  const maker = new TreeMaker();
  maker.user('Fix the cart.');
  const [answer] = maker.calls('I look.', 'read_file');
  maker.says('A dead end.');
  maker.revert('failure', answer, 'The file is generated.');
  const end = maker.says('Done.');
  maker.user('More?');
  maker.go(end);
  assert.equal(
    sessionMarkdown(maker.tree, ' The\n cart '),
    [
      '# The cart',
      '## You',
      'Fix the cart.',
      '## Redline',
      'I look.',
      '**read_file**',
      '```json\n{}\n```',
      '> **revert-lesson**: The file is generated. (abandoned: read_file)',
      '## Redline',
      'Done.',
      '> Another branch begins here: n5\n',
    ].join('\n\n'),
  );
});

test('a result that holds fences stays in its own', () => {
  const maker = new TreeMaker();
  maker.tree.append({
    role: 'tool',
    toolCallId: 'c1',
    toolName: 'read_file',
    content: '````\n```',
    isError: true,
  });
  assert.equal(sessionMarkdown(maker.tree, 'T'), '# T\n\n**read_file**: failed\n\n`````\n````\n```\n`````\n');
});
