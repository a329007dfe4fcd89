import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import type { ToolSpec } from '../model/chatProvider.ts';
import type { Tool, ToolSchema } from './tool.ts';

const specs = new WeakMap<Tool, ToolSpec>();

/** The tool as the model is offered it. Made once per tool, so that requests stay byte-identical. */
export function specOf(tool: Tool): ToolSpec {
  let spec = specs.get(tool);
  if (!spec) {
    const parameters = tool.inputSchema ?? jsonSchemaOf(tool.parameters);
    spec = { name: tool.name, description: tool.description, parameters };
    specs.set(tool, spec);
  }
  return spec;
}

/** The JSON Schema of what a zod schema accepts. */
export function jsonSchemaOf(schema: ToolSchema): Record<string, unknown> {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, {
    io: 'input',
    // What zod adds by itself says nothing, and is sent with each request.
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      const { propertyNames: names } = jsonSchema;
      if (typeof names === 'object' && isDeepStrictEqual(names, { type: 'string' }))
        delete jsonSchema.propertyNames;
    },
  });
  return parameters;
}
