import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as stub from '../../support/fuzz/vscodeStub.ts';

stub.useVscodeStub();
const { Settings } = await import('../../../src/views/settings.ts');

/** Settings with these values of the user, and the workspace's values for settings that VS Code knows no more. */
function settings(
  user: Readonly<Record<string, unknown>>,
  workspace: Readonly<Record<string, unknown>> = {},
) {
  Object.assign(stub.workspace, {
    onDidChangeConfiguration: () => ({ dispose: () => undefined }),
    getConfiguration: () => ({
      get: (key: string) => ({ ...user, ...workspace })[key],
      inspect: (key: string) => ({ globalValue: user[key], workspaceValue: workspace[key] }),
    }),
  });
  return new Settings([]);
}

test('tools of VS Code: those called at once are allowed, too; other values are ignored', () => {
  const set = settings({ 'tools.fromVsCode': { 'a_*': 'ask', a_get: 'readOnly', b: false, c: 'never' } });
  assert.deepEqual([set.toolsFromVsCode, set.readOnlyTools], [['a_*', 'a_get'], ['a_get']]);
  for (const value of [null, 'x', 3, undefined])
    assert.deepEqual(settings({ 'tools.fromVsCode': value }).toolsFromVsCode, []);
});

test('the two lists of tools of earlier versions are read on', () => {
  const set = settings({ 'tools.fromVsCode': ['a_*', 7], 'tools.readOnly': ['*'] });
  assert.deepEqual([set.toolsFromVsCode, set.readOnlyTools], [['a_*'], ['*']]);
  const both = settings({ 'tools.fromVsCode': { a: 'ask' }, 'tools.readOnly': ['*'] });
  assert.deepEqual(both.readOnlyTools, [], 'the old list belongs to the old form');
});

test('variables of the sandbox are named like $NPM_TOKEN; the list of earlier versions is read on', () => {
  const set = settings({ 'sandbox.readable': ['/data', '$NPM_TOKEN'], 'sandbox.variables': ['GH_TOKEN'] });
  assert.deepEqual([set.sandboxReadable, set.sandboxVariables], [['/data'], ['NPM_TOKEN', 'GH_TOKEN']]);
});

test('a workspace has no say in settings of earlier versions', () => {
  const set = settings(
    { 'tools.fromVsCode': ['a'], 'sandbox.readable': [] },
    { 'tools.readOnly': ['*'], 'sandbox.variables': ['GH_TOKEN'], runChecks: 'onDemand' },
  );
  assert.deepEqual([set.readOnlyTools, set.sandboxVariables, set.isCheckedOnDemand], [[], [], false]);
  assert.equal(settings({ runChecks: 'onDemand' }).isCheckedOnDemand, true);
});
