import { isRecord, parsedJson } from '../../base/json.ts';

/** Names that models use for fields of ours, because other tools have them. */
const SYNONYMS: Readonly<Record<string, string>> = {
  old_string: 'old',
  oldString: 'old',
  old_str: 'old',
  new_string: 'new',
  newString: 'new',
  new_str: 'new',
  file_path: 'path',
  filePath: 'path',
  path: 'paths',
  id: 'ids',
};

/** How often JSON may be wrapped in a string. */
const MAX_ENCODINGS = 3;

/**
 * Arguments that a schema has refused, with what models commonly get wrong put right: JSON in a string, one object or text for
 * an array of them, numbers and booleans as text, `null` for a field that may be left out, names of other tools' fields.
 * Where the schema wants a string, the value stays as it is.
 * @param schema the JSON Schema of the arguments
 */
export function repairArguments(value: unknown, schema: unknown): unknown {
  if (!isRecord(schema)) return value;
  switch (schema['type']) {
    case 'object': {
      const given = decoded(value, isRecord);
      return isRecord(given) ? repairFields(given, schema) : value;
    }
    case 'array': {
      const { items } = schema;
      const given = decoded(value, json => Array.isArray(json) || isRecord(json));
      if (Array.isArray(given)) return given.map(item => repairArguments(item, items));
      const kind = isRecord(items) ? items['type'] : undefined;
      const isItem = kind === 'string' ? typeof given === 'string' : kind === 'object' && isRecord(given);
      return isItem ? [repairArguments(given, items)] : value;
    }
    case 'number':
    case 'integer':
      return decoded(value, json => typeof json === 'number');
    case 'boolean':
      return decoded(value, json => typeof json === 'boolean');
    default:
      return value;
  }
}

/** What the text is as JSON, if that is wanted; else the value itself. */
export function decoded(value: unknown, isWanted: (json: unknown) => boolean): unknown {
  let json = value;
  for (let i = 0; i < MAX_ENCODINGS && typeof json === 'string'; i++) {
    json = parsedJson(json);
    if (isWanted(json)) return json;
  }
  return value;
}

function repairFields(given: Record<string, unknown>, schema: Record<string, unknown>): unknown {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const fields = Object.entries(renamed(given, properties)).flatMap(([name, value]) => {
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const isAbsent = value === null && isRecord(field) && 'type' in field && !required.includes(name);
    return isAbsent ? [] : [[name, repairArguments(value, field)] as const];
  });
  return Object.fromEntries(fields);
}

/** The fields with the names of the schema, where they have a known synonym and the field itself is missing. */
function renamed(
  given: Record<string, unknown>,
  properties: Record<string, unknown>,
): Record<string, unknown> {
  const nameOf = (name: string): string => {
    const ours = Object.hasOwn(SYNONYMS, name) ? SYNONYMS[name] : undefined;
    const isOurs = ours === undefined || Object.hasOwn(properties, name) || Object.hasOwn(given, ours);
    return isOurs || !Object.hasOwn(properties, ours) ? name : ours;
  };
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [nameOf(name), value]));
}
