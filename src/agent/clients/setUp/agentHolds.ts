/** What happens to what an agent writes: it is refused or becomes a preview; the user is asked first; it is written at once. */
export type Hold = 'held' | 'asks' | 'writes';

/** What is held of an agent in one of its modes, with the configuration that *Connect an Agent…* writes. */
export interface ModeHolds {
  /** As the program names it. */
  readonly mode: string;
  /** Its own edit tools. */
  readonly edits: Hold;
  /** A command of its shell that is known as an edit, such as `sed -i`. */
  readonly sed: Hold;
  /** A script in its shell, such as `node -e`. */
  readonly script: Hold;
  /** Whether it was run, or is what the documentation of the program says. */
  readonly from: 'run' | 'documentation';
}

export interface AgentHolds {
  /** As in the list of known agents. */
  readonly name: string;
  /** Empty for VS Code itself. */
  readonly version: string;
  readonly modes: readonly ModeHolds[];
}

const held = { edits: 'held', sed: 'held', script: 'held', from: 'run' } as const;

/** What holds, by agent: from runs on Linux in November 2026. `npm run test:agents` runs the first mode of each again. */
export const agentHolds: readonly AgentHolds[] = [
  {
    name: 'Claude Code',
    version: '2.1',
    modes: [
      { ...held, mode: 'acceptEdits', script: 'asks' },
      { ...held, mode: 'default', script: 'asks' },
      { ...held, mode: 'bypassPermissions', script: 'writes' },
    ],
  },
  {
    name: 'Codex',
    version: '0.169',
    modes: [
      { ...held, mode: 'read-only' },
      {
        mode: 'danger-full-access',
        ...{ edits: 'writes', sed: 'writes', script: 'writes', from: 'documentation' },
      },
    ],
  },
  {
    name: 'Copilot CLI',
    version: '1.0',
    modes: [
      { ...held, mode: 'allow-all-tools trust-folder' },
      {
        mode: '-p allow-all-tools',
        ...{ edits: 'writes', sed: 'writes', script: 'writes', from: 'run' },
      },
    ],
  },
  {
    name: 'Qwen Code',
    version: '0.24',
    modes: [
      { ...held, mode: 'yolo', script: 'writes' },
      { ...held, mode: 'auto-edit', script: 'asks' },
    ],
  },
  { name: 'opencode', version: '1.18', modes: [{ ...held, mode: 'build' }] },
  {
    name: 'VS Code’s own agents',
    version: '',
    modes: [{ ...held, mode: 'any', from: 'documentation' }],
  },
];

/** How much of what an agent writes in its shell is held, the worst of both ways. */
export function shellHold({ sed, script }: ModeHolds): Hold {
  const both = [sed, script];
  return both.includes('writes') ? 'writes' : both.includes('asks') ? 'asks' : 'held';
}
