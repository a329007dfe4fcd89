import * as z from 'zod/mini';
import type { Preview } from '../preview.ts';

const broken = z.object({ noLongerParse: z.array(z.string()) });

/** Whether a file of an `ast_edit` would no longer parse with the change applied, as far as known. */
export function noLongerParses({ sourceToolName, details }: Preview, path: string): boolean {
  const known = sourceToolName === 'ast_edit' ? broken.safeParse(details).data : undefined;
  return known?.noLongerParse.includes(path) ?? false;
}
