import * as assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { LEDGER_SCHEME } from '../../../src/views/contributions.ts';
import { Gate } from '../../support/gate.ts';
import type { ScriptedServer } from '../../support/scriptedServer.ts';
import { connect } from '../support/connect.ts';
import { givenTool, givenToolFile, problemsOf, removeTools, toolFile } from '../support/customTools.ts';
import { activateRedline, bytesOf, cleanUp, givenFile, setting, until } from '../support/redline.ts';

const tool = (name: string, body: string): string =>
  `export default pi => ({
  name: '${name}',
  description: 'For a test.',
  parameters: pi.zod.object({}),
  async execute(id, params, onUpdate, ctx) { ${body} },
});
`;

suite('custom tools', () => {
  let api: RedlineApi;
  let server: ScriptedServer | undefined;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(async () => {
    await cleanUp(api);
    await removeTools();
    await server?.close();
    assert.deepEqual(server?.violations ?? [], []);
    server = undefined;
  });

  const lastResult = (): string => {
    const result = api.session.messages().findLast(message => message.role === 'tool');
    return result?.role === 'tool' ? result.content : assert.fail('a tool was called');
  };
  const firstResult = (): string => {
    const result = api.session.messages().find(message => message.role === 'tool');
    return result?.role === 'tool' ? result.content : assert.fail('a tool was called');
  };
  const head = () => api.previews.peek() ?? assert.fail('a preview is pending');
  const lastEntry = () => api.previews.ledger().at(-1) ?? assert.fail('the ledger has an entry');

  for (const name of ['stack.ts', 'queue.ts', 'flat.ts']) {
    test(`the published ${name}, unchanged: the user’s apply and discard return its own texts`, async () => {
      await givenToolFile(`test/fixtures/customTools/published/${name}`);
      const call = '/call batch_rename_preview {"files": ["a", "b"]}';
      await api.session.prompt(call);
      assert.match(
        firstResult(),
        /^Staged as p\d+, no file modified yet\.\nPrepared rename plan for 2 files\. Call resolve to apply or discard\.$/,
      );
      const { id, label, sourceToolName } = head();
      assert.deepEqual([label, sourceToolName], ['Batch rename: 2 files', 'batch_rename_preview']);
      await vscode.commands.executeCommand('redline.preview.apply', id);
      assert.deepEqual(
        [lastEntry().actor, lastEntry().outcome, lastEntry().message],
        ['human', 'applied', 'Applied batch rename. Reason: Applied by the user.'],
      );
      await api.session.prompt(call);
      await vscode.commands.executeCommand('redline.preview.discard', head().id, 'not today');
      assert.deepEqual(
        [lastEntry().outcome, lastEntry().message],
        ['discarded', 'Discarded batch rename. Reason: not today'],
      );
    });

    for (const [action, text] of [
      ['apply', 'Applied batch rename. Reason: It fits.'],
      ['discard', 'Discarded batch rename. Reason: It fits.'],
    ] as const) {
      test(`the published ${name}, unchanged: the model’s ${action} returns its own text`, async () => {
        await givenToolFile(`test/fixtures/customTools/published/${name}`);
        server = await connect(
          [
            { toolCalls: [{ name: 'batch_rename_preview', arguments: { files: ['a', 'b'] } }] },
            { toolCalls: [{ name: 'resolve', arguments: { action, reason: 'It fits.' } }] },
            { text: 'Done.' },
          ],
          { modelAuthority: 'apply' },
        );
        await api.session.prompt('Rename them.');
        assert.equal(lastResult(), text);
        assert.deepEqual([lastEntry().actor, lastEntry().message], ['model', text]);
      });
    }
  }

  test('three previews of one call, each with the default source, its details, and the default text', async () => {
    await givenTool(
      't.ts',
      tool(
        't',
        `for (const n of [1, 2, 3]) pi.pushPendingAction({ label: 'Step ' + n, details: { step: n, why: 'shown' }, apply() {} });
         return 'staged';`,
      ),
    );
    await api.session.prompt('/call t');
    assert.match(firstResult(), /^Staged as (p\d+), (p\d+), (p\d+), no file modified yet\.\nstaged$/);
    const listed = api.previews.list().map(({ label, sourceToolName }) => [label, sourceToolName]);
    assert.deepEqual(
      listed,
      [3, 2, 1].map(n => [`Step ${n}`, 'custom_tool']),
    );

    const { id } = head();
    await vscode.commands.executeCommand('redline.preview.open', id);
    const document = vscode.workspace.textDocuments.find(
      ({ uri }) => uri.scheme === 'redline-preview' && uri.authority === id && uri.query === '',
    );
    assert.match(document?.getText() ?? '', /"step": 3,\s+"why": "shown"/);
    await vscode.commands.executeCommand('redline.preview.discard', id, 'enough');
    assert.deepEqual(
      [lastEntry().message, lastEntry().details],
      ['Discarded: Step 3. Reason: enough', { step: 3, why: 'shown' }],
    );
    const uri = vscode.Uri.from({ scheme: LEDGER_SCHEME, path: '/Redline Ledger' });
    const ledger = await vscode.workspace.openTextDocument(uri);
    assert.match(ledger.getText(), /Step 3 .*\n {4}enough\n(?: {4}.*\n)* {4}\{"step":3,"why":"shown"\}\n/);
  });

  test('results that cannot be stored or never end do no harm to the conversation', async () => {
    const faults: string[] = [];
    const listening = api.session.onDidEmit(({ type }) => type === 'storing_failed' && faults.push(type));
    await givenTool(
      't.ts',
      tool(
        't',
        `const details = { n: 1n };
         pi.pushPendingAction({ label: 'Odd', details, apply() {} });
         return { content: [{ type: 'text', text: 'x'.repeat(5_000_000) }], details };`,
      ),
    );
    await api.session.prompt('/call t');
    listening.dispose();
    assert.deepEqual(faults, []);
    const result = api.session.messages().find(message => message.role === 'tool');
    assert.ok(result && result.content.length < 101_000, 'it was cut');
    assert.match(String(result.details), /^\[not storable: .*BigInt/);
  });

  test('a tool is told which session it is used in, and can stage in it outside of any call', async () => {
    const told: { reason: string; sessionId: string; previousSessionId?: string }[] = [];
    (globalThis as { redlineTold?: unknown }).redlineTold = told;
    const source = tool('t', `return ctx.sessionId;`).replace(
      'async execute',
      `onSession(event) {
         globalThis.redlineTold.push(event);
         if (event.reason === 'switch') pi.pushPendingAction({ label: 'For the new one', apply() {} });
       },
       async execute`,
    );
    await givenTool('t.ts', source);
    await api.session.prompt('/call t');
    const [start] = told;
    assert.deepEqual(start, { reason: 'start', sessionId: lastResult() });
    await api.session.new();
    const { id, label } = head();
    assert.equal(label, 'For the new one');
    await api.previews.resolve({ id, action: 'discard', reason: 'seen' });
    await api.session.prompt('/call t');
    const [, change] = told;
    assert.deepEqual(change, {
      reason: 'switch',
      sessionId: lastResult(),
      previousSessionId: start.sessionId,
    });
    assert.notEqual(change?.sessionId, start.sessionId);
    await removeTools();
    assert.equal(told.at(-1)?.reason, 'shutdown');
  });

  for (const [what, thrown, message] of [
    ['something plain', "new Error('disk is full')", 'Apply failed: disk is full'],
    ['a ToolError', "new pi.ToolError('Free some space first.')", 'Free some space first.'],
  ] as const) {
    test(`an apply that throws ${what} keeps the preview pending, and says why`, async () => {
      await givenTool(
        't.ts',
        tool('t', `pi.pushPendingAction({ label: 'Fails', apply() { throw ${thrown}; } }); return '';`),
      );
      await api.session.prompt('/call t');
      const { id } = head();
      await assert.rejects(api.previews.resolve({ id, action: 'apply', reason: 'try' }), { message });
      assert.equal(api.previews.get(id)?.state, 'pending');
      assert.equal(lastEntry().outcome, 'failed');
    });
  }

  test('declared changes are a diff that Redline writes', async () => {
    await givenFile('declared.txt', 'old');
    await givenTool(
      't.ts',
      tool(
        't',
        `const before = await ctx.readFile('declared.txt');
         pi.pushPendingAction({ label: 'Renew', changes: [{ path: 'declared.txt', before, after: 'new' }] });
         return before;`,
      ),
    );
    await api.session.prompt('/call t');
    assert.deepEqual(head().files, [{ path: 'declared.txt', kind: 'modify' }]);
    assert.equal((await bytesOf('declared.txt')).toString(), 'old');
    await vscode.commands.executeCommand('redline.preview.apply', head().id);
    assert.equal((await bytesOf('declared.txt')).toString(), 'new');
  });

  test('progress streams into the session', async () => {
    await givenTool('t.ts', tool('t', `onUpdate('half of it'); return 'all';`));
    const progress: string[] = [];
    const listening = api.session.onDidEmit(event => {
      if (event.type === 'tool_update') progress.push(event.progress);
    });
    await api.session.prompt('/call t');
    listening.dispose();
    assert.deepEqual([progress, lastResult()], [['half of it'], 'all']);
  });

  const faulty: readonly [what: string, name: string, source: string, message: RegExp, line: number][] = [
    ['no default export', 'bad.ts', 'export const a = 1;', /no default export/, 0],
    [
      'a syntax error',
      'bad.ts',
      'export default pi => {\n  const = 1;\n};',
      /cannot be imported: .*Unexpected token/,
      1,
    ],
    [
      'a throwing factory',
      'bad.mjs',
      'export default pi => {\n  throw new Error("boom");\n};',
      /factory threw: boom/,
      1,
    ],
    [
      'an invalid tool',
      'bad.cjs',
      'module.exports = pi => [{ name: "x" }];',
      /Invalid tool at index 0: `description`/,
      0,
    ],
    [
      'the name of a tool that is switched off',
      'bad.js',
      tool('revert_to_state', ''),
      /already a tool named revert_to_state/,
      1,
    ],
    ['a taken name', 'bad.js', tool('edit_file', ''), /already a tool named edit_file/, 1],
    [
      'process.exit at import',
      'bad.ts',
      '\nprocess.exit(1);',
      /called process\.exit\(1\), which was blocked/,
      1,
    ],
    [
      'staging outside of a session',
      'bad.ts',
      'export default pi => pi.pushPendingAction({ label: "x", apply() {} });',
      /Pending action store unavailable for custom tools in this runtime\./,
      0,
    ],
  ];
  for (const [what, name, source, message, line] of faulty) {
    test(`${what} is a problem of its file, and the session keeps working`, async () => {
      await givenTool('good.ts', tool('good', `return 'still here';`));
      const uri = await givenTool(name, source);
      await api.session.prompt('/call good');
      assert.equal(lastResult(), 'still here');
      const [problem, ...others] = await problemsOf(uri);
      assert.match(problem?.message ?? '', message);
      assert.deepEqual([problem?.range.start.line, others.length], [line, 0]);
    });
  }

  test('an import that never settles is given up after ten seconds, and the session keeps working', async () => {
    await givenTool('good.ts', tool('good', `return 'still here';`));
    const uri = await givenTool('bad.ts', 'await new Promise(() => {});');
    const [problem] = await problemsOf(uri, 30_000);
    assert.match(problem?.message ?? '', /not ready within 10 seconds/);
    await api.session.prompt('/call good');
    assert.equal(lastResult(), 'still here');
  });

  test('process.exit in a call is an error of that call and a problem of the file', async () => {
    const uri = await givenTool('t.ts', tool('t', '\n    process.exit(1);'));
    await api.session.prompt('/call t');
    assert.match(
      lastResult(),
      /called process\.exit\(1\), which would end all extensions, so the call was blocked/,
    );
    const [problem] = await problemsOf(uri);
    assert.equal(problem?.range.start.line, 5);
    await api.session.prompt('/call t');
    assert.match(lastResult(), /so the call was blocked/, 'it can be called again');
  });

  for (const [where, body] of [
    ['a timer', `setTimeout(() => { throw new Error('too late'); }, 1); return 'ok';`],
    ['a timer, and it is no error', `setTimeout(() => { throw 'too late'; }, 1); return 'ok';`],
    ['a promise that it leaves alone', `void Promise.reject(new Error('too late')); return 'ok';`],
  ] as const) {
    test(`an error that a tool throws in ${where} is a problem of the file, and the session keeps working`, async () => {
      // Mocha would count every uncaught error as the test's own. The listener of VS Code comes first and contains them.
      const [vscodes, ...mocha] = process.listeners('uncaughtException');
      assert.ok(vscodes && mocha.length > 0);
      for (const listener of mocha) process.off('uncaughtException', listener);
      try {
        const uri = await givenTool('t.ts', tool('t', body));
        await api.session.prompt('/call t');
        const [problem] = await problemsOf(uri);
        assert.match(problem?.message ?? '', /threw an error outside of any call: too late/);
      } finally {
        for (const listener of mocha) process.on('uncaughtException', listener);
      }
      await givenTool('t.ts', tool('t', `return 'repaired';`));
      await api.session.prompt('/call t');
      assert.equal(lastResult(), 'repaired');
    });
  }

  test('an edited tool runs its new code at the next call; a running call finishes with the old', async () => {
    const gate = new Gate();
    (globalThis as { redlineGate?: Gate }).redlineGate = gate;
    await givenTool('t.ts', tool('t', `await globalThis.redlineGate.pass(); return 'old';`));
    const running = api.session.prompt('/call t');
    await gate.reached;
    await givenTool('t.ts', tool('t', `return 'newer';`));
    await vscode.commands.executeCommand('redline.customTools.reload');
    gate.open();
    await running;
    assert.equal(lastResult(), 'old');
    await api.session.prompt('/call t');
    assert.equal(lastResult(), 'newer');
    await givenTool('t.ts', tool('t', `return 'newest of all';`));
    await api.session.prompt('/call t');
    assert.equal(lastResult(), 'newest of all');
  });

  test('the watcher loads new tools and reloads repaired ones by itself', async () => {
    const uri = await givenTool('t.ts', 'export default 1;');
    await problemsOf(uri);
    await givenTool('t.ts', tool('t', `return 'repaired';`));
    await until(
      vscode.languages.onDidChangeDiagnostics,
      () => (vscode.languages.getDiagnostics(uri).length === 0 ? true : undefined),
      'the problem to be gone',
    );
  });

  test('tools are also loaded from the places in the setting', async () => {
    await givenTool('elsewhere.ts', tool('elsewhere', `return 'found';`));
    await vscode.workspace.fs.rename(
      vscode.Uri.file(toolFile('elsewhere.ts')),
      vscode.Uri.file(toolFile('../moved.ts')),
    );
    await access(toolFile('../moved.ts'));
    await setting('customTools.paths', [toolFile('../moved.ts')]);
    await api.session.prompt('/call elsewhere');
    assert.equal(lastResult(), 'found');
  });
});
