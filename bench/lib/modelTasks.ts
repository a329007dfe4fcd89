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
      calls(edit('src/money.ts', 'round(value', 'toCents(value')),
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
];
