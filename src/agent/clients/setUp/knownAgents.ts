import type { ConfigEntry, WrittenValue } from './entries.ts';

/** A file in the folder of a project that an agent reads. */
export interface ConfigFile {
  /** Relative to the folder. The first one that exists counts, else the last. */
  readonly names: readonly string[];
  readonly format: 'json' | 'toml' | 'paragraph';
  /**
   * What it must hold; nothing for a file with the paragraph of instructions.
   * @param bridge the absolute path of `redline-mcp`.
   */
  readonly entries: (bridge: string) => readonly ConfigEntry[];
}

/** An agent that Redline can connect. */
export interface KnownAgent {
  readonly id: 'claude' | 'codex' | 'gemini' | 'qwen' | 'opencode';
  readonly name: string;
  /** The command that starts it. */
  readonly program: string;
  /** What it may ask before it uses the configuration of a project: about its MCP servers, or about the folder. */
  readonly asksAbout: 'server' | 'folder' | 'nothing';
  readonly files: readonly ConfigFile[];
}

/** The name of Redline's server in every configuration. */
const SERVER = 'redline';

const inList = (path: readonly string[], ...members: readonly string[]): readonly ConfigEntry[] =>
  members.map(member => ({ kind: 'member', path, member }));

const rule = (...path: readonly string[]): ConfigEntry => ({
  kind: 'value',
  path,
  value: 'deny',
  isRule: true,
});

/** The entry of Redline's server; the keys by which an entry means another program or none are those of all agents. */
function server(section: string, value: WrittenValue): ConfigEntry {
  const contradictedBy = ['url', 'httpUrl', 'tcp', 'disabled', 'enabled'];
  const own = Object.keys(value);
  return {
    kind: 'value',
    path: [section, SERVER],
    value,
    contradictedBy: contradictedBy.filter(key => !own.includes(key)),
  };
}

const withArguments = (section: string, bridge: string): ConfigEntry =>
  server(section, { command: 'node', args: [bridge] });

function instructions(name: string): ConfigFile {
  return { names: [name], format: 'paragraph', entries: () => [] };
}

/** The agents, with the names of files and keys that their documentation gives (November 2026). */
export const knownAgents: readonly KnownAgent[] = [
  {
    id: 'claude',
    name: 'Claude Code',
    program: 'claude',
    asksAbout: 'server',
    files: [
      {
        names: ['.mcp.json'],
        format: 'json',
        entries: bridge => [withArguments('mcpServers', bridge)],
      },
      {
        names: ['.claude/settings.local.json'],
        format: 'json',
        entries: () => [
          ...inList(['permissions', 'deny'], 'Edit', 'Write', 'NotebookEdit'),
          ...inList(['enabledMcpjsonServers'], SERVER),
          { kind: 'notMember', path: ['disabledMcpjsonServers'], member: SERVER },
        ],
      },
      instructions('CLAUDE.md'),
    ],
  },
  {
    id: 'codex',
    name: 'Codex',
    program: 'codex',
    asksAbout: 'folder',
    files: [
      {
        names: ['.codex/config.toml'],
        format: 'toml',
        entries: bridge => [
          { kind: 'value', path: ['sandbox_mode'], value: 'read-only' },
          withArguments('mcp_servers', bridge),
        ],
      },
      instructions('AGENTS.md'),
    ],
  },
  {
    id: 'gemini',
    name: 'Gemini CLI',
    program: 'gemini',
    asksAbout: 'folder',
    files: [
      {
        names: ['.gemini/settings.json'],
        format: 'json',
        entries: bridge => [
          withArguments('mcpServers', bridge),
          ...inList(['tools', 'exclude'], 'write_file', 'replace'),
        ],
      },
      instructions('GEMINI.md'),
    ],
  },
  {
    id: 'qwen',
    name: 'Qwen Code',
    program: 'qwen',
    asksAbout: 'folder',
    files: [
      {
        names: ['.qwen/settings.json'],
        format: 'json',
        entries: bridge => [
          withArguments('mcpServers', bridge),
          ...inList(['permissions', 'deny'], 'Edit', 'Write'),
        ],
      },
      instructions('QWEN.md'),
    ],
  },
  {
    id: 'opencode',
    name: 'opencode',
    program: 'opencode',
    asksAbout: 'nothing',
    files: [
      {
        names: ['opencode.jsonc', 'opencode.json'],
        format: 'json',
        entries: bridge => [
          server('mcp', { type: 'local', command: ['node', bridge], enabled: true }),
          rule('permission', 'edit'),
          rule('permission', 'bash'),
        ],
      },
      instructions('AGENTS.md'),
    ],
  },
];

/** The agent whose entry for Redline's server is in a file of this name. Names are compared without regard to case. */
export function agentWithServerIn(name: string): KnownAgent | undefined {
  return knownAgents.find(({ files }) => files.some(file => serverOf(file) && isNamed(file, name)));
}

/** The entry of Redline's server in a file, if it is there that the agent looks for it. */
export function serverOf(file: ConfigFile): ConfigEntry | undefined {
  return file.entries('').find(entry => entry.kind === 'value' && entry.contradictedBy);
}

/** The file of some agent that has this name, relative to the folder. */
export function configFileNamed(name: string): ConfigFile | undefined {
  return knownAgents.flatMap(({ files }) => files).find(file => isNamed(file, name));
}

export function isNamed({ names }: ConfigFile, name: string): boolean {
  return names.some(each => each.toLowerCase() === name.toLowerCase());
}
