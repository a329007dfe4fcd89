import { isDeepStrictEqual } from 'node:util';
import type { FormattingOptions, JSONPath, ParseError } from 'jsonc-parser';
import { isRecord } from '../../base/json.ts';

/** One thing that the configuration of an agent must hold. */
export type ConfigEntry =
  /** An entry that the agent itself would add if it were missing. */
  | { readonly kind: 'default'; readonly path: readonly string[]; readonly value: unknown }
  | { readonly kind: 'value'; readonly path: readonly string[]; readonly value: unknown }
  /** In an object, the last rule that matches counts, so no rule with a `*` may come after this one. */
  | { readonly kind: 'rule'; readonly path: readonly string[]; readonly value: string }
  /** An object that a list must hold, beside objects of others. An outdated one of ours is replaced. */
  | {
      readonly kind: 'item';
      readonly path: readonly string[];
      readonly value: object;
      readonly isOurs: (item: unknown) => boolean;
      /** Whether one of our objects does what `value` does; the user may have added to it. */
      readonly isHeld: (item: unknown) => boolean;
    }
  /** A string that a list must hold, or must not hold. */
  | { readonly kind: 'member' | 'notMember'; readonly path: readonly string[]; readonly member: string };

type Entry<Kind extends ConfigEntry['kind']> = Extract<ConfigEntry, { kind: Kind }>;

/** A configuration file of an agent cannot be changed safely. Nothing was staged. */
export class SetUpRefusal extends Error {
  override readonly name = 'SetUpRefusal';
  /** The file, as the caller named it. */
  readonly file: string;
  /** The place where it is not valid, if that is the reason. */
  readonly place: { readonly line: number; readonly column: number } | undefined;

  constructor(file: string, place?: SetUpRefusal['place']) {
    super(`${file} cannot be changed`);
    this.file = file;
    this.place = place;
  }
}

/**
 * A configuration file in JSON, with or without comments, with the entries in it. Contradicting entries are replaced; everything
 * else stays.
 * @param file how a refusal names it.
 * @throws SetUpRefusal if the text is not valid, or no edit brings the entries into it.
 */
export async function jsonWith(file: string, text: string, entries: readonly ConfigEntry[]): Promise<string> {
  const { applyEdits, modify, parse } = await import('jsonc-parser');
  let now = text.trim() === '' ? '{}\n' : text;
  const formattingOptions = formatOf(now);
  const root = (): unknown => {
    const errors: ParseError[] = [];
    const value: unknown = parse(now, errors, { allowTrailingComma: true });
    if (errors[0]) throw new SetUpRefusal(file, placeOf(now, errors[0].offset));
    return value;
  };
  const set = (path: JSONPath, value: unknown): void => {
    now = applyEdits(now, modify(now, path, value, { formattingOptions }));
  };
  const setItem = (path: JSONPath, found: unknown, { value, isOurs }: Entry<'item'>): void => {
    if (!Array.isArray(found)) set(path, [value]);
    else set([...path, found.findIndex(isOurs)], value); // -1 is the end
  };
  try {
    for (const entry of entries) {
      if (holds(root(), entry)) continue;
      const path = [...entry.path];
      const found = valueAt(root(), path);
      if (entry.kind === 'rule' && found !== undefined) set(path, undefined);
      if (entry.kind === 'value' || entry.kind === 'rule' || entry.kind === 'default') set(path, entry.value);
      else if (entry.kind === 'item') setItem(path, found, entry);
      else if (!Array.isArray(found)) set(path, [entry.member]);
      else if (entry.kind === 'member') set([...path, -1], entry.member);
      else set([...path, found.indexOf(entry.member)], undefined);
    }
    if (entries.every(entry => holds(root(), entry))) return now;
  } catch (error) {
    if (error instanceof SetUpRefusal) throw error;
    // The library throws if something on the way is not an object, or is nested too deeply.
  }
  throw new SetUpRefusal(file);
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  let value = root;
  for (const key of path) value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

function holds(root: unknown, entry: ConfigEntry): boolean {
  const found = valueAt(root, entry.path);
  switch (entry.kind) {
    case 'default':
      return found !== undefined;
    case 'value':
      return isDeepStrictEqual(found, entry.value);
    case 'rule': {
      const keys = Object.keys(valueAt(root, entry.path.slice(0, -1)) ?? {});
      const below = keys.slice(keys.indexOf(entry.path.at(-1) ?? '') + 1);
      return found === entry.value && !below.some(key => key.includes('*'));
    }
    case 'item':
      return Array.isArray(found) && found.some(item => entry.isOurs(item) && entry.isHeld(item));
    case 'member':
      return Array.isArray(found) && found.includes(entry.member);
    case 'notMember':
      return !Array.isArray(found) || !found.includes(entry.member);
  }
}

/** The place of an offset in a text; both count from 1. */
function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}

/** How the file is written: its line ending, and the indentation of its first indented line. */
function formatOf(text: string): FormattingOptions {
  const indent = /^[ \t]+(?=\S)/m.exec(text)?.[0] ?? '  ';
  return {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 4 : indent.length,
    eol: /\r\n|\r|\n/.exec(text)?.[0] ?? '\n',
  };
}
