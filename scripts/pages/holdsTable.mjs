/** The tables of the edits held in each mode of each agent, and the one of the README. */
import { agentHolds, IN_VIEW, shellHold } from '../../src/agent/clients/setUp/agentHolds.ts';

/** In the README. */
const WORDS = { held: 'held back', asks: 'asks first', writes: 'writes' };
const SECTIONS = { Claude: 'claude-code', VS: 'copilot-and-vs-codes-own-agents' };

/** Names of agents in the README, where it has others. */
const SHOWN = { VS: 'Copilot in VS Code' };

/** Modes whose names do not tell readers where the agent is started, or on what it depends. */
const SHOWN_MODES = {
  'as it starts': 'in the connected folder, no repository',
  'in any mode': 'in any mode, while hooks are on',
};

/** The README's words for the source of a fact. */
const EVIDENCE = { run: 'tried', documentation: 'documented' };

/** @returns {Promise<string>} markdown */
export async function holdsTable() {
  const rows = agentHolds.flatMap(({ name, version, date, modes }) =>
    modes.map(({ mode, edits, sed, script, from }) => {
      const shown = mode === IN_VIEW ? `[${mode}](agent-terminals.md)` : shownMode(mode);
      return [`${name} ${version}`.trim(), shown, edits, sed, script, `${from} ${date}`].join(' | ');
    }),
  );
  return [
    '| agent | started | its edit tools | `sed -i` in its shell | a script in its shell | from |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows.map(row => `| ${row} |`),
    '',
  ].join('\n');
}

/**
 * One line for each agent that can be connected, for the mode in which it starts, which is its first one.
 * @returns {Promise<string>} markdown
 */
export async function holdsSummary() {
  const connected = agentHolds
    .map(agent => ({ ...agent, modes: agent.modes.filter(({ mode }) => mode !== IN_VIEW) }))
    .filter(({ modes }) => modes.length > 0);
  const rows = connected.map(({ name, version, modes }) => {
    const first = name.split(' ')[0];
    const section = SECTIONS[first] ?? first.toLowerCase();
    const [edits, shell] = [mode => mode.edits, shellHold].map(hold => worstWords(modes, hold));
    const cells = [edits, shell === edits && edits.includes('unless') ? 'as its edits' : shell];
    return `| [${SHOWN[first] ?? `${name} ${version}`.trim()}](docs/agents.md#${section}) | ${cells.join(' | ')} | ${EVIDENCE[modes[0].from]} |`;
  });
  return [
    '| connected agent | its edits | its shell | how we know |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

/** What holds in the mode in which an agent is started first, and in which modes it holds less. */
function worstWords([first, ...others], hold) {
  const modesThat = fate =>
    others
      .filter(mode => hold(mode) === fate)
      .map(({ mode }) => shownMode(mode))
      .join(', ')
      .replace(/, (?=[^,]*$)/, ' or ');
  const [writes, asks] = [modesThat('writes'), hold(first) === 'held' ? modesThat('asks') : ''];
  return (
    WORDS[hold(first)] +
    (SHOWN_MODES[first.mode]?.match(/ while .*/)?.[0] ?? '') +
    (writes === '' ? '' : `, unless started ${writes}`) +
    (asks === '' ? '' : `; ${WORDS.asks} ${asks}`)
  );
}

/** How it is started: a place in words, else the mode as the program names it. */
function shownMode(mode) {
  return SHOWN_MODES[mode] ?? (/^(?:in|when) /.test(mode) ? mode : `with \`${mode}\``);
}
