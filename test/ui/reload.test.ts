/** What a new extension host on the same storage knows: pending previews, an interrupted session, a cleared history. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after } from 'node:test';
import { removeTemporaryFolder } from '../../scripts/lib/cleanup.mjs';
import { copyExampleWorkspace } from '../../scripts/lib/workspaceCopy.mjs';
import { startScriptedServer, type Script, type ScriptedServer } from '../support/scriptedServer.ts';
import { drivenTest, type DrivenWorkbench } from './support/drivenWorkbench.ts';

const CART = 'src/cart.ts';
/** What is kept of it: line ends of both kinds, no end of the last line, a character outside of the basic plane. */
const NOTES = 'one\r\ntwo\nthree \u{1F389} ';

drivenTest(
  'three pending previews over a reload and a restart: two are the same to the byte, the opaque one has expired',
  {},
  async driven => {
    const { workbench } = driven;
    const original = workbench.readFile(CART) ?? assert.fail('the example has a cart');
    const staged = await driven.run(
      ({ api }, { path, before, notes }) => {
        const change = api.previews.push({
          label: 'Count in cents',
          sourceToolName: 'a_tool',
          changes: [{ path, before, after: before.replace('total += ', 'total += 100 * ') }],
        });
        const create = api.previews.push({
          label: 'Write notes',
          sourceToolName: 'a_tool',
          changes: [{ path: 'notes.txt', before: null, after: notes }],
        });
        const opaque = api.previews.push({
          label: 'Send a letter',
          sourceToolName: 'post_office',
          details: { to: 'Ada' },
          apply: () => Promise.resolve({ content: [{ type: 'text', text: 'sent' }] }),
        });
        return { change: change.id, create: create.id, opaque: opaque.id };
      },
      { path: CART, before: original, notes: NOTES },
    );
    const contents = (): Promise<string[]> =>
      driven.run(async ({ vscode }, ids) => {
        const [folder] = vscode.workspace.workspaceFolders ?? [];
        const read = async (id: string, path: string, query: string): Promise<string> => {
          const uri = folder?.uri.with({
            scheme: 'redline-preview',
            authority: id,
            path: `${folder.uri.path}/${path}`,
            query,
          });
          return uri ? Buffer.from(await vscode.workspace.fs.readFile(uri)).toString('base64') : '';
        };
        return [
          await read(ids.change, 'src/cart.ts', 'base'),
          await read(ids.change, 'src/cart.ts', ''),
          await read(ids.create, 'notes.txt', ''),
        ];
      }, staged);
    const shown = await contents();
    assert.equal(Buffer.from(shown[2] ?? '', 'base64').toString(), NOTES);

    for (const again of [() => driven.reload(), () => driven.restart()]) {
      await again();
      assert.deepEqual(
        await driven.run(({ api }) => api.previews.list().map(({ id, stale }) => ({ id, stale }))),
        [
          { id: staged.create, stale: false },
          { id: staged.change, stale: false },
        ],
      );
      assert.deepEqual(await contents(), shown);
      assert.equal(await driven.run(({ api }, id) => api.previews.get(id)?.state, staged.opaque), 'expired');
    }
    assert.match(
      await driven.run(
        async ({ api }, id) =>
          (await api.previews.resolve({ id, action: 'apply', reason: 'try' })).content[0]?.text ?? '',
        staged.opaque,
      ),
      /has expired: it did not run, and what it would have run is gone\./,
    );

    await workbench.openRedlineChat();
    await workbench.treeRow('Expired (1)').waitFor();
    await workbench.clickTreeRow('Expired (1)');
    await workbench.treeRow('Send a letter').waitFor();
    await workbench.picture('reload-expired');
    await workbench.treeAction('Count in cents', 'Apply');
    await workbench.waitForFile(CART, text => text !== original);
    // A button of a row means nothing while the tree asks for its rows anew.
    await workbench.treeRow('Count in cents').waitFor({ state: 'detached' });
    await workbench.treeAction('Write notes', 'Apply');
    await workbench.waitForFile('notes.txt', text => text !== undefined);
    await workbench.treeRow('Write notes').waitFor({ state: 'detached' });
    assert.equal(workbench.readFile(CART), Buffer.from(shown[1] ?? '', 'base64').toString());
    assert.equal(workbench.readFile('notes.txt'), NOTES);

    await workbench.treeAction('Expired (1)', 'Dismiss');
    await workbench.treeRow('Expired (1)').waitFor({ state: 'detached' });
    const next = await driven.run(
      ({ api }) =>
        api.previews.push({
          label: 'Next',
          sourceToolName: 'a_tool',
          changes: [{ path: 'x.txt', before: null, after: 'x' }],
        }).id,
    );
    assert.equal(next, 'p4', 'ids are never used again');
  },
);

drivenTest(
  'a session that was cut off comes back idle and says so; its call has a result; what waited waits; nothing is sent by itself',
  {},
  async driven => {
    const { workbench } = driven;
    const { server, id } = await interruptedInApply(driven, [
      {
        text: 'Sending it.',
        toolCalls: [{ name: 'resolve', arguments: { id: 'p1', action: 'apply', reason: 'now' } }],
      },
      { text: 'I will check first.' },
    ]);
    try {
      await driven.run(({ api }) => {
        void api.session.prompt('Then thank her.');
      });
      driven.kill();
      await driven.reload();

      const { state, messages, preview } = await driven.run(
        ({ api }, previewId) => ({
          state: api.session.state,
          messages: api.session.messages(),
          preview: api.previews.get(previewId)?.state,
        }),
        id,
      );
      assert.equal(state, 'idle');
      assert.equal(preview, 'expired');
      assert.deepEqual(
        messages.flatMap(message => (message.role === 'tool' ? [message.content] : [])),
        ['Interrupted: the result of this call is not known. Check before you repeat it.'],
      );
      await workbench.openRedlineChat();
      await workbench
        .chatFrame()
        .locator('.log')
        .getByText('The window was reloaded or closed in the middle of a turn.')
        .waitFor();
      await workbench.chatFrame().locator('[data-kind="notice"] [data-action="continue"]').waitFor();
      const queued = workbench.chatFrame().locator('[data-kind="user"]', { hasText: 'Then thank her.' });
      await queued.getByText('Queued').waitFor();
      await workbench.picture('reload-interrupted');
      await queued.locator('[data-action="removeQueued"]').click();
      await queued.waitFor({ state: 'detached' });
      assert.equal(server.requests.length, 1, 'nothing was sent by the new extension host');

      await workbench.sendChat('Did it work?');
      const { body } = await server.request(1);
      assert.deepEqual(
        body.messages.slice(-1).map(message => message.content),
        ['Did it work?'],
        'the next request is the prompt, and the conversation is one that every server takes',
      );
      await workbench.chatFrame().locator('.log').getByText('I will check first.').waitFor();
    } finally {
      await server.close();
    }
    assert.deepEqual(server.violations, []);
  },
);

drivenTest(
  'Clear History: what resolved previews held is gone from the disk, ledger and ids remain',
  {},
  async driven => {
    const { workbench } = driven;
    await driven.run(async ({ api, vscode }) => {
      const [folder] = vscode.workspace.workspaceFolders ?? [];
      if (!folder) throw new Error('no folder');
      const uri = vscode.Uri.joinPath(folder.uri, 'secret.txt');
      await vscode.workspace.fs.writeFile(uri, Buffer.from('the old secret'));
      const push = (path: string, before: string | null, after: string) =>
        api.previews.push({
          label: `Change ${path}`,
          sourceToolName: 'a_tool',
          changes: [{ path, before, after }],
        });
      const { id } = push('secret.txt', 'the old secret', 'the new secret');
      await api.previews.resolve({ id, action: 'apply', reason: 'rotated' });
      const discarded = push('other.txt', null, 'a refused secret');
      await api.previews.resolve({ id: discarded.id, action: 'discard', reason: 'not this' });
      push('pending.txt', null, 'a pending text');
    });
    // Of the new one, only what differs from the old one is stored.
    assert.match(await log(driven), /the old secret.*new.*a refused secret/s);

    await workbench.openRedlineChat();
    await workbench.runCommand('Redline: Clear History…');
    await workbench.page.locator('.monaco-dialog-box').getByText('Delete the content').waitFor();
    await workbench.picture('clear-history');
    await workbench.page.locator('.monaco-dialog-box').getByRole('button', { name: 'Clear History' }).click();
    await driven.until('the content to be gone', ({ fs, storage }) => {
      const packs = fs.readdirSync(`${storage}/contents`).map(name => `${storage}/contents/${name}`);
      return packs.some(file => fs.readFileSync(file, 'utf8').includes('secret')) ? undefined : true;
    });

    const kept = await log(driven);
    assert.doesNotMatch(kept, /the old secret|the new secret|a refused secret/);
    assert.match(kept, /a pending text/);
    const facts = (): Promise<unknown> =>
      driven.run(({ api }) => ({
        pending: api.previews.list().map(({ id }) => id),
        ledger: api.previews
          .ledger()
          .map(({ previewId, outcome, reason, files }) => [previewId, outcome, reason, files.length]),
        forgotten: api.previews.get('p1') ?? null,
      }));
    const expected = {
      pending: ['p3'],
      ledger: [
        ['p1', 'applied', 'rotated', 1],
        ['p2', 'discarded', 'not this', 1],
      ],
      forgotten: null,
    };
    assert.deepEqual(await facts(), expected);
    await driven.restart();
    assert.deepEqual(await facts(), expected);
    const next = await driven.run(async ({ api }) => {
      await api.previews.resolve({ id: 'p3', action: 'apply', reason: 'still there' });
      return api.previews.push({
        label: 'Next',
        sourceToolName: 'a_tool',
        changes: [{ path: 'x.txt', before: null, after: 'x' }],
      }).id;
    });
    assert.equal(workbench.readFile('pending.txt'), 'a pending text');
    assert.equal(next, 'p4');
  },
);

drivenTest(
  'history.retentionDays: what was resolved longer ago is forgotten when the window opens, and nothing else',
  {},
  async driven => {
    await driven.run(async ({ api, vscode }) => {
      const { Global } = vscode.ConfigurationTarget;
      await vscode.workspace.getConfiguration('redline').update('history.retentionDays', 1, Global);
      const push = (path: string, after: string) =>
        api.previews.push({
          label: `Create ${path}`,
          sourceToolName: 'a_tool',
          changes: [{ path, before: null, after }],
        });
      for (const path of ['old.txt', 'young.txt']) {
        const { id } = push(path, `content of ${path}`);
        await api.previews.resolve({ id, action: 'discard', reason: 'not this' });
      }
      push('pending.txt', 'content of pending.txt');
      const apply = () => Promise.resolve({ content: [{ type: 'text' as const, text: 'sent' }] });
      api.previews.push({ label: 'Send a letter', sourceToolName: 'post_office', apply });
    });
    // The first was resolved two days ago, and everything was staged then.
    await driven.run(({ fs, storage }) => {
      const file = `${storage}/previews.jsonl`;
      const old = new Date(Date.now() - 2 * 24 * 60 * 60 * 1000).toISOString();
      const lines = fs.readFileSync(file, 'utf8').split('\n');
      const aged = lines.map(line =>
        line
          .replace(/"stagedAt":"[^"]*"/, `"stagedAt":"${old}"`)
          .replace(/("previewId":"p1".*"at":")[^"]*"/, `$1${old}"`),
      );
      fs.writeFileSync(file, aged.join('\n'));
    });
    await driven.restart();
    await driven.until('the old content to be gone', ({ fs, storage }) => {
      const packs = fs.readdirSync(`${storage}/contents`).map(name => `${storage}/contents/${name}`);
      return packs.some(file => fs.readFileSync(file, 'utf8').includes('content of old.txt'))
        ? undefined
        : true;
    });
    const kept = await log(driven);
    for (const path of ['young.txt', 'pending.txt']) assert.ok(kept.includes(`content of ${path}`), path);
    assert.deepEqual(
      await driven.run(({ api }) => ({
        states: ['p1', 'p2', 'p3', 'p4'].map(id => api.previews.get(id)?.state ?? 'forgotten'),
        ledger: api.previews.ledger().map(({ previewId, outcome }) => [previewId, outcome]),
      })),
      {
        states: ['forgotten', 'discarded', 'pending', 'expired'],
        ledger: [
          ['p1', 'discarded'],
          ['p2', 'discarded'],
        ],
      },
    );
  },
);

drivenTest(
  'the diff that was in front is open again after a reload, of one file and of several; one whose preview is gone stays closed',
  {},
  async driven => {
    const { workbench } = driven;
    await driven.run(
      ({ api }, before) => {
        const push = (label: string, ...changes: { path: string; before: string | null; after: string }[]) =>
          api.previews.push({ label, sourceToolName: 'a_tool', changes });
        const after = before.replace('total += ', 'total += 100 * ');
        push('Count in cents', { path: 'src/cart.ts', before, after });
        push(
          'Write notes',
          { path: 'one.txt', before: null, after: 'one\n' },
          { path: 'two.txt', before: null, after: 'two\n' },
        );
      },
      workbench.readFile(CART) ?? assert.fail('the example has a cart'),
    );
    await workbench.openRedlineChat();
    for (const [id, label, lens, title] of [
      ['p1', 'Count in cents', 'Apply', 'cart.ts'],
      ['p2', 'Write notes', 'Create', 'Write notes'],
    ] as const) {
      await driven.run(({ vscode }, id) => vscode.commands.executeCommand('redline.preview.open', id), id);
      await workbench.lens(lens).waitFor();
      // It has been in view for a second.
      await workbench
        .treeRow(label)
        .filter({ hasText: /viewed/ })
        .waitFor();
      await driven.reload();
      await workbench.lens(lens).waitFor();
      assert.deepEqual(await shownTitles(driven), [title]);
      await workbench.picture(`reload-open-${id}`);
    }
    await driven.restart(() => {
      const files = fs.readdirSync(workbench.userDataDir, { recursive: true, encoding: 'utf8' });
      const kept = files.find(file => file.endsWith('previews.jsonl')) ?? assert.fail('there is a log');
      fs.rmSync(path.join(workbench.userDataDir, kept));
    });
    await driven.until('no tab of a preview to be left', ({ vscode }) =>
      vscode.window.tabGroups.all.every(({ tabs }) => tabs.every(({ label }) => !label.includes('Redline'))),
    );
  },
);

/** What the open tabs of previews show, by their titles. */
function shownTitles(driven: DrivenWorkbench): Promise<string[]> {
  return driven.run(({ vscode }) =>
    vscode.window.tabGroups.all.flatMap(({ tabs }) =>
      tabs.flatMap(({ label }) => /^(.+) \(Redline\)/.exec(label)?.[1] ?? []),
    ),
  );
}

/** The log of previews as it is on disk. */
/** The log, and the texts that its lines name. */
function log(driven: DrivenWorkbench): Promise<string> {
  return driven.run(({ fs, storage }) => {
    const folder = `${storage}/contents`;
    const packs = fs.existsSync(folder) ? fs.readdirSync(folder) : [];
    const files = [`${storage}/previews.jsonl`, ...packs.map(name => `${folder}/${name}`)];
    return files.map(file => fs.readFileSync(file, 'utf8')).join('\n');
  });
}

/** A session in Auto mode whose model has resolved an opaque preview, and whose apply never ends. */
async function interruptedInApply(
  driven: DrivenWorkbench,
  script: Script,
): Promise<{ server: ScriptedServer; id: string }> {
  const server = await startScriptedServer(script);
  const id = await driven.run(async ({ api, vscode }, baseUrl) => {
    const settings = vscode.workspace.getConfiguration('redline');
    const set = (key: string, value: string) =>
      settings.update(key, value, vscode.ConfigurationTarget.Global);
    await set('openai.baseUrl', baseUrl);
    await set('openai.model', 'scripted');
    await set('provider', 'openai');
    await set('resolve.modelAuthority', 'apply');
    const preview = api.previews.push({
      label: 'Send a letter',
      sourceToolName: 'post_office',
      apply: () => new Promise(() => undefined),
    });
    void api.session.prompt('Send the letter.');
    return preview.id;
  }, server.baseUrl);
  await driven.until(
    'the apply to begin',
    ({ api }, previewId) => (api.previews.get(previewId)?.state === 'applying' ? true : undefined),
    id,
  );
  return { server, id };
}

/** A workspace of one folder, which can be closed while the workspace, and so its storage, stays. */
const folder = copyExampleWorkspace();
after(() => removeTemporaryFolder(path.dirname(folder)));
const workspace = path.join(path.dirname(folder), 'shop.code-workspace');
const openFolders = (folders: readonly string[]): void =>
  fs.writeFileSync(workspace, JSON.stringify({ folders: folders.map(each => ({ path: each })) }));
openFolders([folder]);

drivenTest(
  'a preview whose folder was closed: a hunk of it is discarded and the rest is edited, all the same; in another folder it is not applied',
  { workspace },
  async driven => {
    const original = fs.readFileSync(path.join(folder, CART), 'utf8');
    const half = `${original}// last\n`;
    const both = `// first\n${half}`;
    await driven.untilFolders([folder]);
    const id = await driven.run(
      ({ api }, change) =>
        api.previews.push({ label: 'Comment', sourceToolName: 'a_tool', changes: [change] }).id,
      { path: CART, before: original, after: both },
    );
    const created = await driven.run(
      ({ api }, change) =>
        api.previews.push({ label: 'New file', sourceToolName: 'a_tool', changes: [change] }).id,
      { path: 'src/new.ts', before: null, after: 'new\n' },
    );
    // Not in the open window: it would restart its extension host for the change, at a moment of its own.
    const other = path.join(path.dirname(folder), 'other');
    fs.mkdirSync(other);
    await driven.restart(() => openFolders([other]));
    await driven.untilFolders([other]);
    const closed = await driven.run(async ({ api, vscode }, id) => {
      await vscode.commands.executeCommand('redline.preview.open', id);
      return api.previews.get(id)?.state;
    }, id);
    assert.equal(closed, 'pending');

    const shown = await driven.until(
      'the proposal, with the cursor in its first hunk',
      ({ vscode }, id) => {
        const editor = vscode.window.activeTextEditor;
        const { scheme, authority, query } = editor?.document.uri ?? {};
        if (!editor || scheme !== 'redline-preview' || authority !== id || query !== '') return undefined;
        editor.selection = new vscode.Selection(0, 0, 0, 0);
        return { text: editor.document.getText(), path: editor.document.uri.path };
      },
      id,
    );
    assert.equal(shown.text, both);
    await driven.run(({ vscode }) => vscode.commands.executeCommand('redline.preview.discardHunk'));
    const uri = { scheme: 'redline-preview', authority: id, path: shown.path };
    const proposal = (): Promise<{ text: string; isReadOnly: boolean }> =>
      driven.run(async ({ vscode }, parts) => {
        const file = vscode.Uri.from(parts);
        const { permissions = 0 } = await vscode.workspace.fs.stat(file);
        const bytes = await vscode.workspace.fs.readFile(file);
        return { text: Buffer.from(bytes).toString(), isReadOnly: permissions !== 0 };
      }, uri);
    assert.deepEqual(await proposal(), { text: half, isReadOnly: true });

    await driven.run(({ vscode }, id) => vscode.commands.executeCommand('redline.preview.edit', id), id);
    assert.deepEqual(await proposal(), { text: half, isReadOnly: false });

    const refused = await driven.run(async ({ api, vscode }, id) => {
      await vscode.commands.executeCommand('redline.preview.apply', id);
      return api.previews.get(id)?.state;
    }, created);
    assert.equal(refused, 'pending');
    assert.deepEqual(fs.readdirSync(other), []);
  },
);
