import { test } from 'node:test';
import assert from 'node:assert/strict';
import { sessionMarkdown } from '../../../src/agent/session/sessionMarkdown.ts';
import { SettingsTrail, type SettingsInForce } from '../../../src/agent/session/settingsTrail.ts';
import { TreeMaker } from '../../support/treeMaker.ts';

const inForce: SettingsInForce = {
  model: 'offline',
  modelAuthority: 'apply',
  forcing: 'forced',
  order: 'newestFirst',
  revertEnabled: true,
};
const settings = new SettingsTrail();

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
    sessionMarkdown({ tree: maker.tree, settings }, ' The\n cart '),
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

test('the settings stand before the answer that was first made with them; later ones as far as they are others', () => {
  const maker = new TreeMaker();
  const trail = new SettingsTrail();
  const says = (text: string, now: SettingsInForce): number => {
    trail.add(maker.tree, now);
    return maker.says(text);
  };
  maker.user('Why?');
  const first = says('Because.', inForce);
  maker.user('Really?');
  says('On a branch.', { ...inForce, model: 'm' });
  maker.go(first);
  says('Yes.', { ...inForce, modelAuthority: 'none', revertEnabled: false });
  says('Yes, yes.', { ...inForce, modelAuthority: 'none', revertEnabled: false });
  assert.equal(
    sessionMarkdown({ tree: maker.tree, settings: trail }, 'T'),
    [
      '# T',
      '## You',
      'Why?',
      '> **Settings**: model `offline`, authority `apply`, forcing `forced`, order `newestFirst`, revert tool `on`',
      '## Redline',
      'Because.',
      '> Another branch begins here: n2',
      '> **Settings**: authority `none`, revert tool `off`',
      '## Redline',
      'Yes.',
      '## Redline',
      'Yes, yes.\n',
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
  assert.equal(
    sessionMarkdown({ tree: maker.tree, settings }, 'T'),
    '# T\n\n**read_file**: failed\n\n`````\n````\n```\n`````\n',
  );
});
