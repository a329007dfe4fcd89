import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INSTRUCTIONS } from '../../../../src/agent/clients/clientTools.ts';
import { connectedText, withoutParagraph } from '../../../../src/agent/clients/setUp/connectedText.ts';
import { SetUpRefusal } from '../../../../src/agent/clients/setUp/jsonConfig.ts';
import { bytesOfSide, sideOfBytes } from '../../../../src/agent/hold/preview/fileChange.ts';
import { sideToStore } from '../../../../src/agent/hold/preview/textFile.ts';
import { knownAgents, type KnownAgent } from '../../../../src/agent/clients/setUp/knownAgents.ts';

const BRIDGE = '/home/me/.config/Code Files/redline-mcp.cjs';
const WINDOWS = String.raw`C:\Users\Jo Doe\AppData\redline-mcp.cjs`;
const PARAGRAPH = `<!-- redline -->\n${INSTRUCTIONS}\n<!-- /redline -->\n`;

/** What one file of an agent holds once it is connected. */
function connected(id: KnownAgent['id'], name: string, text: string | null = null, bridge = BRIDGE) {
  const file = knownAgents.find(agent => agent.id === id)?.files.find(({ names }) => names.includes(name));
  return connectedText(file ?? assert.fail(name), name, text, bridge);
}
const parsed = async (...args: Parameters<typeof connected>): Promise<unknown> =>
  JSON.parse(await connected(...args));

test('what each agent gets in a project that has none of its files', async () => {
  const mcpServers = { redline: { command: 'node', args: [BRIDGE] } };
  assert.deepEqual(await parsed('claude', '.mcp.json'), { mcpServers });
  assert.deepEqual(await parsed('claude', '.claude/settings.local.json'), {
    permissions: {
      allow: ['mcp__redline'],
      deny: ['Edit', 'Write', 'NotebookEdit', 'Edit(**)'],
      disableBypassPermissionsMode: 'disable',
      disableAutoMode: 'disable',
    },
    enabledMcpjsonServers: ['redline'],
  });
  assert.equal(
    await connected('codex', '.codex/config.toml'),
    `sandbox_mode = "read-only"\n\n[mcp_servers.redline]\ncommand = "node"\nargs = ["${BRIDGE}"]\n`,
  );
  assert.equal(
    await connected('opencode', 'opencode.json'),
    `${JSON.stringify(
      {
        $schema: 'https://opencode.ai/config.json',
        mcp: { redline: { type: 'local', command: ['node', BRIDGE], enabled: true } },
        permission: { edit: 'deny', bash: 'deny' },
      },
      null,
      2,
    )}\n`,
  );
  for (const { id, files } of knownAgents)
    assert.equal(await connected(id, files.at(-1)?.names[0] ?? ''), PARAGRAPH, id);
});

test('a path of Windows', async () => {
  assert.match(await connected('codex', '.codex/config.toml', null, WINDOWS), /AppData\\\\redline-mcp\.cjs"/);
  assert.match(await connected('claude', '.mcp.json', null, WINDOWS), /AppData\\\\redline-mcp\.cjs"/);
});

test('connecting twice changes nothing the second time', async () => {
  for (const { id, files } of knownAgents)
    for (const { names } of files) {
      const name = names.at(-1) ?? '';
      const once = await connected(id, name);
      assert.equal(await connected(id, name, once), once, `${id} ${name}`);
    }
});

test('comments, order, indentation and line ends stay', async () => {
  assert.equal(
    await connected(
      'claude',
      '.mcp.json',
      '{\r\n\t// why\r\n\t"model": "x", /* here */\r\n\t"n": 1.50\r\n}\r\n',
    ),
    [
      '{',
      '\t// why',
      '\t"model": "x", /* here */',
      '\t"n": 1.50,',
      '\t"mcpServers": {',
      '\t\t"redline": {',
      '\t\t\t"command": "node",',
      '\t\t\t"args": [',
      `\t\t\t\t"${BRIDGE}"`,
      '\t\t\t]',
      '\t\t}',
      '\t}',
      '}',
      '',
    ].join('\r\n'),
  );
});

test('what is there already stays, and what contradicts is replaced', async () => {
  const settings =
    '{ "permissions": { "deny": ["Edit"], "allow": ["Bash(ls:*)"] }, "enabledMcpjsonServers": ["x"], "disabledMcpjsonServers": ["redline", "y"] }\n';
  assert.deepEqual(await parsed('claude', '.claude/settings.local.json', settings), {
    permissions: {
      deny: ['Edit', 'Write', 'NotebookEdit', 'Edit(**)'],
      allow: ['Bash(ls:*)', 'mcp__redline'],
      disableBypassPermissionsMode: 'disable',
      disableAutoMode: 'disable',
    },
    enabledMcpjsonServers: ['x', 'redline'],
    disabledMcpjsonServers: ['y'],
  });
  const servers =
    '{ "mcpServers": { "redline": { "httpUrl": "http://mine" }, "other": { "command": "x" } } }';
  assert.deepEqual(await parsed('claude', '.mcp.json', servers), {
    mcpServers: { redline: { command: 'node', args: [BRIDGE] }, other: { command: 'x' } },
  });
});

const GATE = "node '/home/me/.config/Code Files/redline-gate.cjs'";
const hook = {
  type: 'command',
  bash: `${GATE} || exit 2`,
  powershell: `${GATE}; if ($LASTEXITCODE -ne 0) { exit 2 }`,
  timeoutSec: 30,
};

test('hooks of others, and tools that the user allows in ours, stay when an agent is connected again', async () => {
  const other = { type: 'command', bash: './check.sh' };
  const name = '.github/hooks/redline.json';
  const hooksIn = async (preToolUse: unknown): Promise<unknown> =>
    parsed('vscode', name, JSON.stringify({ version: 1, hooks: { preToolUse, postToolUse: [other] } }));
  const withHooks = (...preToolUse: object[]) => ({
    version: 1,
    hooks: { preToolUse, postToolUse: [other] },
  });
  assert.deepEqual(await hooksIn([other]), withHooks(other, hook));
  assert.deepEqual(await hooksIn([other, hook, other]), withHooks(other, hook, other));
  // As docs/agents.md tells.
  const allowing = { ...hook, bash: `${GATE} github-get_issue || exit 2` };
  assert.deepEqual(await hooksIn([allowing, other]), withHooks(allowing, other));
  for (const broken of [
    { ...hook, bash: GATE },
    { type: 'command', bash: "node '/elsewhere/redline-gate.cjs' || exit 2" },
  ])
    assert.deepEqual(await hooksIn([broken, other]), withHooks(hook, other), JSON.stringify(broken));
});

test('a byte order mark and the line ends of a file stay', async () => {
  const before =
    sideOfBytes(Buffer.from('\ufeff{\r\n  // mine\r\n  "mcpServers": {}\r\n}\r\n')) ?? assert.fail();
  const text = await connected('claude', '.mcp.json', before.text);
  const stored = Buffer.from(bytesOfSide(sideToStore('.mcp.json', text, before.encoding))).toString();
  assert.match(stored, /^\ufeff\{\r\n {2}\/\/ mine\r\n {2}"mcpServers": \{\r\n {4}"redline": \{/);
  assert.doesNotMatch(stored, /(?<!\r)\n/);
  const again = sideOfBytes(Buffer.from(stored)) ?? assert.fail();
  assert.equal(await connected('claude', '.mcp.json', again.text), again.text);
});

test('of opencode’s rules the last one that matches counts', async () => {
  const rules = '{ "permission": { "edit": "ask", "bash": { "git *": "allow" }, "*": "allow" } }';
  const { permission } = (await parsed('opencode', 'opencode.json', rules)) as { permission: object };
  assert.deepEqual(Object.entries(permission), [
    ['*', 'allow'],
    ['edit', 'deny'],
    ['bash', 'deny'],
  ]);
});

test('the paragraph comes at the end, or where an older one is, and can be left out again', async () => {
  for (const text of ['Be brief.\n', 'Be brief.\r\nAlways.\r\n']) {
    const with_ = await connected('claude', 'CLAUDE.md', text);
    assert.ok(with_.startsWith(text) && with_.includes(INSTRUCTIONS));
    assert.equal(withoutParagraph(with_), text);
  }
  assert.equal(
    await connected('codex', 'AGENTS.md', '# A\n\n<!-- redline -->\nold\n<!-- /redline -->\n\n# B\n'),
    `# A\n\n${PARAGRAPH}\n# B\n`,
  );
});

test('TOML that has the lines already is left as it is, in whatever order they come', async () => {
  const own = `# mine\nmodel = "x"\nsandbox_mode = "read-only"\r\n\r\n[mcp_servers.redline]\r\nargs = ["${BRIDGE}"]\ncommand = "node"\n`;
  assert.equal(await connected('codex', '.codex/config.toml', own), own);
});

const refused = [
  ['claude', '.mcp.json', '{\n  "a": 1,\n  oops\n}\n', { line: 3, column: 3 }],
  ['claude', '.mcp.json', '[]', undefined],
  ['claude', '.mcp.json', '{"mcpServers":[]}', undefined],
  ['claude', '.claude/settings.local.json', '{"permissions":{},"permissions":{"deny":[]}}', undefined],
  ['claude', '.mcp.json', '['.repeat(100_000), undefined],
  ['opencode', 'opencode.json', '{ "permission": "ask" }', undefined],
  ['codex', '.codex/config.toml', 'model = "x"\n', undefined],
] as const;

test('a file that cannot be changed safely is refused with its name and the place', async () => {
  for (const [id, path, text, place] of refused)
    await assert.rejects(connected(id, path, text), (error: unknown) => {
      assert.ok(error instanceof SetUpRefusal, String(error));
      assert.deepEqual([error.file, error.place], [path, place], text);
      return true;
    });
});
