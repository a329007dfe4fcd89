/**
 * Runs commands in the sandbox of a new repository, one after the other, with its state in a folder, and prints what sandbox there
 * is and how each command ended, a line of JSON for each: `node otherMachineChild.ts <engine> <folder> <commands as JSON>`.
 */
import type { SandboxEngine } from '../../../../src/agent/sandbox/commands/sandbox.ts';
import { messageOf } from '../../../../src/agent/base/errors.ts';
import { SandboxWorld } from '../../../support/sandboxWorld.ts';

/** A command, with what is pending; for a number, a text of that length. */
export interface Asked {
  readonly command: string;
  readonly pending?: Readonly<Record<string, string | number>>;
}

/** How a command ended, or why none was run. */
export interface Told {
  readonly exitCode?: number;
  readonly output?: string;
  readonly changes?: readonly string[];
  readonly leftOut?: readonly { readonly path: string; readonly why: string }[];
  readonly notes?: readonly string[];
  readonly ignored?: number;
  readonly error?: string;
  /** What `git status` says of the real folder afterwards. */
  readonly disk: string;
}

const [, , engine, storage = '', commands = '[]'] = process.argv;
const world = await SandboxWorld.create(
  engine as SandboxEngine | 'auto',
  { 'src/a.ts': 'a', 'src/b.ts': 'b' },
  { storage },
);
console.log(JSON.stringify(await world.sandboxes.status()));
for (const { command, pending = {} } of JSON.parse(commands) as Asked[]) {
  const texts: Record<string, string> = {};
  for (const [name, text] of Object.entries(pending))
    texts[name] = typeof text === 'number' ? 'x'.repeat(text) : text;
  const told = await world.run(command, { pending: texts }).then(
    ({ exitCode, output, changes, leftOut, notes, ignored }) => ({
      exitCode,
      output,
      changes,
      leftOut,
      notes,
      ignored,
    }),
    (error: unknown) => ({ error: messageOf(error) }),
  );
  console.log(JSON.stringify({ ...told, disk: world.git('status', '--short') }));
}
await world.remove();
