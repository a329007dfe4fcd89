import * as assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { limitMs } from '../../../scripts/lib/limits.mjs';
import type { PreviewInfo, RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, cleanUp, fileInWorkspace, givenFile, setting, until } from '../support/redline.ts';

suite('run_command', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(async () => {
    await cleanUp(api);
    for (const terminal of vscode.window.terminals) terminal.dispose();
  });

  async function proposed(command: string): Promise<PreviewInfo> {
    await api.session.prompt(`/run ${command}`);
    return api.previews.peek() ?? assert.fail('nothing is pending');
  }

  function apply({ id }: PreviewInfo): Thenable<unknown> {
    return vscode.commands.executeCommand('redline.preview.apply', id);
  }

  /** Makes bash, with which VS Code is integrated, the default shell, and gives it the time that this machine needs. */
  async function useBash(profile: 'bash' | undefined = 'bash'): Promise<void> {
    const settings = vscode.workspace.getConfiguration('terminal.integrated');
    await settings.update('defaultProfile.linux', profile, vscode.ConfigurationTarget.Global);
    // Older versions do not have this setting.
    if (settings.inspect('shellIntegration.timeout')?.defaultValue === undefined) return;
    const patience = profile && Math.min(60_000, limitMs(20_000));
    await settings.update('shellIntegration.timeout', patience, vscode.ConfigurationTarget.Global);
  }

  const outcome = ({ id }: PreviewInfo): string =>
    api.previews.ledger().findLast(({ previewId }) => previewId === id)?.message ?? '';

  /** Settles once a terminal of ours has been opened. */
  const terminalOpened = (): Promise<unknown> => {
    const earlier = new Set(vscode.window.terminals);
    return until(
      vscode.window.onDidOpenTerminal,
      () => vscode.window.terminals.find(terminal => !earlier.has(terminal)),
      'a terminal',
    );
  };

  test('the preview shows what runs, and applying it runs that in a terminal', async () => {
    await setting('resolve.modelAuthority', 'apply');
    const preview = await proposed('printf "one\\ntwo\\n"; cat seen.txt; (exit 3)');
    assert.equal(preview.recommendation?.action, 'apply', 'in Auto, too, the model only recommends');
    await vscode.commands.executeCommand('redline.preview.open', preview.id);
    const document = vscode.workspace.textDocuments.find(
      ({ uri }) => uri.scheme === 'redline-preview' && uri.authority === preview.id && uri.query === '',
    );
    const text = document?.getText() ?? '';
    assert.match(text, /^# Run: printf/);
    for (const part of [
      'printf "one',
      fileInWorkspace('.').replace(/\/\.?$/, ''),
      vscode.env.shell,
      'PAGER=cat',
      '120 seconds',
    ])
      assert.ok(text.includes(part), `${part} in ${text}`);
    assert.equal(vscode.window.terminals.length, 0);
    await givenFile('seen.txt', 'three\n');
    await apply(preview);
    assert.match(outcome(preview), /^The command ended with exit code 3\.\nIts output:\none\ntwo\nthree$/);
    assert.equal(vscode.window.terminals.length, 1, 'the terminal stays, to be read');
  });

  test('in a shell that VS Code is integrated with, it runs there, and Stop interrupts it', async () => {
    await useBash();
    const shells: vscode.Terminal[] = [];
    const watching = vscode.window.onDidStartTerminalShellExecution(({ terminal }) => shells.push(terminal));
    try {
      const preview = await proposed('echo "in $0"; (exit 4)');
      await apply(preview);
      assert.match(outcome(preview), /^The command ended with exit code 4\.\nIts output:\nin .*bash$/);
      assert.equal(shells.length, 1);

      const server = await proposed('echo up; sleep 1000');
      const started = until(
        vscode.window.onDidStartTerminalShellExecution,
        () => (shells.length === 2 ? true : undefined),
        'the command to start',
      );
      const applied = apply(server);
      await started;
      await vscode.commands.executeCommand('redline.session.stop');
      await applied;
      assert.match(outcome(server), /^The user stopped the command\./);
    } finally {
      watching.dispose();
      await useBash(undefined);
    }
  });

  test('control characters are shown as escapes, in the label and in the document', async () => {
    const preview = await proposed('echo a\x1b[2Kb\u202e');
    assert.equal(preview.label, 'Run: echo a\\x1b[2Kb\\u202e');
    await vscode.commands.executeCommand('redline.preview.open', preview.id);
    const texts = vscode.workspace.textDocuments
      .filter(({ uri }) => uri.scheme === 'redline-preview' && uri.query === '')
      .map(document => document.getText());
    assert.match(texts.join(), /\necho a\\x1b\[2Kb\\u202e\n/);
    for (const hidden of ['\x1b', '\u202e']) assert.ok(!texts.join().includes(hidden));
  });

  test('Stop ends a server that never ends', async () => {
    const preview = await proposed('echo up > seen.txt; sleep 1000 # beside the interactive shell');
    const folder = vscode.workspace.workspaceFolders?.[0] ?? assert.fail('a folder');
    const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(folder, 'seen.txt'));
    let isUp: true | undefined;
    watcher.onDidCreate(() => (isUp = true));
    const up = until(watcher.onDidCreate, () => isUp, 'the command to start');
    const applied = apply(preview);
    await up;
    watcher.dispose();
    await vscode.commands.executeCommand('redline.session.stop');
    await applied;
    assert.match(outcome(preview), /^The user stopped the command\./);
    await rm(fileInWorkspace('seen.txt'));
  });

  test('Stop while the terminal opens runs nothing', async () => {
    const preview = await proposed('echo ran > seen.txt');
    const opened = terminalOpened();
    const applied = apply(preview);
    await opened;
    await vscode.commands.executeCommand('redline.session.stop');
    await applied;
    assert.equal(existsSync(fileInWorkspace('seen.txt')), false);
    assert.equal(api.previews.get(preview.id)?.state, 'pending');
  });

  for (const profile of ['bash', undefined] as const)
    test(`a command that asks for input ends at the time limit, ${profile ? 'in the interactive shell' : 'beside it'}`, async () => {
      await useBash(profile);
      await setting('runCommand.timeLimit', 6);
      try {
        const preview = await proposed(
          `echo Name; read name; echo "Hello $name"${profile ? '' : ' # beside it'}`,
        );
        await apply(preview);
        assert.match(
          outcome(preview),
          /^The command was ended after the time limit of 6 seconds\.\nIts output:\n(?:.*\n)*Name/,
        );
        assert.doesNotMatch(outcome(preview), /\nHello/);
      } finally {
        await useBash(undefined);
      }
    });

  test('100 MB of output leave the host responsive, and only the beginning and the end are told', async () => {
    let turns = 0;
    const ticking = setInterval(() => turns++, 1);
    const preview = await proposed('echo first; head -c 100000000 /dev/zero | tr "\\0" x # many');
    try {
      await apply(preview);
    } finally {
      clearInterval(ticking);
    }
    const text = outcome(preview);
    assert.match(text, /^The command ended with exit code 0\.\nIts output:\nfirst\nx/);
    assert.match(text, /\n\[\d+ characters of output are left out here\]\nx/);
    assert.ok(text.length < 31_000);
    assert.ok(turns > 10, `the host had ${turns} turns for other work`);
  });

  test('a folder outside the workspace is refused, also through a link', async () => {
    const link = fileInWorkspace('out');
    await mkdir(fileInWorkspace('inner'), { recursive: true });
    await symlink(path.resolve(tmpdir()), link);
    try {
      const call = (cwd: string): Promise<void> =>
        api.session.prompt(`/call run_command ${JSON.stringify({ command: 'pwd', cwd })}`);
      for (const cwd of ['..', '/', 'out', 'none', '.git']) await call(cwd);
      assert.deepEqual(api.previews.list(), []);
      await call('inner/');
      const preview = api.previews.peek() ?? assert.fail('nothing is pending');
      await apply(preview);
      assert.ok(outcome(preview).endsWith('/inner'), outcome(preview));
    } finally {
      await rm(link);
      await rm(fileInWorkspace('inner'), { recursive: true });
    }
  });
});
