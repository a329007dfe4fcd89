import { readFile } from 'node:fs/promises';
import * as path from 'node:path';
import { isRecord, parsedJson, stringsIn } from '../../base/json.ts';
import type { Localiser } from '../../base/localiser.ts';
import { firstOf } from '../view/fileWords.ts';

/** The most rules, and the most servers, that are named. */
const MAX_NAMED = 5;

/** Grants in Claude Code's own settings that connecting it does not take away. */
export interface OwnGrants {
  /** Rules that let its shell run without asking, such as `Bash(npm run:*)`. */
  readonly rules: readonly string[];
  /** MCP servers other than Redline's. */
  readonly servers: readonly string[];
}

/** @param folder where it is connected @param home the home folder of the user */
export async function claudeGrants(folder: string, home: string): Promise<OwnGrants> {
  const inFolder = (name: string): Promise<unknown> => jsonIn(path.join(folder, name));
  const user = await jsonIn(path.join(home, '.claude.json'));
  const settings = await Promise.all([
    inFolder('.claude/settings.json'),
    inFolder('.claude/settings.local.json'),
    jsonIn(path.join(home, '.claude', 'settings.json')),
  ]);
  const rules = settings
    .flatMap(each => listAt(each, 'permissions', 'allow'))
    .filter(rule => /^Bash\b/.test(rule));
  const servers = [await inFolder('.mcp.json'), user, valueAt(user, 'projects', folder)]
    .flatMap(each => Object.keys(valueAt(each, 'mcpServers') ?? {}))
    .filter(name => name !== 'redline');
  return { rules: [...new Set(rules)], servers: [...new Set(servers)] };
}

/** The sentences about them; none if there are none. */
export function grantsText({ rules, servers }: OwnGrants, l10n: Localiser): readonly string[] {
  const named = (all: readonly string[]): string => firstOf(all, MAX_NAMED);
  return [
    ...(rules.length === 0
      ? []
      : [l10n.t('Your own rules let its shell write without a question: {0}.', named(rules))]),
    ...(servers.length === 0
      ? []
      : [l10n.t('What these MCP servers write is not held: {0}.', named(servers))]),
  ];
}

/** Whether a program is newer than the one that was run. @param told its answer to `--version` */
export function isNewer(told: string, tried: string): boolean {
  const [now, then] = [told, tried].map(text =>
    /(?<!\d)\d+(?:\.\d+)+/.exec(text)?.[0].split('.').map(Number),
  );
  if (!now || !then) return false;
  const at = now.findIndex((each, n) => each !== (then[n] ?? 0));
  return at >= 0 && (now[at] ?? 0) > (then[at] ?? 0);
}

async function jsonIn(file: string): Promise<unknown> {
  return parsedJson(await readFile(file, 'utf8').catch(() => ''));
}

function valueAt(value: unknown, ...keys: readonly string[]): object | undefined {
  for (const key of keys) value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return typeof value === 'object' && value !== null ? value : undefined;
}

function listAt(value: unknown, ...keys: readonly string[]): readonly string[] {
  const list: unknown = valueAt(value, ...keys);
  return stringsIn(list);
}
