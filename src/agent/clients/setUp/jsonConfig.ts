import { isDeepStrictEqual } from 'node:util';
import type * as JsoncParser from 'jsonc-parser';
import { isRecord } from '../../base/json.ts';
import { lineEndingOf } from '../../text/lines.ts';
import type { AddedEntry } from './added.ts';
import {
  assertRoomFor,
  holds,
  isOverruled,
  isPresent,
  valueAt,
  withEntry,
  type ConfigEntry,
  type ConfigValue,
} from './entries.ts';
import { assertNotTooLarge, placeOf, SetUpRefusal } from './refusal.ts';

type Library = Pick<typeof JsoncParser, 'applyEdits' | 'modify' | 'parse'>;

/** A configuration file in JSON, with or without comments, that is changed entry by entry; all else stays as it is. */
class JsonText {
  readonly #file: string;
  readonly #library: Library;
  readonly #format: JsoncParser.FormattingOptions;
  text: string;

  constructor(file: string, text: string, library: Library) {
    this.#file = file;
    this.#library = library;
    this.#format = formatOf(text);
    this.text = text;
  }

  get root(): ConfigValue {
    return parsed(this.#file, this.text, this.#library);
  }

  set(path: JsoncParser.JSONPath, value: unknown): void {
    const edits = this.#library.modify(this.text, path, value, { formattingOptions: this.#format });
    this.text = this.#library.applyEdits(this.text, edits);
  }
}

/** @throws SetUpRefusal for a text that is not JSON; comments and commas before a closing bracket are fine. */
export async function parseJson(file: string, text: string): Promise<ConfigValue> {
  return parsed(file, text, await import('jsonc-parser'));
}

/**
 * The text with the entries in it. What is there already stays; what contradicts one is replaced.
 * @param file how a refusal names the file.
 * @throws SetUpRefusal if the text is not valid, or no edit changes just this.
 */
export async function jsonWith(file: string, text: string, entries: readonly ConfigEntry[]): Promise<string> {
  const json = new JsonText(file, text, await import('jsonc-parser'));
  for (const entry of entries) {
    const { root } = json;
    assertRoomFor(file, root, entry);
    if (holds(root, entry)) continue;
    add(json, root, entry);
    const after = json.root;
    if (!holds(after, entry) || !isDeepStrictEqual(after, withEntry(root, entry)))
      throw new SetUpRefusal(file, { kind: 'unusual' });
  }
  return json.text;
}

function add(json: JsonText, root: ConfigValue, entry: ConfigEntry): void {
  const path = [...entry.path];
  const found = valueAt(root, path);
  if (entry.kind === 'value') {
    const rules = valueAt(root, path.slice(0, -1));
    if (entry.isRule && typeof rules === 'string')
      return json.set(path.slice(0, -1), { '*': rules, [path.at(-1) ?? '']: entry.value });
    if (entry.isRule && found !== undefined && isOverruled(root, path)) json.set(path, undefined);
    return json.set(path, entry.value);
  }
  const list: readonly unknown[] = Array.isArray(found) ? found : [];
  if (entry.kind === 'notMember') return json.set([...path, list.indexOf(entry.member)], undefined);
  return found === undefined ? json.set(path, [entry.member]) : json.set([...path, -1], entry.member);
}

/**
 * The text without what Redline added, as far as it is still there; what it replaced comes back, and objects and lists that it
 * made go once they are empty.
 * @throws SetUpRefusal if the text is not valid.
 */
export async function jsonWithout(file: string, text: string, added: readonly AddedEntry[]): Promise<string> {
  const json = new JsonText(file, text, await import('jsonc-parser'));
  for (const { entry, was, existing } of added.toReversed()) {
    if (!isPresent(json.root, entry)) continue;
    const path = [...entry.path];
    const found = valueAt(json.root, path);
    const list: readonly unknown[] = Array.isArray(found) ? found : [];
    if (entry.kind === 'value') json.set(path, was);
    else if (entry.kind === 'member') json.set([...path, list.indexOf(entry.member)], undefined);
    else if (found !== undefined) json.set([...path, -1], entry.member);
    for (let length = path.length; length > existing; length--) {
      const keys = path.slice(0, length);
      if (isEmpty(valueAt(json.root, keys))) json.set(keys, undefined);
    }
  }
  return json.text;
}

export function isEmpty(value: ConfigValue): boolean {
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
}

function parsed(file: string, text: string, { parse }: Library): ConfigValue {
  assertNotTooLarge(file, text);
  if (text.trim() === '') return {};
  const errors: JsoncParser.ParseError[] = [];
  let root: unknown;
  try {
    root = parse(text, errors, { allowTrailingComma: true });
  } catch (error) {
    if (error instanceof RangeError) throw new SetUpRefusal(file, { kind: 'unusual' }); // nested too deeply
    throw error;
  }
  const [first] = errors;
  if (first) throw new SetUpRefusal(file, { kind: 'invalid', ...placeOf(text, first.offset) });
  return root;
}

/** How the file is written: its line ending, and the indentation of its first indented line. */
function formatOf(text: string): JsoncParser.FormattingOptions {
  const indent = /^[ \t]+(?=\S)/m.exec(text)?.[0] ?? '  ';
  const ending = lineEndingOf(text);
  return {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 4 : indent.length,
    eol: ending === '\r\n' || ending === '\r' ? ending : text.includes('\r\n') ? '\r\n' : '\n',
  };
}
