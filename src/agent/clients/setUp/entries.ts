import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../base/json.ts';
import { SetUpRefusal } from './refusal.ts';

/** What a configuration file holds, parsed. */
export type ConfigValue = unknown;

/** A value that Redline writes into a configuration file. */
export type WrittenValue = string | boolean | readonly string[] | { readonly [key: string]: WrittenValue };

/** A value at a path of keys. */
export interface ValueEntry {
  readonly kind: 'value';
  readonly path: readonly string[];
  readonly value: WrittenValue;
  /** It is one of the rules of an object. The last rule that matches counts, and one string instead of the object holds for everything. */
  readonly isRule?: true;
  /** It starts Redline's program: keys that the user added to it stay, unless they are among these. */
  readonly contradictedBy?: readonly string[];
}

/** A string that a list must hold, or must not hold. */
export interface MemberEntry {
  readonly kind: 'member' | 'notMember';
  readonly path: readonly string[];
  readonly member: string;
}

/** One thing that the configuration of an agent must hold for it to work through Redline. */
export type ConfigEntry = ValueEntry | MemberEntry;

/** The file name by which an entry that starts Redline's program is recognised, whatever folder it names. */
export const BRIDGE_NAME = 'redline-mcp.cjs';

export function valueAt(root: ConfigValue, path: readonly string[]): ConfigValue {
  let value = root;
  for (const key of path) value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

/** Whether the configuration already is as the entry wants it. */
export function holds(root: ConfigValue, entry: ConfigEntry): boolean {
  const found = valueAt(root, entry.path);
  if (entry.kind !== 'value') {
    const isMember = Array.isArray(found) && found.includes(entry.member);
    return isMember === (entry.kind === 'member');
  }
  const { value, contradictedBy, isRule, path } = entry;
  if (contradictedBy && isRecord(value))
    return (
      isRecord(found) &&
      Object.entries(value).every(([key, wanted]) => isDeepStrictEqual(found[key], wanted)) &&
      !contradictedBy.some(key => found[key] !== undefined)
    );
  return isDeepStrictEqual(found, value) && !(isRule && isOverruled(root, path));
}

/** Whether the entry is there and can only come from Redline, or says what Redline's would say. */
export function isPresent(root: ConfigValue, entry: ConfigEntry): boolean {
  return entry.kind === 'value' && entry.contradictedBy
    ? startsBridge(valueAt(root, entry.path))
    : holds(root, entry);
}

export function startsBridge(entry: ConfigValue): boolean {
  if (!isRecord(entry)) return false;
  const words = [entry['command'], entry['args']].flat();
  return words.some(word => typeof word === 'string' && nameOf(word) === BRIDGE_NAME);
}

function nameOf(file: string): string {
  return file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1);
}

/** Whether a pattern stands below the rule, so that it counts instead. */
export function isOverruled(root: ConfigValue, path: readonly string[]): boolean {
  const rules = valueAt(root, path.slice(0, -1));
  const keys = isRecord(rules) ? Object.keys(rules) : [];
  return keys.slice(keys.indexOf(path.at(-1) ?? '') + 1).some(key => key.includes('*'));
}

/**
 * Checks that the places which an entry needs are objects and lists, or not there yet.
 * @throws SetUpRefusal that names the first one that is something else.
 */
export function assertRoomFor(file: string, root: ConfigValue, entry: ConfigEntry): void {
  if (!isRecord(root)) throw new SetUpRefusal(file, { kind: 'shape', keys: [], wants: 'object' });
  const { path } = entry;
  for (let length = 1; length < path.length; length++) {
    const keys = path.slice(0, length);
    const found = valueAt(root, keys);
    const isFolded = entry.kind === 'value' && entry.isRule && typeof found === 'string';
    if (found !== undefined && !isRecord(found) && !isFolded)
      throw new SetUpRefusal(file, { kind: 'shape', keys, wants: 'object' });
  }
  const found = valueAt(root, path);
  if (entry.kind !== 'value' && found !== undefined && !Array.isArray(found))
    throw new SetUpRefusal(file, { kind: 'shape', keys: path, wants: 'list' });
}

/** The configuration with the entry in it, as a new value: what an edit of the text must come to. */
export function withEntry(root: ConfigValue, entry: ConfigEntry): ConfigValue {
  const found = valueAt(root, entry.path);
  if (entry.kind === 'value') return withValue(root, entry.path, entry.value);
  const list: readonly unknown[] = Array.isArray(found) ? found : [];
  return withValue(
    root,
    entry.path,
    entry.kind === 'member' ? [...list, entry.member] : list.filter(each => each !== entry.member),
  );
}

/** The configuration with another value at a path; `undefined` removes it. */
export function withValue(root: ConfigValue, path: readonly string[], value: unknown): ConfigValue {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const object = isRecord(root) ? root : typeof root === 'string' ? { '*': root } : {};
  const { [key]: old, ...others } = object;
  const inner = withValue(old, rest, value);
  return inner === undefined ? others : { ...others, [key]: inner };
}
