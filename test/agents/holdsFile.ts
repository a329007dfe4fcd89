import { writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { agentHolds, type AgentHolds, type ModeHolds } from '../../src/agent/clients/setUp/agentHolds.ts';

const FILE = path.resolve(import.meta.dirname, '../../src/agent/clients/setUp/agentHolds.json');

/** Puts what was seen into the table of what holds; what was not run stays as it is. */
export function written(ran: readonly AgentHolds[]): void {
  const kept = agentHolds.filter(({ name }) => !ran.some(each => each.name === name));
  const all = [...ran.map(withDocumented), ...kept].sort((a, b) => placeOf(a) - placeOf(b));
  writeFileSync(FILE, `${JSON.stringify(all, null, 2)}\n`);
}

/** The agent with its modes that were not run. */
function withDocumented(ran: AgentHolds): AgentHolds {
  const { modes = [] } = agentHolds.find(each => each.name === ran.name) ?? {};
  const documented = modes.filter(
    ({ mode, from }) => from === 'documentation' && !ran.modes.some(each => each.mode === mode),
  );
  return { ...ran, modes: [...ran.modes, ...documented] };
}

/** How what was seen differs from the table, a line for each cell. */
export function differences(ran: readonly AgentHolds[]): readonly string[] {
  return ran.flatMap(({ name, modes }) => {
    const before = agentHolds.find(each => each.name === name)?.modes ?? [];
    return modes.flatMap(mode => {
      const told = before.find(each => each.mode === mode.mode);
      return told && wordsOf(told) === wordsOf(mode)
        ? []
        : [`${name}: seen ${wordsOf(mode)}; the table says ${told ? wordsOf(told) : 'nothing'}`];
    });
  });
}

function wordsOf({ mode, edits, sed, script, from }: ModeHolds): string {
  return `${mode}: ${edits}, ${sed}, ${script} (${from})`;
}

/** The order of the table. */
function placeOf({ name }: AgentHolds): number {
  const place = agentHolds.findIndex(each => each.name === name);
  return place === -1 ? agentHolds.length : place;
}
