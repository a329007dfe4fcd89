import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import type { ToolSpec } from '../model/chatProvider.ts';
import type { Tool, ToolSchema } from './tool.ts';

const specs = new WeakMap<Tool, ToolSpec>();

/** The tool as the model is offered it. Made once per tool, so that requests stay byte-identical. */
export function specOf(tool: Tool): ToolSpec {
  let spec = specs.get(tool);
  if (!spec) {
    const parameters = tool.inputSchema ?? jsonSchemaOf(tool.parameters, OWN_LIMITS);
    spec = { name: tool.name, description: tool.description, parameters };
    specs.set(tool, spec);
  }
  return spec;
}

/**
 * Limits in the schemas of Redline's own tools that models keep by themselves. Calls are still checked against them, and errors
 * name the fault.
 */
const OWN_LIMITS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minimum', 'pattern'] as const;

/**
 * The JSON Schema for the input of a zod schema.
 * @param without keywords to leave out: a schema is sent with each request.
 */
export function jsonSchemaOf(
  schema: ToolSchema,
  without: readonly (typeof OWN_LIMITS)[number][] = [],
): Record<string, unknown> {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema }) => {
      for (const keyword of without) delete jsonSchema[keyword];
      // The limits that zod adds by itself carry no information.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      const { propertyNames: names } = jsonSchema;
      if (typeof names === 'object' && isDeepStrictEqual(names, { type: 'string' }))
        delete jsonSchema.propertyNames;
    },
  });
  return parameters;
}
