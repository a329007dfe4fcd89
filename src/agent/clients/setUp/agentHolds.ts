import table from './agentHolds.json' with { type: 'json' };

/** The mode of every agent in an agent terminal. */
export const IN_VIEW = 'in an agent terminal';

/** The fate of an edit: refused or a preview; the user is asked first; written at once. */
export type Hold = 'held' | 'asks' | 'writes';

/** How an agent's edits are held in one of its modes, with the configuration that *Connect an Agent…* writes. */
export interface ModeHolds {
  /** As the program names it. */
  readonly mode: string;
  /** Its own edit tools. */
  readonly edits: Hold;
  /** A command of its shell that is known as an edit, such as `sed -i`. */
  readonly sed: Hold;
  /** A script in its shell, such as `node -e`. */
  readonly script: Hold;
  /** The source: a run of the program, or its documentation. */
  readonly from: 'run' | 'documentation';
}

export interface AgentHolds {
  /** As in the list of known agents. */
  readonly name: string;
  /** Empty for VS Code itself. */
  readonly version: string;
  /** When it was last run or read, `2026-11-25`. */
  readonly date: string;
  readonly modes: readonly ModeHolds[];
}

/**
 * The holds, by agent. `npm run test:agents -- --write` records the ones it observes; those only documented are written by hand.
 */
export const agentHolds = table as readonly AgentHolds[];

/** How far edits by an agent's shell are held: the weaker of the two ways to write counts. */
export function shellHold({ sed, script }: ModeHolds): Hold {
  const both = [sed, script];
  return both.includes('writes') ? 'writes' : both.includes('asks') ? 'asks' : 'held';
}
