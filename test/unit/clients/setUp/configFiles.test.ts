import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse as parseToml } from 'smol-toml';
import { INSTRUCTIONS } from '../../../../src/agent/clients/clientTools.ts';
import { recordAfter, restrictsUnknown } from '../../../../src/agent/clients/setUp/configFiles.ts';
import { configFileNamed, knownAgents } from '../../../../src/agent/clients/setUp/knownAgents.ts';
import { SetUpRefusal } from '../../../../src/agent/clients/setUp/refusal.ts';
import { AgentFolder } from '../../../support/agentFolder.ts';

const BRIDGE = '/home/me/.config/Code Files/redline-mcp.cjs';
const WINDOWS = String.raw`C:\Users\Jo Doe\AppData\redline-mcp.cjs`;
const PARAGRAPH = `<!-- redline -->\n${INSTRUCTIONS}\n<!-- /redline -->\n`;

const json = (folder: AgentFolder, path: string): unknown => JSON.parse(folder.texts.get(path) ?? '');

test('what each agent gets in a project that has none of its files', async () => {
  const folder = new AgentFolder();
  for (const { id } of knownAgents) await folder.connect(id, BRIDGE);
  const mcpServers = { redline: { command: 'node', args: [BRIDGE] } };
  assert.deepEqual(json(folder, '.mcp.json'), { mcpServers });
  assert.deepEqual(json(folder, '.claude/settings.local.json'), {
    permissions: { deny: ['Edit', 'Write', 'NotebookEdit'] },
    enabledMcpjsonServers: ['redline'],
  });
  assert.equal(
    folder.texts.get('.codex/config.toml'),
    `sandbox_mode = "read-only"\n\n[mcp_servers.redline]\ncommand = "node"\nargs = [ "${BRIDGE}" ]\n`,
  );
  assert.deepEqual(json(folder, '.gemini/settings.json'), {
    mcpServers,
    tools: { exclude: ['write_file', 'replace'] },
  });
  assert.deepEqual(json(folder, '.qwen/settings.json'), {
    mcpServers,
    permissions: { deny: ['Edit', 'Write'] },
  });
  assert.equal(
    folder.texts.get('opencode.json'),
    `${JSON.stringify(
      {
        mcp: { redline: { type: 'local', command: ['node', BRIDGE], enabled: true } },
        permission: { edit: 'deny', bash: 'deny' },
      },
      null,
      2,
    )}\n`,
  );
  for (const name of ['CLAUDE.md', 'AGENTS.md', 'GEMINI.md', 'QWEN.md'])
    assert.equal(folder.texts.get(name), PARAGRAPH, name);
  assert.equal(folder.texts.size, 10);
});

test('a path of Windows', async () => {
  const folder = new AgentFolder();
  await folder.connect('codex', WINDOWS);
  await folder.connect('gemini', WINDOWS);
  const toml = parseToml(folder.texts.get('.codex/config.toml') ?? '');
  assert.deepEqual(JSON.parse(JSON.stringify(toml['mcp_servers'])), {
    redline: { command: 'node', args: [WINDOWS] },
  });
  assert.match(JSON.stringify(json(folder, '.gemini/settings.json')), /AppData\\\\redline-mcp\.cjs/);
});

test('connecting twice changes nothing the second time', async () => {
  for (const { id } of knownAgents) {
    const folder = new AgentFolder();
    await folder.connect(id, BRIDGE);
    const once = new Map(folder.texts);
    await folder.connect(id, BRIDGE);
    assert.deepEqual(folder.texts, once, id);
  }
});

/** Files that people have, by the name of the file. */
const jsonStarts = [
  '',
  '{}',
  '{}\n',
  '{\n}\n',
  ' \n',
  '{ "theme": "dark" }',
  '{"a":1,"b":[1,2,{"c":null}]}',
  '// mine\n{\n  // why\n  "model": "x", // because\n  "list": [\n    1,\n    2,\n  ],\n}\n',
  '{\n\t"model": "x",\n\t"nested": {\n\t\t"deep": [true]\n\t}\n}',
  '{\r\n    "model": "x",\r\n    "n": 1.50\r\n}\r\n',
  '{\r\n  "model": "x",\n  "mixed": true\r\n}',
  '{"mcpServers":{"other":{"command":"x","args":[]}},"mcp":{"other":{"type":"remote","url":"http://x"}}}\n',
  '{\n  "mcpServers": {\n    "redline": { "command": "node", "args": ["/old/redline-mcp.cjs"] }\n  },\n  "tail": 1\n}\n',
  '{\n  "mcpServers": { "redline": { "httpUrl": "http://mine" } },\n  "mcp": { "redline": { "type": "remote", "url": "http://mine" } }\n}\n',
  '{ "permissions": { "deny": ["Edit"], "allow": ["Bash(ls:*)"] }, "enabledMcpjsonServers": ["x"], "disabledMcpjsonServers": ["redline", "y"] }\n',
  '{ "permissions": { "deny": [] }, "enabledMcpjsonServers": [], "tools": { "exclude": ["replace", "x"] } }',
  '{ "permission": "ask" }\n',
  '{\n  "permission": { "edit": "ask", "bash": { "git *": "allow", "*": "ask" }, "*": "allow" }\n}\n',
];
const tomlStarts = [
  '',
  '\n',
  '# only a comment\n',
  'model = "x"',
  'model = "x"\n',
  'model = "x"\r\napproval_policy = "never"\r\n\r\n[tools]\r\nweb = true\r\n',
  '# about\n\n# of the table\n[tools]\nweb = true',
  '[mcp_servers.other]\ncommand = "x" # why\n',
  'sandbox_mode = "workspace-write" # mine\n\n[mcp_servers.other]\ncommand = "x"\n',
  "'sandbox_mode'='danger-full-access'\nnumbers = [\n  [1, 2],\n  [3],\n]\n[a.b]\nc = 1979-05-27T07:32:00Z\n",
  'text = """\nsandbox_mode = "x"\n[mcp_servers.redline]\n"""\nbig = 9223372036854775807\n',
  '[mcp_servers.redline]\ncommand = "node"\nargs = ["/old/redline-mcp.cjs"]\n\n[mcp_servers.redline.env]\nA = "1"\n\n# next\n[z]\n',
  '[mcp_servers . "redline"]\nurl = "http://mine"\n# about it\n',
];
const textStarts = [
  '',
  '\n',
  'Be brief.',
  'Be brief.\n',
  'Be brief.\r\nAlways.\r\n',
  '\r\n\r\nx\r\n\r\n',
  'a\rb\r',
];

function startsOf(name: string): readonly string[] {
  if (name.endsWith('.md')) return textStarts;
  return name.endsWith('.toml') ? tomlStarts : jsonStarts;
}

for (const { id, files } of knownAgents)
  test(`disconnecting ${id} gives back every file as it was, byte for byte`, async () => {
    const names = files.map(file => file.names.at(-1) ?? '');
    const rounds = Math.max(...names.map(name => startsOf(name).length));
    for (let round = 0; round < rounds; round++) {
      const start = Object.fromEntries(names.map(name => [name, startsOf(name)[round] ?? '']));
      const folder = new AgentFolder(start);
      await folder.connect(id, BRIDGE);
      assert.notDeepEqual(Object.fromEntries(folder.texts), start);
      await folder.connect(id, WINDOWS); // Redline has moved
      await folder.disconnect(id);
      assert.deepEqual(Object.fromEntries(folder.texts), start);
    }
    const fresh = new AgentFolder();
    await fresh.connect(id, BRIDGE);
    await fresh.disconnect(id);
    assert.equal(fresh.texts.size, 0);
  });

test('comments, order, indentation and line ends stay', async () => {
  const folder = new AgentFolder({
    '.gemini/settings.json': '{\r\n\t// why\r\n\t"model": "x", /* here */\r\n\t"n": 1.50\r\n}\r\n',
  });
  await folder.connect('gemini', BRIDGE);
  assert.equal(
    folder.texts.get('.gemini/settings.json'),
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
      '\t},',
      '\t"tools": {',
      '\t\t"exclude": [',
      '\t\t\t"write_file",',
      '\t\t\t"replace"',
      '\t\t]',
      '\t}',
      '}',
      '',
    ].join('\r\n'),
  );
});

test('a key of TOML goes above the first table, a table to the end', async () => {
  const folder = new AgentFolder({
    '.codex/config.toml': '# mine\nmodel = "x"\n\n# of the table\n[tools]\nweb = true\n',
  });
  await folder.connect('codex', BRIDGE);
  assert.equal(
    folder.texts.get('.codex/config.toml'),
    '# mine\nmodel = "x"\nsandbox_mode = "read-only"\n\n# of the table\n[tools]\nweb = true\n\n' +
      `[mcp_servers.redline]\ncommand = "node"\nargs = [ "${BRIDGE}" ]\n`,
  );
});

test('what contradicts is replaced, and comes back after the file was changed elsewhere', async () => {
  const folder = new AgentFolder({
    'opencode.json': '{\n  "permission": {\n    "edit": "ask",\n    "*": "allow"\n  },\n  "theme": "x"\n}\n',
    '.codex/config.toml': 'sandbox_mode = "workspace-write" # mine\n',
  });
  await folder.connect('opencode', BRIDGE);
  const { permission } = json(folder, 'opencode.json') as { permission: Record<string, string> };
  // The last rule that matches counts.
  assert.deepEqual(Object.entries(permission), [
    ['*', 'allow'],
    ['edit', 'deny'],
    ['bash', 'deny'],
  ]);
  folder.texts.set('opencode.json', (folder.texts.get('opencode.json') ?? '').replace('"x"', '"y"'));
  await folder.disconnect('opencode');
  assert.deepEqual(json(folder, 'opencode.json'), { permission: { '*': 'allow', edit: 'ask' }, theme: 'y' });

  await folder.connect('codex', BRIDGE);
  assert.match(folder.texts.get('.codex/config.toml') ?? '', /^sandbox_mode = "read-only" # mine\n/);
  folder.texts.set('.codex/config.toml', `${folder.texts.get('.codex/config.toml') ?? ''}\n[more]\nx = 1\n`);
  await folder.disconnect('codex');
  assert.equal(
    folder.texts.get('.codex/config.toml'),
    'sandbox_mode = "workspace-write" # mine\n\n[more]\nx = 1\n',
  );
});

test('after other changes of the files, only what Redline added goes', async () => {
  const own = '{\n  "permissions": {\n    "deny": [\n      "Edit"\n    ]\n  }\n}\n';
  const folder = new AgentFolder({ '.claude/settings.local.json': own });
  await folder.connect('claude', BRIDGE);
  const text = folder.texts.get('.claude/settings.local.json') ?? '';
  folder.texts.set('.claude/settings.local.json', text.replace('"Edit",', '"Edit",\n      "Bash(rm:*)",'));
  folder.texts.set(
    '.mcp.json',
    (folder.texts.get('.mcp.json') ?? '').replace('"redline"', '"x": {}, "redline"'),
  );
  folder.texts.set('CLAUDE.md', `# Mine\n\n${PARAGRAPH}\nMore.\n`);
  await folder.disconnect('claude');
  assert.deepEqual(json(folder, '.claude/settings.local.json'), {
    permissions: { deny: ['Edit', 'Bash(rm:*)'] },
  });
  assert.deepEqual(json(folder, '.mcp.json'), { mcpServers: { x: {} } });
  assert.equal(folder.texts.get('CLAUDE.md'), '# Mine\n\nMore.\n');
});

test('objects and lists that Redline made go once they are empty, those of the user stay', async () => {
  const folder = new AgentFolder({ '.gemini/settings.json': '{\n  "mcpServers": {}\n}\n' });
  await folder.connect('gemini', BRIDGE);
  folder.texts.set('.gemini/settings.json', `${folder.texts.get('.gemini/settings.json') ?? ''}\n`);
  await folder.disconnect('gemini');
  assert.deepEqual(json(folder, '.gemini/settings.json'), { mcpServers: {} });
});

test('without a record, what may be the user’s own stays', async () => {
  const folder = new AgentFolder();
  await folder.connect('claude', BRIDGE);
  folder.forget();
  await folder.disconnect('claude');
  assert.deepEqual(json(folder, '.mcp.json'), { mcpServers: {} });
  assert.deepEqual(json(folder, '.claude/settings.local.json'), {
    permissions: { deny: ['Edit', 'Write', 'NotebookEdit'] },
    enabledMcpjsonServers: [],
  });
});

test('it is known whether someone else may have taken the edit tools away', async () => {
  const settings = configFileNamed('.claude/settings.local.json') ?? assert.fail('known');
  const own = '{ "disabledMcpjsonServers": ["x"], "enabledMcpjsonServers": ["redline"] }';
  assert.equal(await restrictsUnknown(settings, own, undefined), false);
  const denied = '{ "permissions": { "deny": ["Edit"] } }';
  assert.equal(await restrictsUnknown(settings, denied, undefined), true);
  assert.equal(
    await restrictsUnknown(settings, denied, await recordAfter(settings, undefined, '{}', denied)),
    false,
  );
});

test('a file that was applied in parts goes back to its beginning', async () => {
  const start = '{\n  "model": "x"\n}\n';
  const folder = new AgentFolder({ '.gemini/settings.json': start });
  const whole = new AgentFolder({ '.gemini/settings.json': start });
  await whole.connect('gemini', BRIDGE);
  const text = whole.texts.get('.gemini/settings.json') ?? '';
  const half = text.slice(0, text.indexOf(',\n  "tools"')) + '\n}\n';
  await folder.apply('.gemini/settings.json', half);
  await folder.apply('.gemini/settings.json', text);
  await folder.disconnect('gemini');
  assert.equal(folder.texts.get('.gemini/settings.json'), start);
});

test('what the user typed into the proposal stays', async () => {
  const folder = new AgentFolder({ '.qwen/settings.json': '{}\n' });
  const whole = new AgentFolder({ '.qwen/settings.json': '{}\n' });
  await whole.connect('qwen', BRIDGE);
  const text = whole.texts.get('.qwen/settings.json') ?? '';
  await folder.apply('.qwen/settings.json', text.replace('{', '{\n  "mine": true,'), false);
  await folder.disconnect('qwen');
  assert.deepEqual(json(folder, '.qwen/settings.json'), { mine: true });
});

test('the paragraph stays until the last agent that reads the file is disconnected', async () => {
  for (const start of [{}, { 'AGENTS.md': 'Be brief.\n' }]) {
    const folder = new AgentFolder(start);
    await folder.connect('codex', BRIDGE);
    await folder.connect('opencode', BRIDGE);
    assert.equal((folder.texts.get('AGENTS.md') ?? '').split(INSTRUCTIONS).length, 2);
    await folder.disconnect('codex');
    assert.deepEqual([...folder.texts.keys()].sort(), ['AGENTS.md', 'opencode.json']);
    await folder.disconnect('opencode');
    assert.deepEqual(Object.fromEntries(folder.texts), start);
  }
});

test('an older paragraph is replaced where it is', async () => {
  const folder = new AgentFolder({ 'QWEN.md': '# A\n\n<!-- redline -->\nold\n<!-- /redline -->\n\n# B\n' });
  await folder.connect('qwen', BRIDGE);
  assert.equal(folder.texts.get('QWEN.md'), `# A\n\n${PARAGRAPH}\n# B\n`);
});

test('opencode.jsonc is used if it is there', async () => {
  const folder = new AgentFolder({ 'opencode.jsonc': '// mine\n{}\n' });
  await folder.connect('opencode', BRIDGE);
  assert.deepEqual([...folder.texts.keys()], ['opencode.jsonc', 'AGENTS.md']);
  assert.match(folder.texts.get('opencode.jsonc') ?? '', /^\/\/ mine\n/);
});

const refused = [
  ['gemini', '.gemini/settings.json', '{\n  "a": 1,\n  oops\n}\n', { kind: 'invalid', line: 3, column: 3 }],
  ['gemini', '.gemini/settings.json', '[]', { kind: 'shape', keys: [], wants: 'object' }],
  [
    'gemini',
    '.gemini/settings.json',
    '{"mcpServers":[]}',
    { kind: 'shape', keys: ['mcpServers'], wants: 'object' },
  ],
  [
    'gemini',
    '.gemini/settings.json',
    '{"tools":{"exclude":"x"}}',
    { kind: 'shape', keys: ['tools', 'exclude'], wants: 'list' },
  ],
  ['gemini', '.gemini/settings.json', '{"tools":{},"tools":{"exclude":[]}}', { kind: 'unusual' }],
  ['gemini', '.gemini/settings.json', `${'['.repeat(100_000)}`, { kind: 'unusual' }],
  ['gemini', '.gemini/settings.json', `"${' '.repeat(600_000)}"`, { kind: 'tooLarge' }],
  ['codex', '.codex/config.toml', 'a = 1\nb = \n', { kind: 'invalid', line: 2, column: 5 }],
  ['codex', '.codex/config.toml', 'mcp_servers = { other = { command = "x" } }\n', { kind: 'unusual' }],
  [
    'codex',
    '.codex/config.toml',
    'mcp_servers = 1\n',
    { kind: 'shape', keys: ['mcp_servers'], wants: 'object' },
  ],
  ['codex', 'AGENTS.md', 'a\n<!-- redline -->\n', { kind: 'openParagraph', line: 2 }],
] as const;

test('a file that cannot be changed safely is refused with its name and the place', async () => {
  for (const [id, path, text, reason] of refused) {
    const folder = new AgentFolder({ [path]: text });
    await assert.rejects(folder.connect(id, BRIDGE), (error: unknown) => {
      assert.ok(error instanceof SetUpRefusal, String(error));
      assert.deepEqual([error.file, error.reason], [path, reason]);
      return true;
    });
    assert.equal(folder.texts.get(path), text);
  }
});
