import * as assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { readProcesses } from '../../../src/agent/base/system/processTable.ts';
import type { PreviewInfo, RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, cleanUp, fileInWorkspace, givenFile, setting, until } from '../support/redline.ts';

suite('run_command', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  // What runs in the sandbox is told by the window test of it and by the unit tests of its engines.
  setup(() => setting('sandbox.engine', 'off'));

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

  const terminalSettings = vscode.workspace.getConfiguration('terminal.integrated');

  /** Sets settings of terminals while `work` runs. */
  async function withTerminals(values: Record<string, unknown>, work: () => Promise<void>): Promise<void> {
    const { Global } = vscode.ConfigurationTarget;
    for (const [name, value] of Object.entries(values)) await terminalSettings.update(name, value, Global);
    try {
      await work();
    } finally {
      for (const name of Object.keys(values)) await terminalSettings.update(name, undefined, Global);
    }
  }

  const outcome = ({ id }: PreviewInfo): string =>
    api.previews.ledger().findLast(({ previewId }) => previewId === id)?.message ?? '';

  test('the preview shows what runs, and applying it runs that in a terminal', async () => {
    await setting('resolve.modelAuthority', 'apply');
    const preview = await proposed('printf "one\\ntwo\\n"; cat seen.txt; (exit 3)');
    assert.equal(preview.recommendation, undefined, 'in Auto, too, only the user is asked');
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
      'GIT_EDITOR=false',
      '120 seconds',
    ])
      assert.ok(text.includes(part), `${part} in ${text}`);
    assert.equal(vscode.window.terminals.length, 0);
    await givenFile('seen.txt', 'three\n');
    await apply(preview);
    assert.match(
      outcome(preview),
      /^The command ended with exit code 3\.\nIts output:\n```\none\ntwo\nthree\n```$/,
    );
    assert.equal(vscode.window.terminals.length, 1, 'the terminal stays, to be read');
  });

  async function resultOf(command: string): Promise<string> {
    const preview = await proposed(command);
    await apply(preview);
    return outcome(preview);
  }

  test('whatever the text is, it runs in one kind of shell, whose input is closed', async () => {
    await withTerminals({ 'defaultProfile.linux': 'bash' }, async () => {
      const flags: string[] = [];
      for (const command of ['echo "$-"', 'echo "$-" # why', 'true\necho "$-"', '  echo "$-"'])
        flags.push((await resultOf(command)).split('\n').at(-1) ?? '');
      assert.equal(new Set(flags).size, 1, flags.join());
      assert.doesNotMatch(flags[0] ?? '', /i/, 'not an interactive shell');
      const several = await resultOf('echo one # a comment\necho two\n\n(exit 4)');
      assert.match(several, /^The command ended with exit code 4\.\nIts output:\n```\none\ntwo\n```$/);
      assert.match(
        await resultOf("echo 'abc"),
        /^The command ended with exit code [1-9]/,
        'an error, no hang',
      );
      const asked = await resultOf('read name; echo "[$name] $?"; cat');
      assert.match(asked, /^The command ended with exit code 0\.\nIts output:\n```\n\[\] 1\n```$/);
    });
  });

  test('a command gets no variables of VS Code itself, but those that the settings give to terminals', async () => {
    assert.ok(Object.keys(process.env).some(name => /^(ELECTRON|VSCODE)_/.test(name)));
    process.env['NODE_OPTIONS'] = '--no-warnings';
    try {
      await withTerminals({ 'env.linux': { ADDED: '${env:HOME}/x' } }, async () => {
        const names = await resultOf('env | cut -d= -f1; echo "$ADDED"');
        assert.doesNotMatch(names, /^(ELECTRON|VSCODE)_|^NODE_OPTIONS$/m);
        assert.ok(names.endsWith(`${process.env['HOME']}/x\n\`\`\``), names);
        assert.match(names, /^PATH$/m);
      });
    } finally {
      delete process.env['NODE_OPTIONS'];
    }
  });

  const profiles = { custom: { path: '/bin/bash', args: ['--noprofile', '-u'], env: { FROM: 'profile' } } };
  for (const { name, settings, command, document, result } of [
    {
      name: 'the arguments and variables of the default profile',
      settings: { 'profiles.linux': profiles, 'defaultProfile.linux': 'custom' },
      command: 'echo "$FROM $0"; echo "$-"',
      document: /^Shell: \/bin\/bash --noprofile -u -c\n[^]*^- FROM=profile$/m,
      result: /\nprofile \/bin\/bash\n.*u/,
    },
    {
      name: 'the profile for automation',
      settings: {
        'automationProfile.linux': { path: '/bin/sh', args: ['-u'] },
        'defaultProfile.linux': 'bash',
      },
      command: 'echo "$0 $-"',
      document: /^Shell: \/bin\/sh -u -c$/m,
      result: /\n\/bin\/sh .*u/,
    },
  ])
    test(`${name}: what is shown is what runs`, async () => {
      await withTerminals(settings, async () => {
        const preview = await proposed(command);
        await vscode.commands.executeCommand('redline.preview.open', preview.id);
        const shown = vscode.workspace.textDocuments.find(
          ({ uri }) => uri.scheme === 'redline-preview' && uri.authority === preview.id && uri.query === '',
        );
        assert.match(shown?.getText() ?? '', document);
        await apply(preview);
        assert.match(outcome(preview), result);
      });
    });

  test('what a command leaves running in a session of its own is named, and ended by Stop', async () => {
    const left = await resultOf('setsid sleep 99 >/dev/null 2>&1 & sleep 0.2; echo x');
    const [, pid] = /1 process that it started still runs: sleep \((\d+)\)/.exec(left) ?? assert.fail(left);
    process.kill(Number(pid));
    const seen = fileInWorkspace('seen.txt');
    const preview = await proposed(
      `(setsid sh -c 'echo $$ > new.txt; mv new.txt seen.txt; exec sleep 99' &) ; sleep 99`,
    );
    const applied = apply(preview);
    const folder = vscode.workspace.workspaceFolders?.[0] ?? assert.fail('a folder');
    const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(folder, 'seen.txt'));
    const text = (): string => (existsSync(seen) ? readFileSync(seen, 'utf8').trim() : '');
    await until(watcher.onDidCreate, () => text() || undefined, 'the command to start');
    watcher.dispose();
    await vscode.commands.executeCommand('redline.session.stop');
    await applied;
    assert.equal(outcome(preview), 'The user stopped the command.\nNo output.');
    assert.ok(!(await readProcesses()).some(one => one.pid === Number(text())));
    await rm(seen);
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
    const preview = await proposed('echo up > seen.txt; sleep 1000');
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
    assert.match(text, /^The command ended with exit code 0\.\nIts output:\n```\nfirst\nx/);
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
      assert.ok(outcome(preview).endsWith('/inner\n```'), outcome(preview));
    } finally {
      await rm(link);
      await rm(fileInWorkspace('inner'), { recursive: true });
    }
  });
});
