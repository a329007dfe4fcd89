import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { LoadFault } from '../../../../src/agent/session/tools/custom/loading/loadProblem.ts';
import { problemSentence } from '../../../../src/views/customTools/problemSentence.ts';

const l10n = {
  t: (message: string, ...args: string[]) =>
    message.replace(/\{(\d)\}/g, (_, n: string) => args[Number(n)] ?? '?'),
};
const cases: readonly [LoadFault, string][] = [
  [
    { kind: 'noDefaultExport' },
    'This file has no default export. Export a factory: export default pi => ({ … })',
  ],
  [
    { kind: 'noFactory' },
    'The default export is not a function. Export a factory: export default pi => ({ … })',
  ],
  [{ kind: 'importFailed', message: 'boom' }, 'This tool cannot be imported: boom'],
  [{ kind: 'timedOut', seconds: 10 }, 'This tool was not ready within 10 seconds and is not loaded.'],
  [{ kind: 'factoryThrew', message: 'boom' }, 'The factory threw: boom'],
  [
    { kind: 'invalidTool', index: 2, message: '`name` must be a string' },
    'Invalid tool at index 2: `name` must be a string.',
  ],
  [{ kind: 'nameTaken', name: 'edit_file' }, 'There is already a tool named edit_file. Choose another name.'],
  [
    { kind: 'nameTaken', name: 'x', by: '/project/a.ts' },
    'There is already a tool named x, from a.ts. Choose another name.',
  ],
  [
    { kind: 'exitCalled', call: 'process.exit(1)' },
    'This tool called process.exit(1), which was blocked. Throw an error instead.',
  ],
  [{ kind: 'threwLater', message: 'boom' }, 'This tool threw an error outside of any call: boom'],
];
for (const [fault, sentence] of cases) {
  test(`the sentence for ${JSON.stringify(fault)}`, () => {
    assert.equal(
      problemSentence(fault, l10n, file => file.split('/').at(-1) ?? ''),
      sentence,
    );
  });
}
