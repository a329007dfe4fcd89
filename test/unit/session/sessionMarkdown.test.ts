import { test } from 'node:test';
import assert from 'node:assert/strict';
import { sessionMarkdown } from '../../../src/agent/session/sessionMarkdown.ts';
import {
  SessionTrail,
  type Resolution,
  type SettingsInForce,
} from '../../../src/agent/session/sessionTrail.ts';
import { TreeMaker } from '../../support/treeMaker.ts';

const inForce: SettingsInForce = {
  model: 'offline',
  modelAuthority: 'apply',
  forcing: 'forced',
  order: 'newestFirst',
  revertEnabled: true,
};
const trail = new SessionTrail();

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
    sessionMarkdown({ tree: maker.tree, trail }, ' The\n cart '),
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
  const trail = new SessionTrail();
  const says = (text: string, now: SettingsInForce): number => {
    trail.change(maker.tree, now);
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
    sessionMarkdown({ tree: maker.tree, trail }, 'T'),
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

test('what became of a preview stands behind what was said last, on the branch where it happened', () => {
  const maker = new TreeMaker();
  const trail = new SessionTrail();
  const of = (previewId: string, outcome: Resolution['outcome'], actor: Resolution['actor']): Resolution => {
    const action = outcome === 'discarded' ? 'discard' : 'apply';
    return { previewId, label: 'Edit\n a.ts', action, outcome, actor, reason: 'For\na reason.', at: '' };
  };
  maker.user('Go.');
  const answer = maker.says('Look.');
  trail.resolve(maker.tree, of('p1', 'failed', 'model'));
  trail.resolve(maker.tree, of('p1', 'applied', 'human'));
  maker.says('A branch.');
  trail.resolve(maker.tree, of('p2', 'applied', 'human'));
  maker.go(answer);
  maker.says('Done.');
  trail.resolve(maker.tree, of('p3', 'discarded', 'human'));
  assert.equal(
    sessionMarkdown({ tree: maker.tree, trail }, 'T'),
    [
      '# T',
      '## You',
      'Go.',
      '## Redline',
      'Look.',
      '> **p1 failed** (model) Edit a.ts: For a reason.',
      '> **p1 applied** (human) Edit a.ts: For a reason.',
      '> Another branch begins here: n2',
      '## Redline',
      'Done.',
      '> **p3 discarded** (human) Edit a.ts: For a reason.\n',
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
    sessionMarkdown({ tree: maker.tree, trail }, 'T'),
    '# T\n\n**read_file**: failed\n\n`````\n````\n```\n`````\n',
  );
});
