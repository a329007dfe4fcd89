import * as assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { limitMs, polled } from '../../../scripts/lib/limits.mjs';
import type { PreviewInfo, RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, cleanUp, fileInWorkspace, setting } from '../support/redline.ts';

/** The exports of the extension in `test/host/fixtures/toolVendor`. */
interface ToolVendor {
  inputs: object[];
  answer: (input: { text: string }, token: vscode.CancellationToken) => Promise<unknown[]>;
  remove(): void;
  add(): void;
}

/** A part with an image. The types are of a version of VS Code that had none yet. */
function imagePart(bytes: Uint8Array, mimeType: string): unknown {
  const { LanguageModelDataPart } = vscode as unknown as {
    LanguageModelDataPart: { image(bytes: Uint8Array, mimeType: string): unknown };
  };
  return LanguageModelDataPart.image(bytes, mimeType);
}

suite('tools of VS Code', () => {
  let api: RedlineApi;
  let vendor: ToolVendor;

  suiteSetup(async () => {
    api = await activateRedline();
    const extension = vscode.extensions.getExtension<ToolVendor>('redline-test.tool-vendor');
    vendor = await (extension ?? assert.fail('installed')).activate();
  });

  setup(() => {
    vendor.inputs = [];
    vendor.answer = async ({ text }) => [new vscode.LanguageModelTextPart(text)];
  });

  teardown(() => cleanUp(api));

  const call = (name: string, args: object): Promise<void> =>
    api.session.prompt(`/call ${name} ${JSON.stringify(args)}`);
  const head = (): PreviewInfo => api.previews.peek() ?? assert.fail('nothing is pending');
  const apply = ({ id }: PreviewInfo): Thenable<unknown> =>
    vscode.commands.executeCommand('redline.preview.apply', id);
  const outcome = ({ id }: PreviewInfo) =>
    api.previews.ledger().findLast(({ previewId }) => previewId === id) ?? assert.fail('not resolved');
  const lastResult = (): string => {
    const result = api.session.messages().findLast(message => message.role === 'tool');
    return result?.role === 'tool' ? result.content : assert.fail('a tool was called');
  };
  async function shown({ id }: PreviewInfo): Promise<string> {
    await vscode.commands.executeCommand('redline.preview.open', id);
    const document = vscode.workspace.textDocuments.find(
      ({ uri }) => uri.scheme === 'redline-preview' && uri.authority === id && uri.query === '',
    );
    return document?.getText() ?? '';
  }

  test('none is offered unless the setting names it, and never Redline’s own', async () => {
    await call('vendor_echo', { text: 'hi' });
    assert.match(lastResult(), /^There is no tool named vendor_echo\./);
    await setting('tools.fromVsCode', { '*': 'ask' });
    assert.ok(vscode.lm.tools.some(({ name }) => name === 'redline_propose_edit'));
    await call('redline_propose_edit', { path: 'a.ts', edits: [] });
    assert.match(lastResult(), /^There is no tool named redline_propose_edit\. .*vendor_echo/);
  });

  test('a call is held back with all that it is made with, and its answer is told after Apply', async () => {
    await setting('tools.fromVsCode', { 'vendor_*': 'ask' });
    await setting('resolve.modelAuthority', 'apply');
    const text = 'a\x1b[2K\u202eb';
    await call('vendor_echo', { text });
    const preview = head();
    assert.deepEqual(vendor.inputs, []);
    const document = await shown(preview);
    for (const part of [
      'Tool: vendor_echo',
      'From: the extension Tool Vendor (redline-test.tool-vendor)',
      '"text": "a\\u001b[2K\\u202eb"',
      'are shown as escapes',
      '120 seconds',
    ])
      assert.ok(document.includes(part), `${part} in ${document}`);
    await apply(preview);
    assert.deepEqual(vendor.inputs, [{ text }]);
    const { outcome: how, message } = outcome(preview);
    assert.deepEqual([how, message], ['applied', `\`\`\`\n${text}\n\`\`\``]);
  });

  test('a tool that the user says only reads is called at once; an image in its answer is named', async () => {
    await setting('tools.fromVsCode', { vendor_echo: 'readOnly' });
    vendor.answer = async () => [
      new vscode.LanguageModelTextPart('seen'),
      imagePart(Uint8Array.of(1, 2, 3), 'image/png'),
    ];
    await call('vendor_echo', { text: 'look' });
    assert.deepEqual(vendor.inputs, [{ text: 'look' }]);
    assert.equal(lastResult(), '```\nseen\n[3 bytes of image/png, which is not shown]\n```');
    assert.deepEqual(api.previews.list(), []);
  });

  test('a tool that throws has failed, and its message is told', async () => {
    await setting('tools.fromVsCode', { vendor_echo: 'ask' });
    vendor.answer = () => Promise.reject(new Error('no luck'));
    await call('vendor_echo', { text: 'throw' });
    const thrown = head();
    await apply(thrown);
    assert.match(outcome(thrown).message ?? '', /: The tool failed:\n```\nno luck\n```$/);
    assert.equal(outcome(thrown).outcome, 'failed');
  });

  test('a tool that hangs is cancelled at the time limit, and that is told', async () => {
    await setting('tools.fromVsCode', { vendor_echo: 'ask' });
    const cancelled = new Promise<void>(resolve => {
      vendor.answer = (_input, token) => {
        token.onCancellationRequested(() => resolve());
        return new Promise(() => undefined);
      };
    });
    await setting('runCommand.timeLimit', 1);
    await call('vendor_echo', { text: 'hang' });
    const hanging = head();
    await apply(hanging);
    assert.match(outcome(hanging).message ?? '', /: The tool did not answer within 1 second, so/);
    await cancelled;
  });

  test('of a tool with 10 MB the beginning is told', async () => {
    await setting('tools.fromVsCode', { vendor_echo: 'ask' });
    await setting('runCommand.timeLimit', Math.ceil(limitMs(60_000) / 1_000));
    vendor.answer = async () => [new vscode.LanguageModelTextPart('x'.repeat(10_000_000))];
    await call('vendor_echo', { text: 'large' });
    const large = head();
    await apply(large);
    const { message = '' } = outcome(large);
    assert.match(message, /^```\nx+\n```\n\[Cut off: 9970000 more characters\.\]$/);
  });

  test('a tool whose extension takes it back is told so', async () => {
    await setting('tools.fromVsCode', { vendor_echo: 'ask' });
    await call('vendor_echo', { text: 'later' });
    const preview = head();
    vendor.remove();
    try {
      await apply(preview);
      assert.match(
        outcome(preview).message ?? '',
        /The tool failed:\n```\nTool vendor_echo does not have an implementation registered\./,
      );
    } finally {
      vendor.add();
    }
  });

  test('the tools of an MCP server of the workspace: none is taken to be read-only by itself', async () => {
    const folder = fileInWorkspace('.vscode');
    const journal = fileInWorkspace('journal.txt');
    const repo = process.env['REDLINE_REPO'] ?? assert.fail();
    const script = path.join(repo, 'test/host/fixtures/mcpServer/server.cjs');
    const little = {
      type: 'stdio',
      command: process.execPath,
      args: [script, journal],
      env: { ELECTRON_RUN_AS_NODE: '1' },
    };
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'mcp.json'), JSON.stringify({ servers: { little } }));
    try {
      const names = await mcpTools();
      assert.deepEqual(
        names.filter(name => name.startsWith('mcp_little_')),
        ['mcp_little_change', 'mcp_little_look'],
      );
      assert.ok(names.includes('mcp_redline_propose_edit'), names.join());
      await setting('tools.fromVsCode', { 'mcp_*': 'ask' });
      await call('mcp_redline_propose_edit', { path: 'a.txt', content: 'x' });
      assert.match(lastResult(), /There is no tool named mcp_redline_propose_edit/);
      await call('mcp_little_look', { text: 'one' });
      const look = head();
      assert.ok((await shown(look)).includes('From: an MCP server.'));
      assert.equal(existsSync(journal), false, 'the server was not called');
      await apply(look);
      assert.equal(outcome(look).message, '```\nlook: one\n```');
      await setting('tools.fromVsCode', { 'mcp_*': 'ask', mcp_little_look: 'readOnly' });
      await call('mcp_little_look', { text: 'two' });
      assert.equal(lastResult(), '```\nlook: two\n```');
      await call('mcp_little_change', { text: 'three' });
      await apply(head());
      assert.equal(await readFile(journal, 'utf8'), 'look one\nlook two\nchange three\n');
    } finally {
      await vscode.commands.executeCommand('workbench.mcp.stopServer', '*');
      await rm(folder, { recursive: true });
      await rm(journal, { force: true });
    }
  });

  /** The names of the tools of MCP servers, once both servers have told theirs. VS Code has no event for that. */
  async function mcpTools(): Promise<string[]> {
    return polled('the tools of both servers', async () => {
      await vscode.commands.executeCommand('workbench.mcp.startServer', '*', {
        autoTrustChanges: true,
        waitForLiveTools: true,
      });
      const names = vscode.lm.tools.filter(({ tags }) => tags.includes('mcp')).map(({ name }) => name);
      const isThere = (server: string): boolean => names.some(name => name.startsWith(server));
      return isThere('mcp_little_') && isThere('mcp_redline_') && names.sort();
    });
  }
});
