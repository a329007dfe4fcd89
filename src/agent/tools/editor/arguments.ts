import * as z from 'zod/mini';
import type { ToolSchema } from '../tool.ts';
import type { EditorTool } from './port.ts';

/** The JSON Schema of a tool as it is; for a tool without one, an object without properties. */
export function inputSchemaOf({ inputSchema }: EditorTool): Readonly<Record<string, unknown>> {
  return inputSchema ?? { type: 'object', properties: {} };
}

const anyObject = z.record(z.string(), z.unknown());

/**
 * Validates arguments by a foreign schema, as far as that is safe and possible. A schema with regular expressions is left to the
 * tool, since one that backtracks for hours would block everything; so is one that cannot be compiled.
 */
export async function parametersOf(inputSchema: Readonly<Record<string, unknown>>): Promise<ToolSchema> {
  if (hasPattern(inputSchema)) return anyObject;
  const { toolParameters } = await import('../custom/loading/parameters.ts');
  try {
    return toolParameters(inputSchema).parameters;
  } catch {
    return anyObject;
  }
}

function hasPattern(schema: unknown): boolean {
  return /"pattern(?:Properties)?":/.test(JSON.stringify(schema));
}
