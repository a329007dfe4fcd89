import { isDeepStrictEqual } from 'node:util';
import type * as SmolToml from 'smol-toml';
import { isRecord } from '../../base/json.ts';
import { splitLines } from '../../text/lines.ts';
import type { AddedEntry } from './added.ts';
import {
  assertRoomFor,
  holds,
  isPresent,
  valueAt,
  withValue,
  type ConfigEntry,
  type ConfigValue,
} from './entries.ts';
import { newlineOf } from './newline.ts';
import { assertNotTooLarge, SetUpRefusal } from './refusal.ts';

type Library = Pick<typeof SmolToml, 'parse' | 'stringify'>;

/** @throws SetUpRefusal for a text that is not TOML. */
export async function parseToml(file: string, text: string): Promise<ConfigValue> {
  return parsed(file, text, await import('smol-toml'));
}

/**
 * The text with the entries in it: a value at the top as a line of its own, an object in an object as a table at the end. What is
 * there already stays; what contradicts one is replaced. The result is parsed: nothing else may have changed.
 * @param file how a refusal names the file.
 * @throws SetUpRefusal if the text is not valid, or no edit changes just this.
 */
export async function tomlWith(file: string, text: string, entries: readonly ConfigEntry[]): Promise<string> {
  const library = await import('smol-toml');
  let now = text;
  for (const entry of entries) {
    const root = parsed(file, now, library);
    assertRoomFor(file, root, entry);
    if (holds(root, entry)) continue;
    if (entry.kind !== 'value') throw new SetUpRefusal(file, { kind: 'unusual' });
    const written = writtenAs(entry.path, entry.value, newlineOf(now), library);
    now = firstFitting(file, editsFor(now, root, entry.path, written), candidate => {
      const after = tried(file, candidate, library);
      return holds(after, entry) && differsOnlyAt(entry.path, root, after, entry.value);
    });
  }
  return now;
}

/**
 * The text without what Redline added, as far as it is still there; what it replaced comes back.
 * @throws SetUpRefusal if the text is not valid, or no edit removes just this.
 */
export async function tomlWithout(file: string, text: string, added: readonly AddedEntry[]): Promise<string> {
  const library = await import('smol-toml');
  let now = text;
  for (const { entry, was } of added.toReversed()) {
    const root = parsed(file, now, library);
    if (!isPresent(root, entry)) continue;
    const written = was === undefined ? '' : writtenAs(entry.path, was, newlineOf(now), library);
    now = firstFitting(file, editsFor(now, root, entry.path, written), candidate =>
      differsOnlyAt(entry.path, root, tried(file, candidate, library), was),
    );
  }
  return now;
}

function parsed(file: string, text: string, { parse }: Library): ConfigValue {
  assertNotTooLarge(file, text);
  try {
    return withPlainTables(parse(text, { integersAsBigInt: 'asNeeded' }));
  } catch (error) {
    const { line, column } = error as Partial<SmolToml.TomlError>;
    if (line !== undefined && column !== undefined)
      throw new SetUpRefusal(file, { kind: 'invalid', line, column });
    throw new SetUpRefusal(file, { kind: 'unusual' });
  }
}

/** The library's tables have no prototype, so that they would not equal those of JSON. */
function withPlainTables(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withPlainTables);
  if (!isRecord(value) || Object.getPrototypeOf(value) !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withPlainTables(inner)]));
}

/** What the text holds; `undefined` if it is not TOML. */
function tried(file: string, text: string, library: Library): ConfigValue {
  try {
    return parsed(file, text, library);
  } catch {
    return undefined;
  }
}

/** @throws SetUpRefusal if none fits. */
function firstFitting(
  file: string,
  candidates: Iterable<string>,
  fits: (candidate: string) => boolean,
): string {
  for (const candidate of candidates) if (fits(candidate)) return candidate;
  throw new SetUpRefusal(file, { kind: 'unusual' });
}

/** Whether nothing but the value at the path differs, and that is as wanted. Tables below it may stay. */
function differsOnlyAt(
  path: readonly string[],
  before: ConfigValue,
  after: ConfigValue,
  wanted: unknown,
): boolean {
  if (after === undefined) return false;
  const [old, now] = [valueAt(before, path), valueAt(after, path)];
  const rest = (root: ConfigValue): unknown =>
    withoutEmpty(withValue(root, path, undefined), path.slice(0, -1));
  if (!isDeepStrictEqual(rest(before), rest(after))) return false;
  if (!isRecord(wanted)) return isDeepStrictEqual(now, wanted);
  if (!isRecord(now)) return false;
  return Object.entries({ ...now, ...wanted }).every(([key]) =>
    isDeepStrictEqual(
      now[key],
      Object.hasOwn(wanted, key) ? wanted[key] : isRecord(old) ? old[key] : undefined,
    ),
  );
}

function withoutEmpty(root: ConfigValue, path: readonly string[]): ConfigValue {
  const found = valueAt(root, path);
  return path.length > 0 && isRecord(found) && Object.keys(found).length === 0
    ? withValue(root, path, undefined)
    : root;
}

/** The entry as text: one line, or a table. */
function writtenAs(path: readonly string[], value: unknown, newline: string, { stringify }: Library): string {
  const table: unknown = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
  return `${stringify(table).trimEnd().replaceAll('\n', newline)}${newline}`;
}

/** Texts to try, with an entry replaced by `written`, or with it added. An empty one removes the entry. */
function* editsFor(
  text: string,
  root: ConfigValue,
  path: readonly string[],
  written: string,
): Generator<string> {
  const lines = splitLines(text);
  const newline = newlineOf(text);
  const isThere = valueAt(root, path) !== undefined;
  const isTable = path.length > 1;
  const replaced = (from: number, to: number, by: string): string =>
    [...lines.slice(0, from), by, ...lines.slice(to)].join('');
  if (isThere) {
    const begins = beginningOf(path, isTable);
    for (const [at, line] of lines.entries()) {
      if (!begins.test(line)) continue;
      const end = isTable ? endOfTable(lines, at) : at + 1;
      const isGap = written === '' && isTable && at > 0 && isBlank(lines[at - 1]);
      const comment = isTable ? '' : (/(?<=["'])[ \t]*#.*$/.exec(line.trimEnd())?.[0] ?? '');
      yield replaced(
        isGap ? at - 1 : at,
        end,
        comment && written ? `${written.trimEnd()}${comment}${newline}` : written,
      );
    }
    return;
  }
  if (isTable) {
    const gap = text === '' ? '' : /[\r\n]$/.test(text) ? newline : newline + newline;
    yield text + gap + written;
    return;
  }
  const header = lines.findIndex(isHeader);
  const last = lines.slice(0, header < 0 ? lines.length : header).findLastIndex(isContent);
  const at = last + 1;
  const open = last >= 0 && !/[\r\n]$/.test(lines[last] ?? '') ? newline : '';
  if (last >= 0) yield replaced(at, at, open + written);
  const attached =
    header < 0 ? lines.length : lines.slice(0, header).findLastIndex(line => !isComment(line)) + 1;
  if (last < 0) yield replaced(attached, attached, header < 0 ? written : written + newline);
  yield written + newline + text;
}

/** A line that begins with this key, or the header of this table, with quotes or without. */
function beginningOf(path: readonly string[], isTable: boolean): RegExp {
  const keys = path.map(key => `(?:${key}|"${key}"|'${key}')`).join('[ \\t]*\\.[ \\t]*');
  return new RegExp(isTable ? `^[ \\t]*\\[[ \\t]*${keys}[ \\t]*\\]` : `^[ \\t]*${keys}[ \\t]*=`);
}

/** Where a table ends: before the next one, and the comments and empty lines above that. */
function endOfTable(lines: readonly string[], header: number): number {
  const next = lines.findIndex((line, at) => at > header && isHeader(line));
  const end = next < 0 ? lines.length : next;
  return lines.slice(0, end).findLastIndex((line, at) => at === header || isContent(line)) + 1;
}

function isHeader(line: string): boolean {
  return /^[ \t]*\[/.test(line);
}

function isBlank(line: string | undefined): boolean {
  return line?.trim() === '';
}

function isComment(line: string): boolean {
  return /^[ \t]*#/.test(line);
}

function isContent(line: string): boolean {
  return !isBlank(line) && !isComment(line);
}
