import * as typebox from 'typebox';
import Schema from 'typebox/schema';
import * as z from 'zod';
import { messageOf } from '../../../../base/errors.ts';
import { jsonSchemaOf } from '../../toolSpec.ts';

export { typebox, z as zod };

/** The parameters of a tool, for the runtime. */
export interface ToolParameters {
  readonly parameters: z.ZodType;
  /** The JSON Schema that the model gets. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/**
 * Converts the `parameters` of a custom tool, which may be Zod 4, TypeBox or JSON Schema.
 * @throws Error with a sentence for the author.
 */
export function toolParameters(given: unknown): ToolParameters {
  if (typeof given !== 'object' || given === null)
    throw new Error('`parameters` must be a schema of pi.zod or pi.typebox, or JSON Schema');
  if ('_zod' in given) return ofObject(jsonSchemaOf(given as z.ZodType), given as z.ZodType);
  if ('_def' in given && 'safeParse' in given)
    throw new Error('`parameters` is a schema of Zod 3; use pi.zod, which is Zod 4');
  const inputSchema = JSON.parse(JSON.stringify(given)) as Record<string, unknown>;
  return ofObject(inputSchema, validating(inputSchema));
}

function ofObject(inputSchema: Record<string, unknown>, parameters: z.ZodType): ToolParameters {
  if (inputSchema['type'] !== 'object') throw new Error('`parameters` must be the schema of an object');
  return { parameters, inputSchema };
}

/** A zod schema that validates with a JSON Schema and leaves values as they are. */
function validating(inputSchema: Record<string, unknown>): z.ZodType {
  const validator = compiled(inputSchema);
  return z.unknown().superRefine((value, context) => {
    const [, errors] = validator.Errors(value);
    for (const { instancePath, message } of errors) {
      context.addIssue({ code: 'custom', message, path: pathOf(instancePath) });
    }
  });
}

function compiled(inputSchema: Record<string, unknown>): ReturnType<typeof Schema.Compile> {
  try {
    return Schema.Compile(inputSchema);
  } catch (error) {
    throw new Error(`\`parameters\` is not a valid JSON Schema: ${messageOf(error)}`, { cause: error });
  }
}

/** The parts of a JSON pointer. */
function pathOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}
