import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { ChatRequest } from '../../../../../src/agent/session/model/chatProvider.ts';
import { plainSchema } from '../../../../../src/agent/session/model/openai/plainSchema.ts';
import { toolParameters } from '../../../../../src/agent/session/tools/custom/loading/parameters.ts';
import {
  closeServerAfterEach,
  drain,
  hello,
  providerFor,
  serve,
} from '../../../../support/providerHarness.ts';
import { replyOf } from '../../../../support/serverFixtures.ts';

closeServerAfterEach();

type Schema = Readonly<Record<string, unknown>>;

/** The fields of https://ai.google.dev/api/caching#Schema. */
const FIELDS = new Set(
  'type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum'.split(
    ' ',
  ),
);
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object']);

/** What Gemini refuses of a schema, by its documentation and its refusals. */
function refusals(schema: Schema, at = 'parameters'): string[] {
  const found = Object.keys(schema).flatMap(name =>
    FIELDS.has(name) ? [] : [`Unknown name "${name}" at '${at}'`],
  );
  const { type, anyOf, items, properties, required, enum: values } = schema;
  if (anyOf !== undefined) {
    if (Object.keys(schema).length > 1) found.push(`${at}: when using any_of, it must be the only field set`);
    return [...found, ...(anyOf as Schema[]).flatMap((one, n) => refusals(one, `${at}.any_of[${n}]`))];
  }
  if (typeof type !== 'string') return [...found, `"type" at '${at}': cannot start list`];
  if (!TYPES.has(type)) found.push(`${at}: Invalid value ${type}`);
  if (type === 'array' && items === undefined) found.push(`${at}.items: missing field.`);
  if (
    values !== undefined &&
    (type !== 'string' || (values as unknown[]).some(value => typeof value !== 'string' || value === ''))
  )
    found.push(`${at}.enum: only allowed for STRING type`);
  const fields = Object.entries((properties ?? {}) as Record<string, Schema>);
  for (const name of (required ?? []) as string[])
    if (!fields.some(([field]) => field === name)) found.push(`${at}.required: property is not defined`);
  return [
    ...found,
    ...fields.flatMap(([name, field]) => refusals(field, `${at}.properties[${name}]`)),
    ...(items === undefined ? [] : refusals(items as Schema, `${at}.items`)),
  ];
}

/** The same in JSON Schema, so that a validator can be asked. */
function asJsonSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(asJsonSchema);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { nullable, ...rest } = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, asJsonSchema(value)]),
  );
  return nullable === true ? { anyOf: [rest, { type: 'null' }] } : rest;
}

const takes = (schema: unknown, args: unknown): boolean =>
  toolParameters(schema).parameters.safeParse(args).success;

/** Schemas as servers of the Model Context Protocol give them, with arguments that they take. */
const foreign: Readonly<Record<string, readonly [schema: Schema, ...args: object[]]>> = {
  'a list of types': [
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      additionalProperties: false,
      properties: { query: { type: ['string', 'null'] }, first: { type: ['integer', 'string'], minimum: 1 } },
      required: ['query'],
    },
    { query: null },
    { query: 'a', first: 2 },
    { query: 'a', first: 'b' },
  ],
  // https://github.com/google-gemini/gemini-cli/pull/9574, as Python's SDK writes it.
  'a reference with a default beside it': [
    {
      $defs: { Type: { enum: ['aws', 'k8s'], title: 'Type', type: 'string' } },
      properties: { kind: { $ref: '#/$defs/Type', default: 'aws', description: 'Which.' } },
      title: 'Arguments',
      type: 'object',
    },
    { kind: 'k8s' },
    {},
  ],
  // https://github.com/google-gemini/gemini-cli/issues/13326
  'alternatives by reference': [
    {
      type: 'object',
      $defs: {
        Table: { type: 'object', properties: { table: { type: 'string' } }, required: ['table'] },
        View: { type: 'object', properties: { view: { type: 'string' } }, required: ['view'] },
      },
      properties: {
        target: {
          anyOf: [{ $ref: '#/$defs/Table' }, { $ref: '#/$defs/View' }, { type: 'null' }],
          description: 'What.',
        },
        limit: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null, title: 'Limit' },
      },
      required: ['target'],
    },
    { target: { table: 'a' }, limit: 3 },
    { target: { view: 'a' } },
    { target: null, limit: null },
  ],
  // https://github.com/DEEIX-AI/DEEIX-Chat/issues/546
  'a reference to a sibling': [
    {
      type: 'object',
      properties: {
        headers: { type: 'object', additionalProperties: { type: 'string' } },
        actions: { type: 'array', items: { $ref: '#/properties/headers' } },
      },
    },
    { actions: [{ a: 'b' }] },
  ],
  'a tree': [
    {
      type: 'object',
      definitions: {
        'a/node': {
          type: 'object',
          properties: {
            name: { type: 'string' },
            children: { type: 'array', items: { $ref: '#/definitions/a~1node' } },
          },
        },
      },
      properties: { root: { $ref: '#/definitions/a~1node' } },
    },
    { root: { name: 'a', children: [{ name: 'b', children: [] }] } },
  ],
  'constants, numbers as values, tuples, formats and patterns': [
    {
      type: 'object',
      properties: {
        mode: { oneOf: [{ const: 'read' }, { const: 'write' }] },
        level: { enum: [1, 2, null] },
        sort: { enum: ['', 'name'] },
        span: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }] },
        list: { type: 'array' },
        when: { type: 'string', format: 'date', pattern: '^2' },
        size: { type: 'integer', exclusiveMinimum: 0 },
      },
    },
    { mode: 'write', level: 2, sort: '', span: [1, 'a'], list: ['a'], when: '2026-01-01', size: 1 },
    { level: null },
  ],
  'one of two arguments': [
    {
      type: 'object',
      properties: { id: { type: 'string' }, name: { type: 'string' } },
      anyOf: [{ required: ['id'] }, { required: ['name'] }],
    },
    { id: 'a' },
    { name: 'b' },
  ],
  'parts of a whole': [
    {
      type: 'object',
      allOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { properties: { b: { type: 'number' } }, required: ['gone'] },
      ],
    },
    { a: 'x', b: 1, gone: 1 },
  ],
  nothing: [{ type: 'object' }, {}],
};

for (const [name, [schema, ...accepted]] of Object.entries(foreign))
  test(`a schema that Gemini takes says the same: ${name}`, () => {
    const made = plainSchema(schema);
    assert.equal(made['type'], 'object');
    assert.deepEqual(refusals(made), []);
    for (const args of accepted) {
      assert.ok(takes(schema, args), 'the given schema takes them');
      assert.ok(takes(asJsonSchema(made), args), `${JSON.stringify(args)} by ${JSON.stringify(made)}`);
    }
    assert.ok(JSON.stringify(made).length < 20_000);
  });

test('what a schema says is kept: descriptions, values, what is required', () => {
  assert.deepEqual(plainSchema(foreign['alternatives by reference']?.[0] ?? {}), {
    type: 'object',
    properties: {
      target: {
        anyOf: [
          {
            description: 'What.',
            type: 'object',
            properties: { table: { type: 'string' } },
            required: ['table'],
            nullable: true,
          },
          {
            description: 'What.',
            type: 'object',
            properties: { view: { type: 'string' } },
            required: ['view'],
            nullable: true,
          },
        ],
      },
      limit: { type: 'integer', title: 'Limit', nullable: true },
    },
    required: ['target'],
  });
  const reference = plainSchema(foreign['a reference with a default beside it']?.[0] ?? {});
  assert.deepEqual(reference['properties'], {
    kind: { description: 'Which.', type: 'string', title: 'Type', default: 'aws', enum: ['aws', 'k8s'] },
  });
});

for (const refusal of ['a list of types', 'a reference', 'an invalid argument, in a list'])
  test(`Gemini: the schemas of tools are sent as it takes them once it has refused one (${refusal})`, async () => {
    const schemas = Object.values(foreign).map(([schema]) => schema);
    const tools = schemas.map((parameters, n) => ({ name: `t${n}`, description: 'A tool.', parameters }));
    const server = await serve(({ body }) =>
      (body.tools ?? []).some(tool => refusals(tool.function.parameters ?? {}).length > 0)
        ? replyOf('gemini', refusal)
        : { text: 'ok' },
    );
    const provider = providerFor(server);
    const request: ChatRequest = { ...hello, tools };
    for (let turn = 0; turn < 2; turn++) {
      const { last } = await drain(provider.stream(request, new AbortController().signal));
      assert.equal(last.type, 'done', JSON.stringify(last));
    }
    assert.equal(server.requests.length, 3, 'one was refused');
    const sent = server.requests[0]?.body.tools?.map(tool => tool.function.parameters);
    assert.deepEqual(sent, schemas, 'schemas are sent as they are until then');
  });
