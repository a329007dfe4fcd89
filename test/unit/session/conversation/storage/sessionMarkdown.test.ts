import { test } from 'node:test';
import assert from 'node:assert/strict';
import {
  AuditTrail,
  type HeardAttempt,
  type SettingsInForce,
} from '../../../../../src/agent/session/conversation/auditTrail.ts';
import { sessionMarkdown } from '../../../../../src/agent/session/conversation/storage/sessionMarkdown.ts';
import { countTurns } from '../../../../support/countTurns.ts';
import { TreeMaker } from '../../../../support/treeMaker.ts';

const inForce: SettingsInForce = {
  model: 'offline',
  modelAuthority: 'apply',
  forcing: 'forced',
  order: 'newestFirst',
  revertEnabled: true,
};
const trail = new AuditTrail();
const markdownOf = async (...args: Parameters<typeof sessionMarkdown>): Promise<string> =>
  String(await sessionMarkdown(...args));

test('a conversation as Markdown: the trunk, the tags, and where other branches start', async () => {
  const maker = new TreeMaker();
  maker.user('Fix the cart.');
  const [answer] = maker.calls('I look.', 'read_file');
  maker.says('A dead end.');
  maker.revert('failure', answer, 'The file is generated.');
  const end = maker.says('Done.');
  maker.user('More?');
  maker.go(end);
  assert.equal(
    await markdownOf({ tree: maker.tree, trail }, ' The\n cart '),
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

test('the settings precede the first answer made with them; later only changes are listed', async () => {
  const maker = new TreeMaker();
  const trail = new AuditTrail();
  const says = (text: string, now: SettingsInForce): number => {
    trail.recordSettings(maker.tree, now);
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
    await markdownOf({ tree: maker.tree, trail }, 'T'),
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

test('the outcome of a preview follows the message before it, on the branch where it happened', async () => {
  const maker = new TreeMaker();
  const trail = new AuditTrail();
  const of = (
    previewId: string,
    outcome: HeardAttempt['outcome'],
    actor: HeardAttempt['actor'],
  ): HeardAttempt => {
    const action = outcome === 'discarded' ? 'discard' : 'apply';
    return { previewId, label: 'Edit\n a.ts', action, outcome, actor, reason: 'For\na reason.', at: '' };
  };
  maker.user('Go.');
  const answer = maker.says('Look.');
  trail.recordResolution(maker.tree, of('p1', 'failed', 'model'));
  trail.recordResolution(maker.tree, of('p1', 'applied', 'human'));
  maker.says('A branch.');
  trail.recordResolution(maker.tree, of('p2', 'applied', 'human'));
  maker.go(answer);
  maker.says('Done.');
  trail.recordResolution(maker.tree, of('p3', 'discarded', 'human'));
  assert.equal(
    await markdownOf({ tree: maker.tree, trail }, 'T'),
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

test('a command that did not succeed is not called applied', async () => {
  const { tree } = new TreeMaker();
  const trail = new AuditTrail();
  const attempt = {
    action: 'apply',
    actor: 'human',
    reason: 'Approved.',
    outcome: 'applied',
    at: '',
  } as const;
  for (const run of [
    { exitCode: 1, seconds: 2 },
    { seconds: 2, endedBy: 'user' },
    { seconds: 2, endedBy: 'timeLimit' },
  ] as const)
    trail.recordResolution(tree, { ...attempt, previewId: 'p1', label: 'Run npm test', run });
  assert.deepEqual((await markdownOf({ tree, trail }, 'T')).match(/p1 .*?\*\*/g), [
    'p1 ran, with exit code 1**',
    'p1 ran, and was stopped**',
    'p1 ran into the time limit**',
  ]);
});

test('a result that contains fences stays inside its own', async () => {
  const maker = new TreeMaker();
  maker.tree.append({
    role: 'tool',
    toolCallId: 'c1',
    toolName: 'read_file',
    content: '````\n```',
    isError: true,
  });
  assert.equal(
    await markdownOf({ tree: maker.tree, trail }, 'T'),
    '# T\n\n**read_file**: failed\n\n`````\n````\n```\n`````\n',
  );
});

test('what was attached, commands of the user, notices and failures are in it; what only the model was told is not', async () => {
  const { tree } = new TreeMaker();
  const attachments = [
    { path: 'a.ts', text: 'x' },
    { path: 'b.ts', startLine: 3, endLine: 5, text: 'x' },
    { path: 'd.png', text: '', image: { file: 'f.png', type: 'image/png', bytes: 12 } },
  ] as const;
  tree.append({ role: 'user', text: 'Look.', attachments });
  tree.append({ role: 'assistant', text: '', toolCalls: [], stopReason: 'error', error: 'No connection.' });
  tree.append({ role: 'local', text: '/apply', answer: 'Applied p1.' });
  tree.append({ role: 'steering', kind: 'notice', text: 'Interrupted.\nBy a reload.', previewIds: [] });
  tree.append({ role: 'steering', kind: 'resolve-reminder', text: 'Call resolve.', previewIds: ['p1'] });
  assert.equal(
    await markdownOf({ tree, trail }, 'T'),
    [
      '# T',
      '## You',
      'Look.',
      'Attached: `a.ts`, `b.ts:3-5`, `d.png` (image, 12 bytes)',
      '## Redline',
      '*No connection.*',
      '## You',
      '/apply',
      'Applied p1.',
      '> Interrupted.\n> By a reload.\n',
    ].join('\n\n'),
  );
});

test('a prompt without words, and a message that was lost, leave no gap', async () => {
  const { tree } = new TreeMaker();
  tree.append({ role: 'user', text: '', attachments: [{ path: 'a.ts', text: 'x' }] });
  tree.append({ role: 'local', text: '', answer: '' });
  tree.append({ role: 'assistant', text: 'Yes.', toolCalls: [], stopReason: 'stop' });
  assert.equal(
    await markdownOf({ tree, trail }, 'T'),
    ['# T', '## You', 'Attached: `a.ts`', '## Redline', 'Yes.\n'].join('\n\n'),
  );
});

test('other work runs while it is written, and what that does to the conversation is not in it', async t => {
  const maker = new TreeMaker();
  const first = maker.user('Why?');
  for (let n = 0; n < 200; n++) maker.says(`Because of ${n}.`);
  maker.go(first);
  const end = maker.says('Because.');
  for (let n = 0; n < 200; n++) maker.user(`Why ${n}?`);
  const before = await markdownOf({ tree: maker.tree, trail }, 'T');
  const turns = countTurns(t);
  const written = markdownOf({ tree: maker.tree, trail }, 'T');
  setImmediate(() => {
    maker.go(end, 'failure', 'No.');
    maker.says('Later.');
  });
  assert.equal(await written, before);
  assert.ok(turns() > 50, `${turns()} turns`);
  assert.match(await markdownOf({ tree: maker.tree, trail }, 'T'), /Later/);
});

test('nothing that a conversation says swallows what follows', async () => {
  const maker = new TreeMaker();
  const first = maker.user('Why does this fail?\n\n<!-- the whole file');
  maker.says('A dead end.');
  maker.revert('failure', first, 'The <script> is generated.');
  maker.says('Because:\n\n```ts\nconst a');
  maker.steering('Interrupted.\n<pre>');
  const { tree } = maker;
  tree.append({ role: 'assistant', text: '', toolCalls: [], stopReason: 'error', error: 'It said:\n~~~' });
  tree.append({ role: 'local', text: '/apply', answer: 'Applied:\n```' });
  assert.equal(
    await markdownOf({ tree, trail }, 'Why <script>?'),
    [
      '# Why \\<script>?',
      '## You',
      '```\nWhy does this fail?\n\n<!-- the whole file\n```',
      '> **revert-lesson**: The \\<script> is generated.',
      '## Redline',
      'Because:\n\n```ts\nconst a\n```',
      '> ```\n> Interrupted.\n> <pre>\n> ```',
      '## Redline',
      '*It said:\n~~~*\n~~~',
      '## You',
      '/apply',
      'Applied:\n```\n```\n',
    ].join('\n\n'),
  );
});
