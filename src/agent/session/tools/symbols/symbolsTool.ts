import * as z from 'zod/mini';
import { textResult } from '../../../hold/preview/pendingAction.ts';
import { defineTool, type Tool } from '../tool.ts';
import { MAX_NAME_CHARS, type LanguageServices } from './languageServices.ts';
import type { ReadableFiles } from '../../../hold/preview/workspace.ts';
import { titleSchema } from '../titles.ts';

/** The ports of the symbol tools. */
export interface SymbolPorts {
  /** Loads them. */
  readonly services: () => Promise<LanguageServices>;
  readonly files: ReadableFiles;
  /** Whether a folder is open whose files language services can see. */
  readonly isAvailable: () => boolean;
}

/** Arguments that name a symbol. */
export const symbolFields = {
  path: z.string().check(z.minLength(1)),
  line: z.optional(z.int().check(z.minimum(1), z.describe('Default: the first line with name.'))),
};

/** A name, on one line. */
export const nameSchema = z
  .string()
  .check(z.minLength(1), z.maxLength(MAX_NAME_CHARS), z.regex(/^[^\r\n]*$/));

/** `symbols`: outlines, definitions and references, by the language services of VS Code. */
export function symbolsTool({ services: load, files, isAvailable }: SymbolPorts): Tool {
  return defineTool({
    name: 'symbols',
    label: 'Symbols',
    description:
      "Ask VS Code's language services for the outline of a file, or about the symbol `name` in it.",
    parameters: z.object({
      action: z.enum(['outline', 'definition', 'references']),
      ...symbolFields,
      name: z.optional(nameSchema),
    }),
    readOnly: true,
    isEnabled: isAvailable,
    async execute(query, context) {
      const { lookUp } = await import('./lookUp.ts');
      return textResult(await lookUp(query, await load(), files, context));
    },
  });
}

/** `rename_symbol`: stages the changes by which a language service of VS Code renames a symbol. */
export function renameSymbolTool({ services: load, files, isAvailable }: SymbolPorts): Tool {
  return defineTool({
    name: 'rename_symbol',
    label: 'Rename Symbol',
    description: "Propose to rename the symbol `name` wherever VS Code's language services find it.",
    parameters: z.object({
      ...symbolFields,
      name: nameSchema,
      newName: nameSchema,
      title: titleSchema,
    }),
    isEnabled: isAvailable,
    async execute(query, context) {
      const { stageRename } = await import('./stageRename.ts');
      return textResult(await stageRename(query, await load(), files, context));
    },
  });
}
