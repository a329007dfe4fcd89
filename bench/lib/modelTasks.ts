import type { Script, ScriptedTurn } from '../../test/support/scriptedProvider.ts';
import type { TestSession } from '../../test/support/testSession.ts';

/** A task, with answers as a capable model gives them to what it is told, and what the person does. */
export interface Task {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly script: Script;
  /** What the person decides after the first prompt. */
  readonly decide: (t: TestSession) => Promise<void>;
}

const calls = (...toolCalls: { name: string; arguments: object }[]): ScriptedTurn => ({ toolCalls });
const read = (path: string) => ({ name: 'read_file', arguments: { path } });
const edit = (path: string, old: string, to: string, more: object = {}) => ({
  name: 'edit_file',
  arguments: { path, edits: [{ old, new: to, ...more }] },
});
const vote = (...ids: string[]) => ({
  name: 'resolve',
  arguments: { action: 'apply', reason: 'It does what was asked for.', ids },
});
const says = (text: string): ScriptedTurn => ({ text });

const cart = `import { round } from './money.ts';\n\nexport function total(items: Item[]): number {\n  let sum = 0;\n  for (const item of items) sum += item.price;\n  return round(sum);\n}\n`;
const money = `export function round(value: number): number {\n  return Math.round(value * 100) / 100;\n}\n`;
const files = {
  'src/cart.ts': cart,
  'src/money.ts': money,
  'src/index.ts': "export { total } from './cart.ts';\n",
};

const range = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, n) => `p${from + n}`);
const submission = {
  name: 'resolve',
  arguments: { action: 'apply', reason: 'It is complete.', extra: { title: 'Count every item' } },
};
const amendment = {
  path: 'src/cart.ts',
  edits: [{ old: 'all = 0', new: 'amount = 0' }],
  amend: 'p1',
  title: 'Name the amount',
};

const applyAll = async (t: TestSession): Promise<void> => {
  for (const { id } of t.store.list('oldestFirst')) await t.click(id, 'apply');
  await t.untilState('idle');
};

export const tasks: readonly Task[] = [
  {
    name: 'a bug in one file',
    files,
    script: [
      calls({ name: 'list_files', arguments: { glob: 'src/**' } }),
      calls(read('src/cart.ts'), read('src/money.ts')),
      calls(edit('src/cart.ts', 'sum += item.price;', 'sum += item.price * item.quantity;')),
      { text: 'The total ignored the quantity; p1 multiplies by it.', ...calls(vote('p1')) },
      says('It is applied.'),
    ],
    decide: applyAll,
  },
  {
    name: 'a rename in three files',
    files,
    script: [
      calls(read('src/cart.ts'), read('src/money.ts'), read('src/index.ts')),
      calls(edit('src/money.ts', 'function round(value', 'function toCents(value')),
      calls(edit('src/cart.ts', 'round', 'toCents', { replaceAll: true })),
      calls(read('src/cart.ts')),
      { text: 'round is toCents in both files.', ...calls(vote('p1', 'p2')) },
      says('The rename is done.'),
    ],
    decide: applyAll,
  },
  {
    name: 'a move over several files',
    files,
    script: [
      calls(read('src/cart.ts'), read('src/money.ts'), read('src/index.ts')),
      calls({ name: 'rename_file', arguments: { from: 'src/money.ts', to: 'src/lib/money.ts' } }),
      calls(edit('src/cart.ts', './money.ts', './lib/money.ts')),
      calls({
        name: 'write_file',
        arguments: { path: 'src/lib/index.ts', content: "export * from './money.ts';\n" },
      }),
      calls(read('src/cart.ts')),
      { text: 'money.ts is in src/lib, and its import follows.', ...calls(vote('p1', 'p2', 'p3')) },
      says('Everything has moved.'),
    ],
    decide: applyAll,
  },
  {
    name: 'a refusal with a reason',
    files,
    script: [
      calls(read('src/cart.ts')),
      calls({
        name: 'write_file',
        arguments: { path: 'src/cart.ts', content: cart.replace('let sum = 0;', 'let sum = 1;') },
      }),
      { text: 'The sum begins elsewhere now.', ...calls(vote('p1')) },
      calls(edit('src/cart.ts', 'let sum = 0;', 'let sum = START;')),
      says('It uses the constant now.'),
      calls(vote('p2')),
      says('It is applied.'),
    ],
    decide: async t => {
      await t.click('p1', 'discard', 'Use a constant.');
      await t.untilState('awaitingReview');
      await applyAll(t);
    },
  },
  {
    name: 'a question that changes nothing',
    files,
    script: [
      calls({ name: 'list_files', arguments: { glob: '**/*.ts' } }),
      calls(read('src/cart.ts'), read('src/money.ts')),
      says('The total is rounded to cents in money.ts.'),
    ],
    decide: () => Promise.resolve(),
  },
  {
    name: 'eight edits and a new file in one message',
    files,
    script: [
      calls(read('src/cart.ts'), read('src/money.ts'), read('src/index.ts')),
      calls(
        ...['export', 'items', 'let', 'price', 'const', 'return'].map(old =>
          edit('src/cart.ts', old, `${old}/* ${old} */`, { replaceAll: true }),
        ),
        edit('src/money.ts', 'value * 100', '100 * value'),
        edit('src/index.ts', 'total', 'total, total as sum'),
        {
          name: 'write_file',
          arguments: { path: 'test/cart.test.ts', content: "import '../src/index.ts';\n" },
        },
      ),
      calls({ name: 'pending', arguments: {} }),
      { text: 'All of it is staged.', ...calls(vote(...range(1, 9))) },
    ],
    decide: applyAll,
  },
  {
    name: 'a plan that is approved',
    files,
    script: [
      calls(read('src/cart.ts')),
      says('I see. Shall I plan it?'),
      calls(read('src/money.ts')),
      { text: '# Count every item\n\nMultiply by the quantity.', ...calls(submission) },
      calls(edit('src/cart.ts', 'sum += item.price;', 'sum += item.price * item.quantity;')),
      { text: 'It is as planned.', ...calls(vote('p2')) },
    ],
    decide: async t => {
      t.session.setPlanMode(true);
      await t.session.prompt('Plan it.');
      await t.click('p1', 'apply');
      await t.untilState('awaitingReview');
      await applyAll(t);
    },
  },
  {
    name: 'an amendment after a comment',
    files,
    script: [
      calls(read('src/cart.ts')),
      calls(edit('src/cart.ts', 'let sum = 0;', 'let all = 0;')),
      { text: 'It has a name of its own.', ...calls(vote('p1')) },
      calls({ name: 'edit_file', arguments: amendment }),
      { text: '[c1] It is called amount now.', ...calls(vote('p1')) },
    ],
    decide: async t => {
      await t.session.prompt(
        'I reviewed your proposals: 1 comment.\n\n[c1] p1, src/cart.ts: name it amount.',
      );
      await applyAll(t);
    },
  },
  {
    name: 'a part of a long file',
    files: {
      'src/long.ts': Array.from({ length: 4_000 }, (_, n) => `export const c${n} = ${n};\n`).join(''),
    },
    script: [
      calls({ name: 'read_file', arguments: { path: 'src/long.ts', offset: 3_001, limit: 33 } }),
      calls(edit('src/long.ts', 'c3010 = 3010', 'c3010 = 3011')),
      { text: 'The constant is corrected.', ...calls(vote('p1')) },
    ],
    decide: applyAll,
  },
  {
    name: 'two prompts before a decision',
    files,
    script: [
      calls(edit('src/money.ts', '* 100', '* 1000')),
      { text: 'It is finer now.', ...calls(vote('p1')) },
      calls(edit('src/money.ts', '/ 100', '/ 1000')),
      { text: 'Both places are.', ...calls(vote('p2')) },
    ],
    decide: async t => {
      await t.session.prompt('And where it divides.');
      await applyAll(t);
    },
  },
  {
    name: 'a wrong call, mended',
    files,
    script: [
      calls({
        name: 'edit_file',
        arguments: { file_path: 'src/cart.ts', old_string: 'sum = 1', new_string: 'sum = 2' },
      }),
      calls({
        name: 'edit_file',
        arguments: { file_path: 'src/cart.ts', old_string: 'sum = 0', new_string: 'sum = 2' },
      }),
      { text: 'It begins with two.', ...calls(vote('p1')) },
    ],
    decide: applyAll,
  },
];
