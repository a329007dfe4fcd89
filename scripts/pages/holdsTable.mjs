/** The table of docs/agents.md: what is held of each agent in each of its modes. */
import { agentHolds } from '../../src/agent/clients/setUp/agentHolds.ts';

/** @returns {Promise<string>} markdown */
export async function holdsTable() {
  const rows = agentHolds.flatMap(({ name, version, modes }) =>
    modes.map(({ mode, edits, sed, script, from }) =>
      [`${name} ${version}`.trim(), `\`${mode}\``, edits, sed, script, from].join(' | '),
    ),
  );
  rows.push(['any agent in an agent terminal', 'any', 'held', 'held', 'held', 'run'].join(' | '));
  return [
    '| agent | mode | its edit tools | `sed -i` in its shell | a script in its shell | from |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows.map(row => `| ${row} |`),
    '',
  ].join('\n');
}
