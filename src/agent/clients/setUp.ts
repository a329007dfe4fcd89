import { INSTRUCTIONS } from './clientTools.ts';

/** An agent that Redline tells how to connect. */
export interface KnownAgent {
  readonly id: 'claude' | 'codex' | 'gemini' | 'qwen' | 'opencode' | 'other';
  readonly name: string;
  /** How `redline-mcp` is made known to it: Markdown. */
  readonly connect: (bridge: string) => string;
  /** How its own edit tools are taken away, and what that does not cover: Markdown. */
  readonly restrict: string;
  /** The file for the paragraph of instructions. */
  readonly instructions: string;
  /** How the connection is removed again: Markdown. */
  readonly disconnect: string;
}

const code = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``;
const json = (value: unknown): string => code('json', JSON.stringify(value, null, 2));
const shell = (text: string): string => code('sh', text);

/** The agents, as their documentation describes them. */
export const knownAgents: readonly KnownAgent[] = [
  {
    id: 'claude',
    name: 'Claude Code',
    connect: bridge => shell(`claude mcp add --scope user redline -- node ${quoted(bridge)}`),
    restrict:
      'In `.claude/settings.local.json` of the project:\n\n' +
      json({ permissions: { deny: ['Edit', 'Write', 'MultiEdit', 'NotebookEdit'] } }) +
      '\n\nIts shell (`Bash`) still writes where it may; deny that too if you want to be sure.',
    instructions: 'CLAUDE.md',
    disconnect: shell('claude mcp remove --scope user redline'),
  },
  {
    id: 'codex',
    name: 'Codex',
    connect: bridge => shell(`codex mcp add redline -- node ${quoted(bridge)}`),
    restrict:
      'Start it with a sandbox in which nothing can be written, its shell included:\n\n' +
      shell('codex --sandbox read-only') +
      '\n\nDo not approve what asks to run outside the sandbox.',
    instructions: 'AGENTS.md',
    disconnect: shell('codex mcp remove redline'),
  },
  {
    id: 'gemini',
    name: 'Gemini CLI',
    connect: bridge => shell(`gemini mcp add --scope user redline node ${quoted(bridge)}`),
    restrict:
      'Save this as `redline-policy.toml`, and start it with `gemini --policy redline-policy.toml`:\n\n' +
      code(
        'toml',
        '[[rule]]\ntoolName = ["write_file", "replace"]\ndecision = "deny"\npriority = 500\n\n' +
          '[[rule]]\nmcpName = "redline"\ntoolName = "*"\ndecision = "allow"\npriority = 500',
      ) +
      '\n\nIts shell (`run_shell_command`) still writes where it may; add it to the first rule if you want to be sure.',
    instructions: 'GEMINI.md',
    disconnect: shell('gemini mcp remove --scope user redline'),
  },
  {
    id: 'qwen',
    name: 'Qwen Code',
    connect: bridge => shell(`qwen mcp add --scope user redline node ${quoted(bridge)}`),
    restrict:
      'In its default mode it asks before each edit of its own: decline, and ask it to use Redline. Its shell writes where ' +
      'you let it.',
    instructions: 'QWEN.md',
    disconnect: shell('qwen mcp remove --scope user redline'),
  },
  {
    id: 'opencode',
    name: 'opencode',
    connect: bridge =>
      `In \`opencode.json\` of the project, or in \`~/.config/opencode/opencode.json\`:\n\n${json({
        mcp: { redline: { type: 'local', command: ['node', bridge], enabled: true } },
      })}`,
    restrict:
      'In the same file:\n\n' +
      json({ permission: { edit: 'deny', bash: 'deny' } }) +
      '\n\nWithout `bash`, it would write with the shell what it may not edit.',
    instructions: 'AGENTS.md',
    disconnect: 'Remove these entries from the file.',
  },
  {
    id: 'other',
    name: 'Any MCP client',
    connect: bridge =>
      `Most clients take an entry like this; the program speaks MCP over standard input and output:\n\n${json(
        {
          mcpServers: { redline: { command: 'node', args: [bridge] } },
        },
      )}`,
    restrict: 'Take its own edit tools and its shell away, if it can do without them.',
    instructions: 'AGENTS.md',
    disconnect: 'Remove the entry.',
  },
];

/** What a person does to connect an agent, as a Markdown document. */
export function setUpText(agent: KnownAgent, bridge: string): string {
  const { name, connect, restrict, instructions, disconnect } = agent;
  return `# Connect ${name}

Windows of VS Code now let agents on this machine propose changes (setting \`redline.agents.enabled\`). ${name} needs Node 20 or
newer on its path, and is to be started in a folder that a window has open.

## 1. Make Redline known to it

${connect(bridge)}

## 2. Take its own edit tools away

${restrict}

## 3. Tell it

Add this paragraph to \`${instructions}\` of the project:

> ${INSTRUCTIONS}

## Disconnect

${disconnect}

Then undo steps 2 and 3. *Redline: Disconnect Agents* ends all connections to VS Code.
`;
}

/** A path as an argument in a shell of Linux, macOS or Windows. */
function quoted(path: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(path) ? path : `"${path}"`;
}
