import { readFile } from 'node:fs/promises';
import * as path from 'node:path';
import { isRecord } from '../../base/json.ts';
import type { Sentence } from '../../base/localiser.ts';
import type { ConfigEntry } from './jsonConfig.ts';

/** A file in the folder of a project that an agent reads. */
export type ConfigFile = {
  /** Relative to the folder. The first one that exists counts, else the last. */
  readonly names: readonly string[];
} & (
  | {
      readonly format: 'json';
      /** @param bridge the absolute path of `redline-mcp`. */
      readonly entries: (bridge: string) => readonly ConfigEntry[];
    }
  /** Redline writes a new file, and leaves one that exists to the user. */
  | { readonly format: 'whole'; readonly text: (bridge: string) => string }
  /** Markdown, which gets a paragraph of instructions. */
  | { readonly format: 'paragraph' }
);

/** An agent whose own tools Redline can hold. Every other agent's own tools still write. */
export interface KnownAgent {
  readonly id: 'claude' | 'codex' | 'opencode' | 'vscode';
  readonly name: string;
  /** A sentence on the writes that its shell can still make once connected; docs/agents.md has the same words. */
  readonly shell: Sentence;
  readonly files: readonly ConfigFile[];
}

const members = (path: readonly string[], ...all: readonly string[]): readonly ConfigEntry[] =>
  all.map(member => ({ kind: 'member', path, member }));

const rule = (...path: readonly string[]): ConfigEntry => ({ kind: 'rule', path, value: 'deny' });

const GATE = 'redline-gate.cjs';

/**
 * The hook that VS Code runs before each tool. The command itself refuses if the program, or Node, is missing: neither
 * counts as a refusal for VS Code.
 */
const gate: ConfigFile = {
  names: ['.github/hooks/redline.json'],
  format: 'json',
  entries: bridge => {
    const paths = bridge.includes('\\') ? path.win32 : path.posix;
    const program = paths.join(paths.dirname(bridge), GATE);
    const shells = {
      bash: [`node '${program.replaceAll("'", `'\\''`)}'`, ' || exit 2'],
      powershell: [`node '${program.replaceAll("'", "''")}'`, '; if ($LASTEXITCODE -ne 0) { exit 2 }'],
    } as const;
    // Between start and end, the user may name further allowed tools.
    const isHeld = (hook: unknown): boolean =>
      Object.entries(shells).every(([shell, [start, end]]) => {
        const command = isRecord(hook) ? hook[shell] : undefined;
        return typeof command === 'string' && command.startsWith(start) && command.endsWith(end);
      });
    const isOurs = (hook: unknown): boolean => JSON.stringify(hook).includes(GATE);
    const value = {
      type: 'command',
      bash: shells.bash.join(''),
      powershell: shells.powershell.join(''),
      timeoutSec: 30,
    };
    return [
      { kind: 'value', path: ['version'], value: 1 },
      { kind: 'item', path: ['hooks', 'preToolUse'], value, isOurs, isHeld },
    ];
  },
};

const instructions = (name: string): ConfigFile => ({ names: [name], format: 'paragraph' });

/** The agents, with the names of files and keys that their documentation gives (November 2026). */
export const knownAgents: readonly KnownAgent[] = [
  {
    id: 'claude',
    name: 'Claude Code',
    shell: l10n =>
      l10n.t(
        'The shell of Claude Code can still write what you approve, such as a script with `node -e`. Commands that it recognises as edits, such as `sed -i`, `cp`, `mv` and `rm`, are refused in every mode, and permissions cannot be bypassed here.',
      ),
    files: [
      {
        names: ['.mcp.json'],
        format: 'json',
        entries: bridge => [
          { kind: 'value', path: ['mcpServers', 'redline'], value: { command: 'node', args: [bridge] } },
        ],
      },
      {
        names: ['.claude/settings.local.json'],
        format: 'json',
        entries: () => [
          ...members(['permissions', 'allow'], 'mcp__redline'),
          // A tool's bare name takes the tool away; only the form with a path covers the shell's writes, too.
          ...members(['permissions', 'deny'], 'Edit', 'Write', 'NotebookEdit', 'Edit(**)'),
          // In the mode that bypasses permissions, and where a classifier answers, a script would write without a question.
          { kind: 'value', path: ['permissions', 'disableBypassPermissionsMode'], value: 'disable' },
          { kind: 'value', path: ['permissions', 'disableAutoMode'], value: 'disable' },
          ...members(['enabledMcpjsonServers'], 'redline'),
          { kind: 'notMember', path: ['disabledMcpjsonServers'], member: 'redline' },
        ],
      },
      instructions('CLAUDE.md'),
    ],
  },
  {
    id: 'codex',
    name: 'Codex',
    shell: l10n =>
      l10n.t(
        'The shell of Codex is in its read-only sandbox and writes nothing, except in commands that you approve to run outside of it, or if you start Codex with another sandbox.',
      ),
    files: [
      {
        names: ['.codex/config.toml'],
        format: 'whole',
        // A JSON string is also a TOML string.
        text: bridge =>
          `sandbox_mode = "read-only"\n\n[mcp_servers.redline]\ncommand = "node"\nargs = [${JSON.stringify(bridge)}]\n`,
      },
      instructions('AGENTS.md'),
    ],
  },
  {
    id: 'opencode',
    name: 'opencode',
    shell: l10n =>
      l10n.t(
        'The shell of opencode is taken away, because it would write what the agent may not edit. An opencode agent with permissions of its own can still have it.',
      ),
    files: [
      {
        names: ['opencode.jsonc', 'opencode.json'],
        format: 'json',
        entries: bridge => [
          // opencode adds it to a file that lacks it, and Undo could no longer take that file back.
          { kind: 'default', path: ['$schema'], value: 'https://opencode.ai/config.json' },
          {
            kind: 'value',
            path: ['mcp', 'redline'],
            value: { type: 'local', command: ['node', bridge], enabled: true },
          },
          rule('permission', 'edit'),
          rule('permission', 'bash'),
        ],
      },
      instructions('AGENTS.md'),
    ],
  },
  {
    id: 'vscode',
    name: 'VS Code’s own agents',
    shell: l10n =>
      l10n.t(
        'The terminal and the edit tools of VS Code’s own agents are refused by a hook, according to VS Code’s documentation; this was not run. Where hooks are switched off, for example by your organization, they write.',
      ),
    files: [gate, instructions('AGENTS.md')],
  },
];

/** Programs of Redline that the files of a connected agent name. */
const PROGRAMS = /redline-(?:mcp|gate)\.cjs/;

/** Whether one of the folders has the files that connect an agent. @param name as in the list of known agents */
export async function isConnectedHere(name: string, folders: readonly string[]): Promise<boolean> {
  const files = knownAgents.find(agent => agent.name === name)?.files.flatMap(({ names }) => names) ?? [];
  const texts = folders.flatMap(folder =>
    files.map(file => readFile(path.join(folder, file), 'utf8').catch(() => '')),
  );
  return (await Promise.all(texts)).some(text => PROGRAMS.test(text));
}
