import type * as z from 'zod/mini';
import { ToolError } from '../../base/errors.ts';

/** The arguments of a call, checked. @throws ToolError that names those that do not fit. */
export function argumentsOf<T extends z.ZodMiniType>(schema: T, given: unknown): z.infer<T> {
  const result = schema.safeParse(given ?? {});
  if (result.success) return result.data;
  const names = result.error.issues.map(({ path }) => path.join('.')).join(', ');
  throw new ToolError(`These arguments are missing or do not fit: ${names}.`);
}
