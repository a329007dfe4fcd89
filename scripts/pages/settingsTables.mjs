/** The settings and commands of docs/settings.md, from package.json and package.nls.json. */
import * as fs from 'node:fs';
import { inRepo } from '../lib/paths.mjs';

const read = file => JSON.parse(fs.readFileSync(inRepo(file), 'utf8'));

/** Who may set a setting. */
const SCOPES = {
  application: 'you, for all windows',
  machine: 'you, in the user or remote settings of each machine',
  undefined: 'you, or the workspace',
  window: 'you, or the workspace',
};

/** @returns {Promise<string>} markdown */
export async function settingsTables() {
  return tablesOf(read('package.json').contributes, read('package.nls.json'));
}

/**
 * @param {object} contributes that of package.json
 * @param {Readonly<Record<string, string>>} texts those of package.nls.json
 * @returns {string} markdown
 * @throws {Error} for a setting whose scope it does not know, or a text that is missing
 */
export function tablesOf(contributes, texts) {
  const text = key => key.replace(/^%(.+)%$/, (_, name) => texts[name] ?? fail(`There is no text ${name}.`));
  const settings = Object.entries(contributes.configuration.properties)
    .sort(([, a], [, b]) => a.order - b.order)
    .map(([name, setting]) => settingSection(name, setting, text));
  const inPalette = contributes.commands.filter(({ command }) => !isHidden(command, contributes.menus));
  const rows = inPalette
    .map(({ command, title }) => [text(title), command, keysOf(command, contributes.keybindings)])
    .sort(([a], [b]) => a.localeCompare(b, 'en'));
  const table = rows.map(([title, id, keys]) => `| ${title} | \`${id}\` | ${keys} |`);
  return [
    '## Settings\n',
    ...settings,
    '## Commands\n',
    'All of them are in the command palette, under *Redline*.\n',
    '| command | id, for keys of your own | keys |',
    '| --- | --- | --- |',
    ...table,
    '',
  ].join('\n');
}

function settingSection(name, setting, text) {
  const scope =
    SCOPES[setting.scope] ?? fail(`${name} has the scope ${setting.scope}, which has no words here.`);
  const limits = [
    ...(setting.minimum === undefined ? [] : [`at least ${setting.minimum}`]),
    ...(setting.maximum === undefined ? [] : [`at most ${setting.maximum}`]),
  ];
  const { enum: choices = [], enumDescriptions: meanings } =
    setting.additionalProperties ?? setting.items ?? setting;
  return [
    `### \`${name}\`\n`,
    `${text(setting.markdownDescription).replace(/`#(.+?)#`/g, '`$1`')}\n`,
    `Default: \`${JSON.stringify(setting.default)}\`${limits.map(limit => `, ${limit}`).join('')}. Set by: ${scope}.\n`,
    ...(choices.length === 0
      ? []
      : [choices.map((choice, index) => `- \`${choice}\`: ${text(meanings[index])}`).join('\n') + '\n']),
  ].join('\n');
}

function isHidden(command, menus) {
  return menus.commandPalette.some(item => item.command === command && item.when === 'false');
}

/** The keys of a command, each once, and those of a Mac where they differ. */
function keysOf(command, keybindings) {
  const own = keybindings.filter(binding => binding.command === command);
  const named = own.map(({ key, mac }) =>
    mac === undefined ? keyName(key) : `${keyName(key)} (Mac: ${keyName(mac)})`,
  );
  return [...new Set(named)].join(', ');
}

/** `ctrl+k ctrl+backspace` as VS Code shows it. */
export function keyName(key) {
  const names = { pagedown: 'PageDown', pageup: 'PageUp' };
  return key
    .split(' ')
    .map(chord =>
      chord
        .split('+')
        .map(part => names[part] ?? part.charAt(0).toUpperCase() + part.slice(1))
        .join('+'),
    )
    .join(' ');
}

function fail(message) {
  throw new Error(message);
}
