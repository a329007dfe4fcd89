import { isRecord } from '../../base/json.ts';
import { isGlob } from '../../hold/text/glob.ts';

/** Other tools' names for fields of ours, folded; of several fields of ours, the first that the schema has is meant. */
const OURS: Readonly<Record<string, readonly string[]>> = {
  path: ['paths', 'glob'],
  paths: ['glob'],
  globs: ['glob'],
  file: ['path', 'paths'],
  filename: ['path', 'paths'],
  filepath: ['path', 'paths'],
  targetfile: ['path', 'paths'],
  dir: ['cwd', 'paths', 'path', 'glob'],
  directory: ['cwd', 'paths', 'path', 'glob'],
  folder: ['cwd', 'paths', 'path', 'glob'],
  workdir: ['cwd'],
  workingdirectory: ['cwd'],
  files: ['paths', 'glob'],
  include: ['glob', 'paths'],
  includepattern: ['glob', 'paths'],
  globpattern: ['glob', 'paths'],
  glob: ['paths'],
  pattern: ['pat', 'query', 'glob'],
  regex: ['query'],
  searchterm: ['query'],
  contextlines: ['context'],
  c: ['context'],
  includeignored: ['ignored'],
  cmd: ['command'],
  script: ['command'],
  runinbackground: ['background'],
  isbackground: ['background'],
  bashid: ['id'],
  shellid: ['id'],
  taskid: ['id'],
  oldstring: ['old'],
  oldstr: ['old'],
  oldtext: ['old'],
  newstring: ['new'],
  newstr: ['new'],
  newtext: ['new'],
  contents: ['content'],
  filetext: ['content'],
  text: ['content'],
  oldpath: ['from'],
  source: ['from'],
  newpath: ['to'],
  destination: ['to'],
  firstline: ['startLine'],
  lastline: ['endLine'],
  symbol: ['name'],
  symbolname: ['name'],
  commit: ['ref'],
  revision: ['ref'],
  id: ['ids'],
  previewid: ['id', 'ids'],
  previewids: ['ids'],
  decision: ['action'],
  description: ['title', 'text'],
  explanation: ['reason', 'title'],
  comment: ['reason'],
  todos: ['items'],
  plan: ['items'],
  step: ['text'],
  options: ['choices'],
  prompt: ['question'],
  rewrite: ['out'],
  replacement: ['out'],
  content: ['text'],
  task: ['text'],
  status: ['state'],
};

/** Words of other tools for values of ours. */
const VALUES: Readonly<Record<string, string>> = {
  pending: 'open',
  in_progress: 'doing',
  completed: 'done',
  approve: 'apply',
  accept: 'apply',
  reject: 'discard',
};

/** Other tools' fields, folded, that only describe the call or an item. They are left out where no field of ours takes them. */
const DESCRIPTIONS = ['description', 'explanation', 'activeform', 'priority'];

/**
 * Other tools' fields, folded, that only limit the result, and fields of ours: where the schema has one of these, the limit is left
 * out, and the result says so.
 */
const LIMITS: Readonly<Record<string, readonly string[]>> = {
  outputmode: ['query'],
  headlimit: ['query', 'glob'],
  maxcount: ['query', 'glob', 'ref'],
  maxresults: ['query', 'glob'],
  prompt: ['url'],
};

type Fields = Readonly<Record<string, unknown>>;

/**
 * The fields with the names of the schema, where they have a known other name and the field itself is missing. Of two names for one
 * field, the second stays, so that it is refused.
 */
export function renamed(given: Fields, properties: Fields): Fields {
  const taken = new Set(Object.keys(given));
  const nameOf = (name: string): string => {
    const meant = fieldFor(name, properties);
    if (meant === undefined || taken.has(meant)) return name;
    taken.add(meant);
    return meant;
  };
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [nameOf(name), value]));
}

/** The field of the schema that the name means. */
function fieldFor(name: string, properties: Fields): string | undefined {
  if (Object.hasOwn(properties, name)) return name;
  const key = folded(name);
  return (
    Object.keys(properties).find(each => folded(each) === key) ??
    othersOf(key).find(each => Object.hasOwn(properties, each))
  );
}

function othersOf(key: string): readonly string[] {
  return (Object.hasOwn(OURS, key) ? OURS[key] : undefined) ?? [];
}

/** Whether leaving out a field that the schema does not have changes nothing. */
export function changesNothing(name: string, value: unknown, properties: Fields): boolean {
  const isDescription = DESCRIPTIONS.includes(folded(name)) || (name === 'id' && isListItem(properties));
  const isNumbering = name === '-n' && Object.hasOwn(properties, 'query'); // the lines have numbers
  const isSaid = [undefined, 'title'].includes(fieldFor(name, properties)); // else it would be lost beside its field
  return value === null || (isDescription && isSaid) || isNumbering || onlyLimits(name, properties);
}

/** Whether leaving out a field that the schema does not have makes the result longer, and changes nothing else. */
export function onlyLimits(name: string, properties: Fields): boolean {
  const key = folded(name);
  return Object.hasOwn(LIMITS, key) && LIMITS[key]!.some(each => Object.hasOwn(properties, each));
}

/** Whether the schema is that of an item of the to-do list, which is always sent as a whole. */
function isListItem(properties: Fields): boolean {
  return Object.hasOwn(properties, 'text') && Object.hasOwn(properties, 'state');
}

/** The allowed value that another tool's word means. */
export function valueOf(given: string, allowed: readonly unknown[]): string {
  const meant = Object.hasOwn(VALUES, given) ? VALUES[given] : undefined;
  return meant !== undefined && !allowed.includes(given) && allowed.includes(meant) ? meant : given;
}

/** Translates fields that other tools structure differently: a range of lines, a single edit, the words of a command. */
export function reshaped(given: Fields, properties: Fields): Fields {
  if (Object.hasOwn(properties, 'glob')) return withOneGlob(given, properties);
  if (Object.hasOwn(properties, 'startLine')) {
    const lines = fromFirstToLast(withOnePath(given));
    return Object.hasOwn(properties, 'action') ? lines : inLines(lines);
  }
  if (Object.hasOwn(properties, 'command')) return asCommand(given);
  if (Object.hasOwn(properties, 'extra')) return withTitle(given);
  if (Object.hasOwn(properties, 'edits')) return asList('edits', ['old', 'new', 'replaceAll'], given);
  if (Object.hasOwn(properties, 'ops')) return asList('ops', ['pat', 'out', 'selector'], given);
  return given;
}

/** A list of one path is that path. */
function withOnePath({ paths, ...given }: Fields): Fields {
  const only: unknown = Array.isArray(paths) && paths.length === 1 ? paths[0] : paths;
  if (typeof only === 'string' && given['path'] === undefined) return { path: only, ...given };
  return paths === undefined ? given : { ...given, paths };
}

/** The title of a plan belongs to its free-form data. */
function withTitle({ title, ...given }: Fields): Fields {
  const extra = isEmpty(given['extra'] ?? null) ? {} : given['extra'];
  if (typeof title === 'string' && isRecord(extra) && !Object.hasOwn(extra, 'title'))
    return { ...given, extra: { ...extra, title } };
  return title === undefined ? given : { ...given, title };
}

/** Joins several globs into one with braces, and a folder and a glob of the files in it into one. */
function withOneGlob(given: Fields, properties: Fields): Fields {
  const isSearch = Object.hasOwn(properties, 'isRegex');
  const fields = isSearch ? asQuery(given) : given;
  const single = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const globs: readonly unknown[] = Array.isArray(value) ? value : [];
      const isGlobs = globs.length > 0 && globs.every(each => typeof each === 'string' && each !== '');
      return [name, isGlobs ? (globs.length === 1 ? globs[0] : `{${globs.join(',')}}`) : value];
    }),
  );
  return inFolder(single, properties, isSearch);
}

/** In a search, a glob without a slash matches names in any folder; in a list of files, only names in this one. */
function inFolder(given: Fields, properties: Fields, isSearch: boolean): Fields {
  const isFolder = (name: string): boolean =>
    folded(name) === 'path' || othersOf(folded(name)).includes('path');
  const names = Object.keys(given).filter(name => fieldFor(name, properties) === 'glob');
  const folderName = names.find(isFolder);
  const globName = names.find(name => !isFolder(name));
  if (folderName === undefined || globName === undefined) return given;
  const { [folderName]: folder, [globName]: glob, ...rest } = given;
  if (isEmpty(folder) || folder === '.' || folder === './') return { ...rest, [globName]: glob };
  if (isEmpty(glob)) return { ...rest, [folderName]: folder };
  if (typeof folder !== 'string' || typeof glob !== 'string' || isGlob(folder)) return given;
  const between = isSearch && !glob.includes('/') ? '/**/' : '/';
  return { ...rest, [globName]: `${folder.replace(/(?<!\/)\/+$/, '')}${between}${glob}` };
}

/** Other tools count lines from 0, or write -1 for the last one. */
function fromFirstToLast(given: Fields): Fields {
  const { startLine, endLine, ...rest } = renamed(given, { startLine: true, endLine: true });
  const start = startLine === 0 || startLine === '0' ? 1 : startLine;
  const isAll = endLine === undefined || endLine === -1 || endLine === '-1';
  return { ...rest, ...(start === undefined ? {} : { startLine: start }), ...(isAll ? {} : { endLine }) };
}

function inLines({ view_range: range, offset, limit, ...given }: Fields): Fields {
  const [first, last] = Array.isArray(range) ? (range as unknown[]) : [];
  const { startLine, endLine } = given;
  if (isWhole(first) && isWhole(last) && startLine === undefined && endLine === undefined)
    return { ...between(first, last), ...given };
  const rest = { ...given, ...(range === undefined ? {} : { view_range: range }) };
  const asGiven = { ...(offset === undefined ? {} : { offset }), ...(limit === undefined ? {} : { limit }) };
  const start = Math.max(1, numberIn(offset ?? startLine ?? 1));
  const count = limit === undefined ? 0 : numberIn(limit);
  const isTwice =
    (offset !== undefined && startLine !== undefined) || (limit !== undefined && endLine !== undefined);
  if (isTwice || !isWhole(start) || !isWhole(count) || (limit !== undefined && count < 1))
    return { ...rest, ...asGiven };
  return offset === undefined && limit === undefined
    ? rest
    : { ...between(start, start + count - 1), ...rest };
}

/** A number, also as text. Anything else, of which some has no text at all, is none. */
function numberIn(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
}

function between(first: number, last: number): Fields {
  return { startLine: Math.max(1, first), ...(last >= first ? { endLine: last } : {}) };
}

function isWhole(value: unknown): value is number {
  return Number.isInteger(value);
}

/** A pattern of other tools is a regular expression, and they may ignore case. */
function asQuery(all: Fields): Fields {
  const { caseSensitive, case_sensitive, '-i': i, ignoreCase = i, ...rest } = all;
  const { regex, ...others } = rest;
  const agreeing: readonly unknown[] = [undefined, null, regex, String(regex)];
  const given =
    typeof regex === 'boolean' && agreeing.includes(others['isRegex']) ? { ...others, isRegex: regex } : rest;
  const isPattern = ['pattern', 'regex'].some(name => Object.hasOwn(given, name));
  const asPattern = isPattern && given['isRegex'] === undefined ? { ...given, isRegex: true } : given;
  const asked = caseSensitive ?? case_sensitive;
  if (typeof asked === 'boolean' && asked === ignoreCase) return { ...asPattern, caseSensitive: asked };
  const exact = asked ?? (typeof ignoreCase === 'boolean' ? !ignoreCase : ignoreCase);
  if (exact === undefined || exact === null || exact === true) return asPattern;
  const name = ['query', 'pattern', 'regex'].find(each => typeof given[each] === 'string');
  if (exact !== false || name === undefined) return { ...asPattern, caseSensitive: exact };
  const query = String(given[name]);
  const pattern = asPattern['isRegex'] === true ? query : query.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return { ...asPattern, [name]: `(?i:${pattern})`, isRegex: true };
}

/** Joins the words of a command for the shell; on Windows, whose shells quote differently, only if none needs quotes. */
function asCommand(given: Fields): Fields {
  const { command, ...rest } = renamed(given, { command: true });
  const words: readonly unknown[] = Array.isArray(command) ? command : [];
  if (words.length === 0 || !words.every(word => typeof word === 'string')) return given;
  if (words.length === 1) return { ...rest, command: words[0] };
  const isPlain = (word: string): boolean => /^[\w@%+=:,./-]+$/.test(word);
  if (process.platform === 'win32' && !words.every(isPlain)) return given;
  const quoted = words.map(word => (isPlain(word) ? word : `'${word.replaceAll("'", "'\\''")}'`));
  return { ...rest, command: quoted.join(' ') };
}

/** Puts the fields of a single item, given without its list, into the list; the first two are required. */
function asList(list: string, names: readonly string[], given: Fields): Fields {
  if (Object.hasOwn(given, list)) return given;
  const fields = renamed(given, Object.fromEntries(names.map(name => [name, true])));
  if (names.slice(0, 2).some(name => fields[name] === undefined)) return given;
  const { item = [], rest = [] } = Object.groupBy(Object.entries(fields), ([name]) =>
    names.includes(name) ? 'item' : 'rest',
  );
  return { ...Object.fromEntries(rest), [list]: [Object.fromEntries(item)] };
}

/** Whether the value means nothing in a field that may be left out. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === '') return true;
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
}

/** One spelling for file_path, filePath and FilePath. */
function folded(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}
