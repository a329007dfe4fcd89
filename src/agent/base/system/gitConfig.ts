import * as fs from 'node:fs/promises';
import { homedir } from 'node:os';
import * as path from 'node:path';

/** A setting of git, with the folder of its file. */
export interface GitSetting {
  /** `section.subsection.name`, where section and name are in lower case. */
  readonly key: string;
  readonly value: string;
  readonly folder: string;
}

/** How deep files include others, as in git. */
const MAX_DEPTH = 10;

/**
 * The settings in a file of git's configuration, and in the files that it includes. Every condition counts as met: the model may
 * change the files that it depends on.
 * @returns also the absolute paths of the files that it includes, whether they exist or not
 */
export async function readGitConfig(
  file: string,
  depth = 0,
): Promise<{ readonly settings: readonly GitSetting[]; readonly included: readonly string[] }> {
  const text = depth > MAX_DEPTH ? '' : await fs.readFile(file, 'utf8').catch(() => '');
  const folder = path.dirname(file);
  const settings = [...settingsIn(text)].map(setting => ({ ...setting, folder }));
  const included: string[] = [];
  for (const { key, value } of [...settings]) {
    if (!/^include(if\..*)?\.path$/s.test(key) || value === '') continue;
    const other = path.resolve(folder, fromHome(value));
    const inner = await readGitConfig(other, depth + 1);
    settings.push(...inner.settings);
    included.push(other, ...inner.included);
  }
  return { settings, included };
}

/** The files with the settings of a user and of the system. Another installation of git may keep its own elsewhere. */
export function ownGitConfigs(env: NodeJS.ProcessEnv = process.env): readonly string[] {
  const home = env['HOME'] ?? homedir();
  const own = [
    path.join(home, '.gitconfig'),
    path.join(env['XDG_CONFIG_HOME'] ?? `${home}/.config`, 'git/config'),
  ];
  const given = [env['GIT_CONFIG_GLOBAL'], env['GIT_CONFIG_SYSTEM']].filter(each => each !== undefined);
  return [...own, '/etc/gitconfig', ...given];
}

/** A path in a setting, with `~` expanded. */
export function fromHome(value: string): string {
  return value.replace(/^~(?=\/|$)/, process.env['HOME'] ?? homedir());
}

/** The settings in the text of a file, in git's own syntax. A line that git would refuse is skipped. */
export function* settingsIn(text: string): Generator<Omit<GitSetting, 'folder'>> {
  let section = '';
  const lines = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const token =
    /\[\s*([\w.-]+)(?:[ \t]+"((?:\\.|[^"\\\n])*)")?\s*\]|(?<![\w-])([a-z][\w-]*)[ \t]*(?:=((?:"(?:\\[^]|[^"\\\n])*"?|\\[^]|[^"\\\n;#])*)|(?=\n|$|[;#]))|[;#].*|[^]/gi;
  for (const [, name, sub, key, value] of lines.matchAll(token)) {
    if (name !== undefined)
      section = name.toLowerCase() + (sub === undefined ? '' : `.${sub.replace(/\\(.)/g, '$1')}`);
    else if (key !== undefined)
      yield { key: `${section}.${key.toLowerCase()}`, value: plainValue(value ?? '') };
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b' };

/** A value without its quotes and escapes. Outside of quotes, space at both ends does not count. */
function plainValue(written: string): string {
  let isQuoted = false;
  let value = '';
  let end = 0;
  for (const [part, escaped] of written.matchAll(/\\([^])|[^]/g)) {
    const isSpace = !isQuoted && escaped === undefined && /\s/.test(part);
    if (isSpace && value === '') continue;
    if (part === '"') isQuoted = !isQuoted;
    else if (escaped !== '\n') value += escaped === undefined ? part : (ESCAPES[escaped] ?? escaped);
    if (!isSpace) end = value.length;
  }
  return value.slice(0, end);
}
