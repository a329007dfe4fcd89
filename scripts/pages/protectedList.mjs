/** The list of protected places in docs/who-decides.md. */
import { PROTECTED_PLACES } from '../../src/agent/hold/preview/resolve/protectedPlaces.ts';

/** @type {Readonly<Record<keyof typeof PROTECTED_PLACES, string>>} */
const REASONS = {
  editors: 'Editors run them, or start programs that they name, when they open the folder',
  versionControl: 'Version control runs programs that they name, or hooks with each commit',
  shells: 'Shells, or tools that shells ask, run them when they start or enter the folder',
  tools: 'Tools run programs that they name at each start, for any purpose',
  agents: 'Agents follow them as instructions, or read permissions and programs to start from them',
};

/** @returns {Promise<string>} markdown */
export async function protectedList() {
  return Object.entries(PROTECTED_PLACES)
    .map(([kind, places]) => {
      const reason = REASONS[/** @type {keyof typeof REASONS} */ (kind)];
      return `- ${reason}: ${places.map(place => `\`${place}\``).join(', ')}.\n`;
    })
    .join('');
}
