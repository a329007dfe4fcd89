import { isRecord, stringsIn } from '../../../base/json.ts';

type Schema = Readonly<Record<string, unknown>>;

/**
 * The fields of a schema that Gemini knows (https://ai.google.dev/api/caching#Schema) and that stay as they are; the others are
 * handled one by one. Unlisted fields are left out: a tool checks its arguments by its own schema in any case.
 */
const KEPT = [
  'title',
  'description',
  'default',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
] as const;
const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object'];
const FORMATS = ['date-time', 'enum', 'float', 'double', 'int32', 'int64'];
/** The depth to which references are followed; a reference to itself would never end. */
const MAX_DEPTH = 12;

/**
 * The JSON Schema of a tool in the subset of OpenAPI's schemas that Gemini takes: references are inlined, a list of types and
 * `null` become `anyOf` and `nullable`, `const` becomes `enum`, and anything without a counterpart is left out. It takes the
 * arguments that the given schema takes, and may take more; only a value that the schema says nothing about becomes a string.
 */
export function plainSchema(schema: Schema): Schema {
  const place = { root: schema, depth: 0 };
  const { anyOf, oneOf, ...own } = whole(schema, place);
  const options = [anyOf, oneOf].flatMap(some => (Array.isArray(some) ? some.filter(isRecord) : []));
  // The arguments stay one object, with the properties of all alternatives.
  const wholes = options.map(option => whole(option, place));
  const properties = Object.assign({}, ...wholes.map(fieldsOf), fieldsOf(own)) as Schema;
  const wanted = wholes.map(option => stringsIn(option['required']));
  const required = (wanted[0] ?? []).filter(name => wanted.every(names => names.includes(name)));
  return ofType(
    'object',
    { ...own, properties, required: [...stringsIn(own['required']), ...required] },
    place,
  );
}

interface Place {
  readonly root: Schema;
  readonly depth: number;
}

function plain(given: unknown, place: Place): Schema {
  if (!isRecord(given)) return {};
  if (place.depth > MAX_DEPTH) return { type: 'object' };
  const at = { ...place, depth: place.depth + 1 };
  const schema = whole(given, at);
  const all = alternatives(schema, at);
  const about = typeof schema['description'] === 'string' ? { description: schema['description'] } : {};
  const some = all.filter(one => one['type'] !== 'null');
  const nullable = some.length < all.length || schema['nullable'] === true ? { nullable: true } : {};
  const [first = { type: 'string' }, ...others] = some;
  // Gemini allows nothing else beside `anyOf`.
  if (others.length > 0) return { anyOf: some.map(one => ({ ...about, ...one, ...nullable })) };
  return { ...about, ...first, ...nullable };
}

/** A schema with its references, and all of `allOf`, inlined. */
function whole(schema: Schema, place: Place): Schema {
  const { $ref, allOf, ...own } = schema;
  const parts = [
    ...(typeof $ref === 'string' ? [target($ref, place.root)] : []),
    ...(Array.isArray(allOf) ? (allOf as readonly unknown[]) : []),
  ];
  if (parts.length === 0) return schema;
  if (place.depth > MAX_DEPTH) return own;
  const deeper = { ...place, depth: place.depth + 1 };
  return parts
    .filter(isRecord)
    .map(part => whole(part, deeper))
    .reduceRight<Schema>(joined, own);
}

function joined(schema: Schema, part: Schema): Schema {
  const both = { ...part, ...schema };
  const properties = { ...fieldsOf(part), ...fieldsOf(schema) };
  const required = [...stringsIn(part['required']), ...stringsIn(schema['required'])];
  return {
    ...both,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}

/** The target of a reference within the schema, by its JSON pointer. */
function target(ref: string, root: Schema): unknown {
  if (!ref.startsWith('#')) return undefined;
  const names = ref.slice(1).split('/').slice(1);
  return names.reduce<unknown>((value, name) => {
    const key = decoded(name).replaceAll('~1', '/').replaceAll('~0', '~');
    return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
      ? (value as Schema)[key]
      : undefined;
  }, root);
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** The alternatives for a value, each of one type. */
function alternatives(schema: Schema, place: Place): readonly Schema[] {
  const options = [schema['anyOf'], schema['oneOf']].find(Array.isArray) as readonly unknown[] | undefined;
  if (options && options.length > 0) {
    const { anyOf: _, oneOf: __, ...common } = schema;
    return options.flatMap(option =>
      isRecord(option) ? flattened(plainOption(joined(option, common), place)) : [],
    );
  }
  const types = typesOf(schema);
  return types.map(type => (type === 'null' ? { type } : ofType(type, schema, place)));
}

function plainOption(option: Schema, place: Place): Schema {
  return option['type'] === 'null' ? { type: 'null' } : plain(option, place);
}

/** The alternatives within an alternative that {@link plain} has made. */
function flattened(option: Schema): readonly Schema[] {
  if (option['nullable'] === true) {
    const { nullable: _, ...rest } = option;
    return [...flattened(rest), { type: 'null' }];
  }
  const inner = option['anyOf'];
  return Array.isArray(inner) ? (inner as readonly Schema[]).flatMap(flattened) : [option];
}

function typesOf(schema: Schema): readonly string[] {
  const { type } = schema;
  const named = (Array.isArray(type) ? type : [type]).filter(
    (one): one is string => typeof one === 'string' && (TYPES.includes(one) || one === 'null'),
  );
  if (named.length > 0) return [...new Set(named)];
  if ('properties' in schema || 'additionalProperties' in schema) return ['object'];
  if ('items' in schema || 'prefixItems' in schema) return ['array'];
  const values = valuesOf(schema).map(value => (value === null ? 'null' : typeof value));
  const known = [...new Set(values)].filter(one => TYPES.includes(one) || one === 'null');
  return known.length > 0 ? known : ['string'];
}

function ofType(type: string, schema: Schema, place: Place): Schema {
  const kept = Object.fromEntries(
    KEPT.flatMap(name => (schema[name] === undefined || schema[name] === null ? [] : [[name, schema[name]]])),
  );
  const format = FORMATS.includes(String(schema['format'])) ? { format: schema['format'] } : {};
  const base = { type, ...kept, ...format, ...valuesNote(type, schema) };
  if (type === 'array') return { ...base, items: itemsOf(schema, place) };
  if (type !== 'object') return base;
  const properties = Object.fromEntries(
    Object.entries(fieldsOf(schema)).map(([name, field]) => [name, plain(field, place)]),
  );
  const required = [...new Set(stringsIn(schema['required']))].filter(name =>
    Object.hasOwn(properties, name),
  );
  return {
    ...base,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}

/** The allowed values. Gemini knows `enum` for strings only, so other values go into the description. */
function valuesNote(type: string, schema: Schema): Schema {
  const values = valuesOf(schema).filter(value => value !== null);
  if (values.length === 0) return {};
  // Gemini does not accept an empty string as a value.
  if (type === 'string' && values.every(value => typeof value === 'string' && value !== ''))
    return { enum: values };
  const about = typeof schema['description'] === 'string' ? `${schema['description']} ` : '';
  return { description: `${about}One of: ${values.map(value => JSON.stringify(value)).join(', ')}.` };
}

function valuesOf(schema: Schema): readonly unknown[] {
  if (Array.isArray(schema['enum'])) return schema['enum'] as readonly unknown[];
  return 'const' in schema ? [schema['const']] : [];
}

function itemsOf(schema: Schema, place: Place): Schema {
  const { items, prefixItems } = schema;
  const listed = [prefixItems, items].find(Array.isArray) as readonly unknown[] | undefined;
  if (listed) return plain({ anyOf: listed }, place);
  return isRecord(items) ? plain(items, place) : { type: 'string' };
}

function fieldsOf({ properties }: Schema): Schema {
  return isRecord(properties) ? properties : {};
}
