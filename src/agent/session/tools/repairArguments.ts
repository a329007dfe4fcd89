import { isRecord, parsedJson } from '../../base/json.ts';
import { quoted, safeName } from '../../base/safeName.ts';
import { changesNothing, isEmpty, onlyLimits, renamed, reshaped, valueOf } from './otherNames.ts';
import { idOf } from '../forcing/previewIds.ts';

/** The fields that hold ids of previews. */
const ID_FIELDS = ['id', 'ids', 'amend'];

/** The fields in which an empty text counts as a value: a file may be empty. */
const TEXT_FIELDS = ['content'];

/** The most characters of an unknown argument's value that its refusal repeats. */
const MAX_VALUE_CHARS = 60;

/** How often JSON may be wrapped in a string. */
const MAX_ENCODINGS = 3;

/**
 * Arguments with common mistakes of models repaired: JSON in a string, one object or text for an array of them, numbers and
 * booleans as text, `null` for a field that may be left out, names of other tools' fields. Where the schema wants a string, the
 * value stays as it is.
 * @param schema the JSON Schema of the arguments
 * @param isOurs whether it is the schema of a tool of ours. Then other tools' forms are translated into ours, and empty values that
 *   may be left out are removed.
 */
export function repairArguments(value: unknown, schema: unknown, isOurs = false): unknown {
  if (!isRecord(schema)) return value;
  switch (schema['type']) {
    case 'object': {
      const given = decoded(value, isRecord);
      return isRecord(given) ? repairFields(given, schema, isOurs) : value;
    }
    case 'array': {
      const { items } = schema;
      const given = decoded(value, json => Array.isArray(json) || isRecord(json));
      if (Array.isArray(given)) return given.map(item => repairArguments(item, items, isOurs));
      const kind = isRecord(items) ? items['type'] : undefined;
      const isItem = kind === 'string' ? typeof given === 'string' : kind === 'object' && isRecord(given);
      return isItem ? [repairArguments(given, items, isOurs)] : value;
    }
    case 'number':
    case 'integer':
      return decoded(value, json => typeof json === 'number');
    case 'boolean':
      return decoded(value, json => typeof json === 'boolean');
    default:
      return typeof value === 'string' && Array.isArray(schema['enum'])
        ? valueOf(value, schema['enum'])
        : value;
  }
}

/** The text parsed as JSON, if that is wanted; else the value itself. */
export function decoded(value: unknown, isWanted: (json: unknown) => boolean): unknown {
  let json = value;
  for (let i = 0; i < MAX_ENCODINGS && typeof json === 'string'; i++) {
    json = parsedJson(json);
    if (isWanted(json)) return json;
  }
  return value;
}

function repairFields(
  given: Record<string, unknown>,
  schema: Record<string, unknown>,
  isOurs: boolean,
): unknown {
  const properties = fieldsOf(schema);
  const hasNames = Object.hasOwn(schema, 'properties');
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const named = renamed(isOurs ? reshaped(given, properties) : given, properties);
  const fields = Object.entries(named).flatMap(([name, value]) => {
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const mayBeAbsent = isRecord(field) && !required.includes(name);
    const isText = value === '' && TEXT_FIELDS.includes(name);
    const isAbsent = mayBeAbsent && !isText && (isOurs ? isEmpty(value) : value === null && 'type' in field);
    if (isAbsent) return [];
    if (isOurs && hasNames && field === undefined && changesNothing(name, value, properties)) return [];
    const repaired = repairArguments(value, field, isOurs);
    return [[name, isOurs && ID_FIELDS.includes(name) ? idOf(repaired) : repaired] as const];
  });
  return Object.fromEntries(fields);
}

function fieldsOf(schema: unknown): Record<string, unknown> {
  return isRecord(schema) && isRecord(schema['properties']) ? schema['properties'] : {};
}

/**
 * The refusal, for the model, of arguments that a tool of ours does not have; `undefined` if there are none.
 * @param at the place of the value in the arguments
 */
export function unknownArguments(value: unknown, schema: unknown, at = ''): string | undefined {
  if (!isRecord(schema)) return undefined;
  if (Array.isArray(value)) {
    const { items } = schema;
    return firstOf(value.entries(), ([i, item]) => unknownArguments(item, items, `${at}[${i}]`));
  }
  if (!isRecord(value) || !isRecord(schema['properties'])) return undefined;
  const properties = schema['properties'];
  const unknown = Object.entries(value).filter(([name]) => !Object.hasOwn(properties, name));
  if (unknown.length === 0)
    return firstOf(Object.entries(value), ([name, field]) =>
      unknownArguments(field, properties[name], at === '' ? name : `${at}.${name}`),
    );
  const given = unknown.map(([name, field]) => `${safeName(name)} (${shownValue(field)})`).join(', ');
  const names = Object.keys(properties).join(', ');
  return `${at === '' ? 'There is' : `${at} has`} no argument ${given}. ${names === '' ? 'It takes none' : `The arguments are ${names}`}.`;
}

/** The given arguments that were left out of the call of our tool, which makes its result longer. */
export function leftOutArguments(given: unknown, schema: unknown): readonly string[] {
  const properties = fieldsOf(schema);
  const names = isRecord(given) ? Object.keys(given) : [];
  return names.filter(name => !Object.hasOwn(properties, name) && onlyLimits(name, properties));
}

function firstOf<Item>(items: Iterable<Item>, find: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function shownValue(value: unknown): string {
  return typeof value === 'string'
    ? quoted(value, MAX_VALUE_CHARS)
    : safeName(JSON.stringify(value), MAX_VALUE_CHARS);
}
