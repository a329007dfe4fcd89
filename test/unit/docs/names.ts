import * as fs from 'node:fs';
import * as path from 'node:path';
import { keyName } from '../../../scripts/pages/settingsTables.mjs';
import { slashCommands } from '../../../src/agent/session/model/offline/slashCommands.ts';
import { contextKeys, MCP_PROVIDER, PARTICIPANT, views } from '../../../src/views/contributions.ts';
import { withoutCodeSpans } from '../../support/docs/links.ts';
import { lineAt, read, root, type Page } from '../../support/docs/pages.ts';

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly contributes: {
    readonly commands: readonly { readonly command: string; readonly title: string }[];
    readonly keybindings: readonly {
      readonly command: string;
      readonly key: string;
      readonly mac?: string;
    }[];
    readonly menus: {
      readonly commandPalette: readonly { readonly command: string; readonly when?: string }[];
    };
    readonly configuration: { readonly properties: Readonly<Record<string, SettingSchema>> };
  };
}

/** The part of JSON schema that package.json uses for settings. */
export interface SettingSchema {
  readonly type: 'string' | 'number' | 'boolean' | 'array' | 'object';
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: SettingSchema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SettingSchema>>;
  readonly additionalProperties?: SettingSchema | false;
}

export const manifest = JSON.parse(read('package.json')) as Manifest;
const texts = JSON.parse(read('package.nls.json')) as Record<string, string>;
export const settings = manifest.contributes.configuration.properties;

/** The titles of commands as the palette shows them, without the category, by id. */
export const commandTitles: ReadonlyMap<string, string> = new Map(
  manifest.contributes.commands.map(({ command, title }) => [
    command,
    texts[title.replaceAll('%', '')] ?? title,
  ]),
);

/** The ids of the commands that the palette lists. */
export const paletteCommands: readonly string[] = [...commandTitles.keys()].filter(
  id =>
    !manifest.contributes.menus.commandPalette.some(
      ({ command, when }) => command === id && when === 'false',
    ),
);

/** Names that begin with `redline.` and are neither settings nor commands. */
const OTHER_NAMES = new Set<string>([
  ...Object.values(views),
  ...Object.values(contextKeys),
  PARTICIPANT,
  MCP_PROVIDER,
  'redline.chat.focus',
  'redline.redline',
  'redline.vsix',
  'redline.d.ts',
]);

/** Keys of VS Code itself, of the chat's prompt and of terminals that pages name. */
const OTHER_KEYS = new Set(['F5', 'F7', 'Ctrl+C', 'Ctrl+S', 'Ctrl+Z', 'Cmd+S', 'Alt+F5', 'Shift+Tab']);

const CHORDS: ReadonlySet<string> = new Set(
  manifest.contributes.keybindings.flatMap(({ key, mac = key }) =>
    `${keyName(key)} ${keyName(mac)}`.split(' '),
  ),
);

/** Settings, commands, keys and npm scripts that a page names and that do not exist. */
export function faultsOfNames(page: Page): string[] {
  return [
    ...unknownIds(page),
    ...unknownTitles(page),
    ...unknownKeys(page),
    ...unknownScripts(page),
    ...unknownSlashCommands(page),
  ];
}

function unknownIds({ path: page, prose }: Page): string[] {
  return [...prose.matchAll(/(?<![\w/.~-])redline\.[a-zA-Z]+(?:\.[a-zA-Z]+)*/g)].flatMap(
    ({ 0: name, index }) =>
      Object.hasOwn(settings, name) || commandTitles.has(name) || OTHER_NAMES.has(name)
        ? []
        : [`${page}:${lineAt(prose, index)}: there is no setting, command or view ${name}`],
  );
}

/** `Redline: Select Model…`, in italics, bold or quotes. */
function unknownTitles({ path: page, prose }: Page): string[] {
  const titles = new Set(paletteCommands.map(id => commandTitles.get(id)));
  return [...prose.matchAll(/[*“]Redline: ([^*”]+?)[*”]/g)].flatMap(({ 1: title = '', index }) =>
    titles.has(title.replace(/\s+/g, ' '))
      ? []
      : [`${page}:${lineAt(prose, index)}: the palette has no command “Redline: ${title}”`],
  );
}

function unknownKeys({ path: page, prose }: Page): string[] {
  const text = withoutCodeSpans(prose);
  const named = text.matchAll(/\b(?:(?:Ctrl|Cmd|Alt|Shift)\+)+(?:F\d{1,2}|[A-Z][a-zA-Z]*|\d)|\bF\d{1,2}\b/g);
  return [...named].flatMap(({ 0: key, index }) =>
    CHORDS.has(key) || OTHER_KEYS.has(key) ? [] : [`${page}:${lineAt(prose, index)}: there is no key ${key}`],
  );
}

function unknownScripts({ path: page, prose }: Page): string[] {
  return [...prose.matchAll(/\bnpm run ([\w:-]+)/g)].flatMap(({ 1: script = '', index }) =>
    Object.hasOwn(manifest.scripts, script)
      ? []
      : [`${page}:${lineAt(prose, index)}: there is no npm script ${script}`],
  );
}

/** Slash commands of other agents that pages name, and those that only VS Code's own chat has. */
const OTHER_SLASH_COMMANDS = new Set([
  '/ide',
  '/mcp',
  '/new',
  '/permissions',
  '/plan',
  '/rewind',
  '/status',
  '/undo',
]);

/** A command in a code span, such as `/apply` or `/run <command>`. Paths have a second slash or a dot. */
function unknownSlashCommands({ path: page, prose }: Page): string[] {
  const known = new Set(slashCommands().map(({ name }) => name));
  return [...prose.matchAll(/`(\/[a-z-]+)(?=[` ])/g)].flatMap(({ 1: name = '', index }) =>
    known.has(name) || OTHER_SLASH_COMMANDS.has(name)
      ? []
      : [`${page}:${lineAt(prose, index)}: there is no slash command ${name}`],
  );
}

/** What the windows of VS Code call things of theirs that our pages name. */
const TEXTS_OF_OTHERS = new Set([
  'Extensions',
  'Install from VSIX…',
  'Configure Tools…',
  'Duplicate As Workspace in New Window',
  'MCP: List Servers',
  'Run Extension',
  'Problems',
  'Manage Language Model Access',
  'Close All Editors',
]);

/**
 * Buttons and labels that a page names in italics, such as *Apply All*, and that no text of the extension contains. An italic
 * name begins with a capital letter.
 */
export function unknownLabels({ path: page, prose }: Page, known: string = textsOfTheExtension()): string[] {
  const text = withoutCodeSpans(prose);
  return [...text.matchAll(/(?<![*\w])\*([A-Z@][^*\n]*(?:\n[^*\n]+)?)\*(?![*\w])/g)].flatMap(
    ({ 1: shown = '', index }) => {
      const label = shown.replace(/\s+/g, ' ').replace(/^Redline: /, '');
      const isKnown =
        known.includes(label) || known.includes(label.replace(/\d+/, '{0}')) || TEXTS_OF_OTHERS.has(label);
      return isKnown ? [] : [`${page}:${lineAt(prose, index)}: no text of the extension is “${label}”`];
    },
  );
}

let allTexts: string | undefined;
function textsOfTheExtension(): string {
  allTexts ??= [
    ...Object.values(texts),
    ...fs
      .readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
      .filter(file => file.endsWith('.ts'))
      .map(file => read(path.join('src', file))),
  ].join('\n');
  return allTexts;
}
